// A pushed declaration at its node: what is checked, what is asked for, what is told, and that any
// break on the way is only a delay.
#include <catch2/catch.hpp>
#include <random>

#include "datum/engine/declaration_taker.hpp"
#include "datum/engine/upkeep.hpp"
#include "mesh_scene.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

const test::Mesh& declaring_mesh() {
  static const test::Mesh mesh;
  return mesh;
}

std::shared_ptr<const NodeIdentity> identity_of_node() {
  static const auto key = crypto::PrivateKey::generate();
  static const auto grant = declaring_mesh().grant_for(key->public_key());
  return std::make_shared<const NodeIdentity>(*check_grant(grant, key->public_key()));
}

class NoContent final : public ContentSource {
  Result<std::unique_ptr<ByteSource>> open(const Digest&) const override {
    return fail(ErrorCode::not_found, "no content");
  }
};

// A declaration with its blobs, as a control plane has it.
struct Push {
  core::DeclarationBody body;
  std::map<Digest, Bytes> blobs;

  explicit Push(std::uint64_t number, const std::vector<std::string>& contents,
                const std::string& host = "web-1") {
    model::Manifest manifest;
    manifest.host = host;
    for (std::size_t at = 0; at < contents.size(); ++at) {
      auto resource = std::make_shared<model::Resource>();
      resource->reference = {model::ResourceType::file, "f" + std::to_string(at)};
      model::Content content;
      const auto bytes = to_bytes(contents[at]);
      content.digest = crypto::sha256(bytes);
      content.size = bytes.size();
      if (bytes.size() <= model::kInlineContent) {
        content.bytes = contents[at];
        content.has_bytes = true;
      } else {
        blobs[content.digest] = bytes;
      }
      resource->fields = {{model::Field::path, "/f" + std::to_string(at)},
                          {model::Field::content, content}};
      model::finish_resource(*resource);
      manifest.resources.push_back(std::move(resource));
    }
    REQUIRE(model::finish_manifest(manifest));
    const auto encoded = codec::encode_manifest(manifest, NoContent());
    REQUIRE(encoded);
    body.id.mesh = declaring_mesh().id;
    body.id.node = "web-1";
    body.id.epoch = 1;
    body.id.number = number;
    body.id.manifest = crypto::sha256(*encoded);
    body.manifest_bytes = encoded->size();
    body.provenance.pushed_by = "alice";
    blobs[body.id.manifest] = *encoded;
  }
  [[nodiscard]] core::PushedDeclaration pushed() const { return {declaring_mesh().sign(body)}; }
};

// The other end: answers requests from the blobs that it has.
struct Conversation {
  explicit Conversation(const std::string& folder, std::uint64_t seed = 1) : life(folder, seed) {
    begin();
  }
  void begin() {
    taker = std::make_unique<DeclarationTaker>(
        life.sim_loop, *life.files, life.store, identity_of_node(),
        DeclarationTalk{[this](const core::LinkMessage& message) { hear(message); }, [](bool) {},
                        [this] { ++told_stored; },
                        [this](const std::string& words) { troubles.push_back(words); }});
  }
  void hear(const core::LinkMessage& message) {
    if (const auto* answer = std::get_if<core::DeclarationAnswer>(&message)) {
      // Whoever calls `applied` answers for that by itself.
      if (answer->step != core::DeclarationStep::applied)
        CHECK(answer->at <= life.store.history->durable());
      answers.push_back(*answer);
    }
    if (const auto* request = std::get_if<core::BlobRequest>(&message)) {
      ++requests;
      for (const auto& digest : request->wanted) send_blob(digest);
    }
  }
  void send_blob(const Digest& digest) {
    const auto found = blobs.find(digest);
    if (found == blobs.end()) return send(core::BlobPart{digest, 0, 0, {}});
    const auto& bytes = found->second;
    for (std::size_t at = 0; at < bytes.size(); at += core::kMaxLinkPart) {
      const auto size = std::min(core::kMaxLinkPart, bytes.size() - at);
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      send(core::BlobPart{digest, at, bytes.size(),
                          Bytes(begin, begin + static_cast<std::ptrdiff_t>(size))});
    }
  }
  void send(core::BlobPart part) {
    life.sim_loop.post([this, part = std::move(part)]() mutable {
      if (parts_left == 0) return;
      --parts_left;
      if (change) change(part);
      ++parts;
      taker->take(part);
    });
  }
  void push(const Push& push) {
    for (const auto& [digest, bytes] : push.blobs) blobs[digest] = bytes;
    taker->take(push.pushed());
    life.settle();
  }
  Status accept() {
    auto task = taker->accept();
    life.sim_loop.post([&task] { task.start(); });
    life.settle();
    REQUIRE(task.done());
    return task.take();
  }
  [[nodiscard]] int count(core::DeclarationStep step) const {
    return static_cast<int>(std::count_if(answers.begin(), answers.end(),
                                          [step](const auto& each) { return each.step == step; }));
  }

  test::NodeLife life;
  std::map<Digest, Bytes> blobs;
  std::unique_ptr<DeclarationTaker> taker;
  std::vector<core::DeclarationAnswer> answers;
  std::vector<std::string> troubles;
  int requests = 0, told_stored = 0;
  std::size_t parts = 0;
  std::size_t parts_left = SIZE_MAX;  // then the way lets nothing through
  std::function<void(core::BlobPart&)> change;
};

std::string long_text(char letter, std::size_t size) {
  std::string text(size, letter);
  for (std::size_t at = 0; at < size; at += 97) text[at] = static_cast<char>('a' + at % 23);
  return text;
}

}  // namespace

TEST_CASE("declaration: it is told as stored only with all its content, and then accepted") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push push(1, {"short", long_text('x', 5000), long_text('y', 300'000)});
  talk.push(push);
  CHECK(talk.troubles.empty());
  CHECK(talk.told_stored == 1);
  REQUIRE(talk.answers.size() == 1);
  CHECK(talk.answers[0].step == core::DeclarationStep::stored);
  CHECK(talk.answers[0].at == talk.life.store.history->durable());
  CHECK(talk.life.state().stored == push.body.id);
  CHECK_FALSE(talk.life.state().accepted);
  for (const auto& [digest, bytes] : push.blobs) {
    const auto kept = talk.life.store.blobs->read(digest, 1 << 20);
    REQUIRE(kept);
    CHECK(*kept == bytes);
  }
  REQUIRE(talk.taker->has_stored());
  REQUIRE(talk.accept());
  CHECK(talk.life.state().accepted == push.body.id);
  CHECK(talk.count(core::DeclarationStep::accepted) == 1);
  CHECK(talk.life.events<core::DeclarationAccepted>().at(0).actor.name == "alice");
  talk.taker->applied(9);
  talk.taker->applied(12);
  CHECK(talk.count(core::DeclarationStep::applied) == 1);
  const auto read =
      read_accepted(*talk.life.files, talk.life.folder, *talk.life.store.blobs, push.body.id);
  REQUIRE(read);
  CHECK(read->manifest->resources.size() == 3);
  CHECK(read->body == push.body);
}

TEST_CASE("declaration: what the next one shares with the last is not asked for again") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  talk.push(Push(1, {long_text('x', 5000), long_text('y', 6000)}));
  REQUIRE(talk.accept());
  const auto before = talk.parts;
  const Push second(2, {long_text('x', 5000), long_text('y', 6000), long_text('z', 7000)});
  talk.push(second);
  CHECK(talk.parts - before == 2);  // the manifest, and the one that is new
  REQUIRE(talk.accept());
  CHECK(talk.life.events<core::DeclarationSuperseded>().size() == 1);
  CHECK_FALSE(read_declaration(*talk.life.files, talk.life.folder, Push(1, {"a"}).body.id));
  CHECK(read_declaration(*talk.life.files, talk.life.folder, second.body.id));
}

TEST_CASE("declaration: a blob beyond what is held in memory goes through a file, which is gone") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push push(1, {long_text('b', blobs::kPartSize + 12'345)});
  talk.push(push);
  CHECK(talk.troubles.empty());
  CHECK(talk.count(core::DeclarationStep::stored) == 1);
  CHECK_FALSE(std::filesystem::exists(talk.life.folder + "/incoming"));
}

TEST_CASE("declaration: whatever is not signed for this node is rejected, once, with the reason") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push good(5, {"a"});
  const auto rejected = [&](const core::PushedDeclaration& pushed, const std::string& why) {
    INFO(why);
    const auto before = talk.answers.size();
    talk.taker->take(pushed);
    talk.life.settle();
    REQUIRE(talk.answers.size() == before + 1);
    CHECK(talk.answers.back().step == core::DeclarationStep::rejected);
    CHECK(talk.answers.back().reason.find(why) != std::string::npos);
  };
  auto changed = good.pushed();
  changed.declaration.body[changed.declaration.body.size() / 2] ^= std::byte{1};
  rejected(changed, "signature");
  auto stranger = good.pushed();
  stranger.declaration.signer.bytes[0] ^= 1;
  rejected(stranger, "none of this mesh's");
  auto cut = good.pushed();
  cut.declaration.signature.pop_back();
  rejected(cut, "signature");
  auto other = good.body;
  other.id.node = "web-2";
  rejected({declaring_mesh().sign(other)}, "for web-2");
  other = good.body;
  other.id.mesh.bytes[0] ^= 1;
  rejected({declaring_mesh().sign(other)}, "another mesh");
  other = good.body;
  other.id.number = 0;
  rejected({declaring_mesh().sign(other)}, "no generation");
  const auto told = talk.life.events<core::DeclarationRejected>().size();
  CHECK(told == 6);
  for (int again = 0; again < 5; ++again) rejected({declaring_mesh().sign(other)}, "no generation");
  CHECK(talk.life.events<core::DeclarationRejected>().size() == told);
  CHECK(talk.requests == 0);
  CHECK_FALSE(talk.life.state().stored);
}

TEST_CASE("declaration: a manifest for another host, or an empty one, is rejected") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  talk.push(Push(1, {"a"}, "web-9"));
  CHECK(talk.count(core::DeclarationStep::rejected) == 1);
  talk.push(Push(2, {}));
  CHECK(talk.count(core::DeclarationStep::rejected) == 2);
  CHECK_FALSE(talk.life.state().stored);
  Push last(3, {});
  last.body.is_final = true;
  talk.push(last);
  CHECK(talk.count(core::DeclarationStep::stored) == 1);
}

TEST_CASE("declaration: a lower generation is rejected, the accepted one only told again") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push fifth(5, {"five"});
  talk.push(fifth);
  REQUIRE(talk.accept());
  talk.push(Push(4, {"four"}));
  CHECK(talk.count(core::DeclarationStep::rejected) == 1);
  const auto events = talk.life.store.history->durable();
  talk.push(fifth);
  CHECK(talk.count(core::DeclarationStep::accepted) == 2);
  CHECK(talk.life.store.history->durable() == events);
}

TEST_CASE("declaration: that it was applied is told again with each link that comes up") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const auto applied = [&talk] { return talk.count(core::DeclarationStep::applied); };
  talk.push(Push(5, {"five"}));
  REQUIRE(talk.accept());
  talk.taker->link_up();
  CHECK(applied() == 0);
  talk.taker->applied(9);
  talk.taker->link_down();
  talk.taker->link_up();
  REQUIRE(applied() == 2);
  CHECK(talk.answers.back() == talk.answers[talk.answers.size() - 2]);
  CHECK(talk.answers.back().at == 9);
  talk.push(Push(6, {"six"}));
  REQUIRE(talk.accept());
  talk.taker->link_up();
  CHECK(applied() == 2);
}

TEST_CASE("declaration: bytes that are not what was asked for are never stored") {
  for (int fault = 0; fault < 6; ++fault) {
    INFO("fault " << fault);
    support::ScratchFolder scratch("declaration");
    Conversation talk(scratch.path + "/store");
    const Push push(1, {long_text('x', 5000)});
    talk.change = [fault](core::BlobPart& part) {
      if (fault == 0) part.bytes[part.bytes.size() / 2] ^= std::byte{1};
      if (fault == 1) part.offset += 1;
      if (fault == 2) part.size += 1;
      if (fault == 3) part.blob.bytes[3] ^= 1;
      if (fault == 4) part.bytes.push_back(std::byte{0});
      // The manifest comes whole, and only its content does not.
      if (fault == 5 && part.size == 5000) part.bytes[0] ^= std::byte{1};
    };
    talk.push(push);
    CHECK_FALSE(talk.life.state().stored);
    CHECK(talk.troubles.size() == 1);
    CHECK(talk.answers.empty());
    talk.change = nullptr;
    talk.push(push);
    CHECK(talk.life.state().stored == push.body.id);
    CHECK(talk.life.events<core::DeclarationReceived>().size() == 1);
  }
}

TEST_CASE("declaration: one that the control plane has no blob of is trouble, not a rejection") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push push(1, {long_text('x', 5000)});
  talk.taker->take(push.pushed());
  talk.life.settle();
  REQUIRE(talk.troubles.size() == 1);
  CHECK(talk.troubles[0].find("has no blob") != std::string::npos);
  CHECK(talk.life.events<core::DeclarationRejected>().empty());
}

TEST_CASE("declaration: the way breaks after any part, and the next connection brings the rest") {
  const Push push(1, {long_text('x', 200'000), long_text('y', 400'000), "short"});
  std::size_t all = 0;
  for (std::size_t cut = 0; cut == 0 || cut < all; ++cut) {
    INFO("cut after " << cut);
    support::ScratchFolder scratch("declaration");
    Conversation talk(scratch.path + "/store");
    talk.parts_left = cut;
    talk.push(push);
    CHECK_FALSE(talk.life.state().stored);
    CHECK(talk.answers.empty());
    talk.taker->link_down();
    talk.parts_left = SIZE_MAX;
    talk.push(push);
    CHECK(talk.life.state().stored == push.body.id);
    CHECK(talk.count(core::DeclarationStep::stored) == 1);
    CHECK(talk.life.events<core::DeclarationReceived>().size() == 1);
    if (cut == 0) all = talk.parts;
    CHECK(talk.parts >= all);
  }
  CHECK(all > 5);
}

TEST_CASE("declaration: the process dies at any moment, and the next one comes to the same end") {
  const Push push(1, {long_text('x', 200'000), "short"});
  for (int steps = 1; steps < 160; steps += 3) {
    INFO("dies after " << steps);
    support::ScratchFolder scratch("declaration");
    const auto folder = scratch.path + "/store";
    {
      Conversation talk(folder);
      for (const auto& [digest, bytes] : push.blobs) talk.blobs[digest] = bytes;
      talk.taker->take(push.pushed());
      for (int step = 0; step < steps && talk.life.sim_loop.step();) ++step;
      talk.life.sim_loop.kill();
    }
    Conversation next(folder, 2);
    next.push(push);
    CHECK(next.life.state().stored == push.body.id);
    CHECK(next.count(core::DeclarationStep::stored) == 1);
    REQUIRE(next.accept());
    CHECK(next.life.events<core::DeclarationStored>().size() == 1);
    CHECK(next.life.events<core::DeclarationAccepted>().size() == 1);
  }
}

TEST_CASE("declaration: a sweep of blobs leaves what one that waits to be accepted needs") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push push(1, {long_text('x', 5000)});
  talk.push(push);
  auto& blobs = *talk.life.store.blobs;
  const auto unneeded = blobs.put(to_bytes("of nothing"));
  REQUIRE(unneeded);
  REQUIRE(blobs.sync());
  const auto reader = talk.life.store.history->log()->make_reader();
  REQUIRE(reader);
  const auto needed = find_needed_blobs(talk.life.state(), **reader, **reader, blobs);
  REQUIRE(needed);
  REQUIRE(blobs.sweep({needed->live, needed->kept, blobs::kMaxKeptTotal}, INT64_MAX));
  CHECK_FALSE(blobs.contains(unneeded->digest));
  for (const auto& [digest, bytes] : push.blobs) CHECK(blobs.contains(digest));
}

TEST_CASE("declaration: a newer one takes the place of one that is still coming") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  const Push first(1, {long_text('x', 500'000)});
  const Push second(2, {long_text('z', 5000)});
  talk.parts_left = 2;
  talk.push(first);
  talk.parts_left = SIZE_MAX;
  talk.push(second);
  CHECK(talk.life.state().stored == second.body.id);
  CHECK(talk.count(core::DeclarationStep::stored) == 1);
}

TEST_CASE("declaration: a damaged file of it is not believed, a missing one is done without") {
  support::ScratchFolder scratch("declaration");
  Conversation talk(scratch.path + "/store");
  Push push(3, {"a"});
  push.body.allowed_removals = 40;
  talk.push(push);
  REQUIRE(talk.accept());
  const auto path = talk.life.folder + "/declarations/1.3";
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  const auto read = [&] {
    return read_accepted(*talk.life.files, talk.life.folder, *talk.life.store.blobs, push.body.id);
  };
  REQUIRE_FALSE(read());
  CHECK(read().error().code() == ErrorCode::corrupt);
  std::filesystem::remove(path);
  REQUIRE(read());
  CHECK(read()->body.allowed_removals == 0);
  CHECK(read()->manifest->resources.size() == 1);
}
