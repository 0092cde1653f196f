// Key, grant and the steps of an enrolment: each durable before the next, and the same end from any
// break.
#include "datum/engine/enrolment.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "datum/link/connection.hpp"
#include "datum/link/enrolment_attempt.hpp"
#include "datum/link/token.hpp"
#include "mesh_scene.hpp"
#include "support/sim_network.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

const test::Mesh& granting_mesh() {
  static const test::Mesh mesh;
  return mesh;
}

const core::Actor kPerson{core::ActorKind::person, "root", 0, "datum enrol"};

// A control plane that grants to whoever shows the token and proves its key.
struct Granting {
  explicit Granting(test::NodeLife& life)
      : network(life.sim_loop, 5), server(network.machine("control")) {
    const auto control_key = crypto::PrivateKey::generate();
    const auto shown = crypto::issue(
        granting_mesh().key, granting_mesh().authority, {crypto::Role::control, "prod", "control"},
        control_key->public_key(), test::Mesh::kValid, crypto::random_id());
    auto made = wire::TlsContext::make(
        wire::TlsEnd::serves, {shown->der, control_key->to_der(), granting_mesh().authority.der},
        [](const std::vector<Bytes>&) { return Status(); });
    REQUIRE(made);
    context.emplace(std::move(*made));
    auto listening = server->listen({"control", 7600}, [this, &life](auto stream) {
      connection = std::make_unique<link::Connection>(life.sim_loop, std::move(stream), *context);
      connection->start({[] {},
                         [this](const core::LinkMessage& message) {
                           answer(std::get<core::EnrolmentRequest>(message));
                         },
                         [](const link::LinkEnd&) {}});
    });
    REQUIRE(listening);
    listener = std::move(*listening);
  }
  void answer(const core::EnrolmentRequest& request) {
    requests.push_back(request);
    const auto key = crypto::PublicKey::from_bytes(request.key);
    REQUIRE(key);
    crypto::Signature proof;
    REQUIRE(request.proof.size() == proof.bytes.size());
    std::copy(request.proof.begin(), request.proof.end(), proof.bytes.begin());
    CHECK(crypto::verify(*key, crypto::SignedAs::enrolment_proof,
                         connection->binding(link::kEnrolmentBinding), proof));
    auto grant = granting_mesh().grant_for(*key, "web-1", valid);
    if (spoil) spoil(grant);
    core::LinkMessage reply = grant;
    if (instead) reply = *instead;
    static_cast<void>(connection->send(reply));
  }

  support::SimNetwork network;
  std::unique_ptr<loop::Network> server;
  std::unique_ptr<loop::Listener> listener;
  std::optional<wire::TlsContext> context;
  std::unique_ptr<link::Connection> connection;
  std::vector<core::EnrolmentRequest> requests;
  std::optional<core::LinkMessage> instead;
  crypto::Validity valid = test::Mesh::kValid;
  std::function<void(core::EnrolmentGrant&)> spoil;
};

std::string a_token() {
  static const auto token =
      link::format_token(link::make_token(granting_mesh().authority.key.fingerprint()));
  return token;
}

EnrolmentPlan a_plan() {
  auto plan = make_enrolment_plan(a_token(), {"control:7600"});
  REQUIRE(plan);
  plan->profile = {{"hostname", "web-1"}};
  plan->inventory = {{"processors", "2"}};
  plan->actor = kPerson;
  return *plan;
}

using End = Result<EnrolmentEnd>;
End run_enrolment(test::NodeLife& life, Granting& granting, EnrolmentPlan plan = a_plan()) {
  const auto client = granting.network.machine("node");
  auto task = enrol(life.sim_loop, *client, *life.files, life.store, std::move(plan), true);
  life.sim_loop.post([&task] { task.start(); });
  for (int turn = 0; turn < 100 && !task.done(); ++turn) life.sim_loop.run_for(kNsPerSecond);
  REQUIRE(task.done());
  return task.take();
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE(
    "enrolment: a new store is bound to the wanted node, unless the machine was given a name") {
  const support::ScratchFolder scratch("bound");
  const auto refusal_of = [&scratch](const StoreBinding& binding) {
    support::SimLoop sim_loop(1);
    const auto files = os_linux::make_files();
    const auto opened = open_store(sim_loop, *files, scratch.path, binding);
    return opened ? std::string() : opened.error().message();
  };
  StoreBinding own{"/", "vm-17", "local", "test", 0};
  own.is_own_name = true;
  auto wanted = own, given = own;
  wanted.wanted_node = "web-1";
  given.is_own_name = false;
  CHECK(test::NodeLife(scratch.path, 1, wanted).state().host == "web-1");
  // Cut off before it asked: the same command goes on, and nobody else takes the store for theirs.
  CHECK(refusal_of(own) == "the store is bound to the host web-1, not to vm-17");
  {
    test::NodeLife life(scratch.path, 1, wanted);
    Granting granting(life);
    CHECK(run_enrolment(life, granting));
  }
  CHECK(test::NodeLife(scratch.path, 1, own).state().host == "web-1");
  CHECK(refusal_of(given) == "the store is bound to the host web-1, not to vm-17");
  const support::ScratchFolder other("given");
  wanted.is_own_name = false;
  CHECK(test::NodeLife(other.path, 1, wanted).state().host == "vm-17");
}

TEST_CASE("identity: a key is made once, for root alone, and never replaced [E04]") {
  support::ScratchFolder scratch("identity");
  const auto files = os_linux::make_files();
  const IdentityFiles identity(*files, scratch.path);
  REQUIRE(identity.read_key());
  CHECK_FALSE(identity.read_key()->has_value());
  const auto first = identity.read_or_make_key();
  REQUIRE(first);
  CHECK(first->made);
  const auto again = identity.read_or_make_key();
  REQUIRE(again);
  CHECK_FALSE(again->made);
  CHECK(first->key.public_key() == again->key.public_key());
  struct stat info {};
  REQUIRE(::stat((scratch.path + "/identity/key.pem").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);
  REQUIRE(::stat((scratch.path + "/identity").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0700);
  const auto key_file = scratch.path + "/identity/key.pem";
  REQUIRE(::chmod(key_file.c_str(), 0640) == 0);
  const auto open_to_others = identity.read_key();
  REQUIRE_FALSE(open_to_others);
  CHECK(open_to_others.error().code() == ErrorCode::refused);
  CHECK(open_to_others.error().message().find("chmod 600") != std::string::npos);
  REQUIRE(::chmod(key_file.c_str(), 0600) == 0);
  REQUIRE(identity.set_key_aside());
  const auto other = identity.read_or_make_key();
  REQUIRE(other);
  CHECK(other->made);
  CHECK(other->key.public_key() != first->key.public_key());
}

TEST_CASE("identity: what was written of a grant is read back, and no changed byte is believed") {
  support::ScratchFolder scratch("identity");
  const auto files = os_linux::make_files();
  const IdentityFiles identity(*files, scratch.path);
  const auto own = identity.read_or_make_key();
  REQUIRE(own);
  const auto grant = granting_mesh().grant_for(own->key.public_key());
  REQUIRE(identity.write(grant, {"control:7600", "[::1]:7600"}));
  const auto read = identity.read();
  REQUIRE(read);
  REQUIRE(*read);
  CHECK((*read)->node == "web-1");
  CHECK((*read)->mesh_id == granting_mesh().id);
  CHECK((*read)->addresses == std::vector<std::string>{"control:7600", "[::1]:7600"});
  CHECK((*read)->signers.size() == 1);
  const auto path = scratch.path + "/identity/grant";
  const auto sound = bytes_of(path);
  for (std::size_t at = 0; at < sound.size(); at += 7) {
    auto bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const auto damaged = identity.read();
    REQUIRE_FALSE(damaged);
    CHECK(damaged.error().code() == ErrorCode::corrupt);
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << sound;
  std::filesystem::remove(scratch.path + "/identity/key.pem");
  const auto keyless = identity.read();
  REQUIRE_FALSE(keyless);
  CHECK(keyless.error().message().find("key.pem is missing") != std::string::npos);
}

TEST_CASE("identity: a grant that does not fit is refused in words") {
  const auto key = crypto::PrivateKey::generate();
  const auto good = granting_mesh().grant_for(key->public_key());
  CHECK(check_grant(good, key->public_key()));
  const test::Mesh other;
  const auto refused = [&](const std::function<void(core::EnrolmentGrant&)>& spoil) {
    auto grant = good;
    spoil(grant);
    const auto checked = check_grant(grant, key->public_key());
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == ErrorCode::refused);
  };
  refused([](auto& grant) { grant.node = "web-2"; });
  refused([](auto& grant) { grant.node = "../x"; });
  refused([](auto& grant) { grant.mesh = "test"; });
  refused([](auto& grant) { grant.mesh_id = {}; });
  refused([](auto& grant) { grant.certificate.pop_back(); });
  refused([](auto& grant) { grant.authorities.clear(); });
  refused([&](auto& grant) { grant.authorities = {other.authority.der}; });
  refused([](auto& grant) { grant.signers.clear(); });
  refused([](auto& grant) { grant.signers[0].pop_back(); });
  const auto stranger = crypto::PrivateKey::generate();
  CHECK_FALSE(check_grant(good, stranger->public_key()));
}

TEST_CASE("enrolment: key, question and grant are durable and told, and the token nowhere") {
  support::ScratchFolder scratch("enrolment");
  test::NodeLife life(scratch.path + "/store");
  Granting granting(life);
  const auto end = run_enrolment(life, granting);
  REQUIRE(end);
  CHECK(std::get<Enrolled>(*end).identity.node == "web-1");
  CHECK(life.state().lifecycle == core::NodeLifecycle::enrolled);
  const auto made = life.events<core::KeyCreated>();
  REQUIRE(made.size() == 1);
  const IdentityFiles identity(*life.files, life.folder);
  CHECK((*identity.read_key())->public_key().fingerprint() == made[0].fingerprint);
  REQUIRE(life.events<core::EnrolmentRequested>().size() == 1);
  CHECK(life.events<core::EnrolmentRequested>()[0].token_id.size() == 8);
  CHECK(life.events<core::EnrolmentGranted>().at(0).labels == std::vector<std::string>{"role=web"});
  REQUIRE(granting.requests.size() == 1);
  CHECK(granting.requests[0].token == a_token());
  const auto secret = a_token().substr(20, 40);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(life.folder))
    if (entry.is_regular_file())
      CHECK(bytes_of(entry.path().string()).find(secret) == std::string::npos);
  const auto again = run_enrolment(life, granting);
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == ErrorCode::conflict);
}

TEST_CASE("enrolment: a refusal is told with what to do, pending is no end, and both can go on") {
  support::ScratchFolder scratch("enrolment");
  test::NodeLife life(scratch.path + "/store");
  Granting granting(life);
  granting.instead = core::EnrolmentPending{7 * kNsPerSecond};
  auto end = run_enrolment(life, granting);
  REQUIRE(end);
  CHECK(std::get<EnrolmentWaits>(*end).not_before_ns == 7 * kNsPerSecond);
  granting.instead =
      core::EnrolmentRefusal{core::LinkCause::name_taken, "another is web-1", "give a name"};
  end = run_enrolment(life, granting);
  REQUIRE(end);
  CHECK(std::get<EnrolmentRefused>(*end).remedy == "give a name");
  CHECK(life.events<core::EnrolmentRefused>().at(0).remedy == "give a name");
  CHECK(life.state().lifecycle != core::NodeLifecycle::enrolled);
  granting.instead.reset();
  end = run_enrolment(life, granting);
  REQUIRE(end);
  CHECK(std::holds_alternative<Enrolled>(*end));
  CHECK(life.events<core::KeyCreated>().size() == 1);
}

TEST_CASE("enrolment: a grant that is not good is not stored") {
  support::ScratchFolder scratch("enrolment");
  test::NodeLife life(scratch.path + "/store");
  Granting granting(life);
  granting.spoil = [](core::EnrolmentGrant& grant) { grant.node = "web-2"; };
  const auto end = run_enrolment(life, granting);
  REQUIRE_FALSE(end);
  CHECK(end.error().message().find("the grant is not good") != std::string::npos);
  CHECK_FALSE(*IdentityFiles(*life.files, life.folder).read());
  CHECK(life.events<core::EnrolmentGranted>().empty());
}

TEST_CASE("enrolment: a new key takes the place of the old one, which stays on the disk") {
  support::ScratchFolder scratch("enrolment");
  test::NodeLife life(scratch.path + "/store");
  Granting granting(life);
  REQUIRE(run_enrolment(life, granting));
  auto plan = a_plan();
  plan.new_key = true;
  const auto end = run_enrolment(life, granting, plan);
  REQUIRE(end);
  CHECK(std::holds_alternative<Enrolled>(*end));
  REQUIRE(granting.requests.size() == 2);
  CHECK(granting.requests[0].key != granting.requests[1].key);
  CHECK(life.events<core::KeyCreated>().size() == 2);
}

TEST_CASE("enrolment: a node whose certificate has ended takes a new token, with its key [E05]") {
  support::ScratchFolder scratch("enrolment");
  test::NodeLife life(scratch.path + "/store");
  Granting granting(life);
  granting.valid.not_after_s = 1'750'000'000;
  REQUIRE(run_enrolment(life, granting));
  CHECK_FALSE(run_enrolment(life, granting));
  life.sim_loop.jump_wall(60'000'000 * kNsPerSecond);
  granting.instead =
      core::EnrolmentRefusal{core::LinkCause::token_expired, "token x ended", "make another one"};
  auto end = run_enrolment(life, granting);
  REQUIRE(end);
  CHECK(std::get<EnrolmentRefused>(*end).remedy == "make another one");
  CHECK(life.state().lifecycle == core::NodeLifecycle::enrolled);  // as before: it goes on
  CHECK(*IdentityFiles(*life.files, life.folder).read());
  granting.instead.reset();
  granting.valid = test::Mesh::kValid;
  end = run_enrolment(life, granting);
  REQUIRE(end);
  const auto& enrolled = std::get<Enrolled>(*end);
  CHECK_FALSE(enrolled.was_already);
  CHECK(enrolled.identity.certificate.validity == test::Mesh::kValid);
  REQUIRE(granting.requests.size() == 3);
  CHECK(granting.requests[0].key == granting.requests[2].key);
  CHECK(life.events<core::KeyCreated>().size() == 1);
  CHECK(life.events<core::EnrolmentGranted>().size() == 2);
  const auto again = run_enrolment(life, granting);
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == ErrorCode::conflict);
}

TEST_CASE("enrolment: cut off at any point it is run again and comes to the same end") {
  for (int steps = 1; steps < 260; steps += 4) {
    INFO("dies after " << steps);
    support::ScratchFolder scratch("enrolment");
    const auto folder = scratch.path + "/store";
    {
      test::NodeLife life(folder);
      Granting granting(life);
      const auto client = granting.network.machine("node");
      auto task = enrol(life.sim_loop, *client, *life.files, life.store, a_plan(), true);
      life.sim_loop.post([&task] { task.start(); });
      for (int step = 0; step < steps && life.sim_loop.step(); ++step) continue;
      life.sim_loop.kill();
    }
    test::NodeLife next(folder, 2);
    Granting granting(next);
    const auto end = run_enrolment(next, granting);
    if (!end) {
      // The first run had come to its end.
      CHECK(end.error().code() == ErrorCode::conflict);
    } else {
      CHECK(std::holds_alternative<Enrolled>(*end));
    }
    CHECK(next.state().lifecycle == core::NodeLifecycle::enrolled);
    CHECK(next.events<core::KeyCreated>().size() == 1);
    CHECK(next.events<core::EnrolmentGranted>().size() == 1);
    const auto identity = IdentityFiles(*next.files, folder).read();
    REQUIRE(identity);
    REQUIRE(*identity);
    CHECK((*identity)->certificate.key.fingerprint() ==
          next.events<core::KeyCreated>()[0].fingerprint);
  }
}

TEST_CASE("enrolment: a report is cut where a stranger's frame ends, and says so [Y07]") {
  std::vector<core::Fact> facts;
  for (int at = 0; at < 5000; ++at) facts.push_back({"disk " + std::to_string(at), "much"});
  const auto bounded = bound_report(facts);
  CHECK(bounded.size() < facts.size());
  CHECK(bounded.back().name == "cut");
  core::EnrolmentRequest request;
  request.inventory = bounded;
  CHECK(codec::encode_link(core::LinkMessage(request)).size() < link::kMaxStrangersFrame);
  CHECK(bound_report({{"a", "b"}}) == std::vector<core::Fact>{{"a", "b"}});
}

TEST_CASE("enrolment: what a person gives wrongly is named, without a letter of the token") {
  CHECK_FALSE(make_enrolment_plan("dtm1_zzz", {"control:7600"}));
  CHECK(make_enrolment_plan(a_token(), {}).error().message().find("--control") !=
        std::string::npos);
  const auto wrong = make_enrolment_plan(a_token(), {"control"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message().find(a_token().substr(10, 20)) == std::string::npos);
  CHECK(make_enrolment_plan("  " + a_token() + "\n", {"control:7600"}));
}
