// What goes over a link once it stands: records up, declarations and their content down.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "control_scene.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/journal/copy.hpp"
#include "datum/model/manifest.hpp"

using namespace datum;
using test::ControlScene;
using test::Machine;

namespace {

std::atomic<int>& syncs() {
  static std::atomic<int> count = 0;
  return count;
}

}  // namespace

// In the place of the library's, in all of this program: counted, and done.
extern "C" int fsync(int fd) {
  ++syncs();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace {

// A node's journal, to take records out of.
struct NodeJournal {
  NodeJournal() {
    journal::OpenOptions options;
    options.indexes = {"passes"};
    log = std::move(*journal::open_sim_log(disk, options, 99));
    for (int i = 0; i < 10; ++i) {
      journal::Batch batch;
      const auto payload = to_bytes("record " + std::to_string(i));
      batch.entries.push_back({7, 0, {}, payload, {{"passes", "p"}}});
      REQUIRE(log->append(batch));
    }
  }
  [[nodiscard]] core::JournalPart part(Seq first, Seq last) const {
    core::JournalPart made;
    made.store = log->store_id();
    made.first = first;
    REQUIRE(log->scan(first, [&](const journal::Record& record) {
      if (record.seq > last) return journal::Visit::stop;
      made.records.insert(made.records.end(), record.stored.begin(), record.stored.end());
      made.records.insert(made.records.end(), record.keys.begin(), record.keys.end());
      ++made.count;
      return journal::Visit::go_on;
    }));
    return made;
  }
  std::shared_ptr<journal::SimDisk> disk = std::make_shared<journal::SimDisk>(3);
  std::unique_ptr<journal::Log> log;
};

struct Linked {
  Linked() : machine(scene, "web-1") {
    machine.hello.store = journal.log->store_id();
    machine.enrol();
    machine.greet();
    REQUIRE(machine.last<core::Welcome>() != nullptr);
  }
  [[nodiscard]] Seq kept() const {
    const auto* kept = machine.last<core::JournalKept>();
    REQUIRE(kept != nullptr);
    return kept->through;
  }
  [[nodiscard]] std::string copy() const {
    return control::NodeJournals::path_of(scene.scratch.path, "web-1", journal.log->store_id());
  }
  ControlScene scene;
  NodeJournal journal;
  Machine machine;
};

}  // namespace

TEST_CASE("control: a node's records are kept as they came, and a new welcome goes on from there") {
  Linked linked;
  linked.machine.send(linked.journal.part(1, 4));
  CHECK(linked.kept() == 4);
  linked.machine.send(linked.journal.part(3, 7));  // partly known
  CHECK(linked.kept() == 7);
  linked.machine.send(linked.journal.part(1, 2));  // wholly known
  CHECK(linked.kept() == 7);
  linked.machine.send(linked.journal.part(9, 10));  // behind a gap
  CHECK(linked.kept() == 7);
  linked.scene.crash_and_begin();
  linked.machine.greet();
  REQUIRE(linked.machine.last<core::Welcome>() != nullptr);
  CHECK(linked.machine.last<core::Welcome>()->journal_kept == 7);
  linked.machine.send(linked.journal.part(8, 10));
  CHECK(linked.kept() == 10);
  const auto reader = journal::open_copy(linked.copy(), linked.journal.log->store_id());
  REQUIRE(reader);
  CHECK((*reader)->read_head()->hash == linked.journal.log->read_head()->hash);
  CHECK((*reader)->find("passes", "p", 1, 100)->size() == 10);
  const auto file = linked.scene.scratch.path + "/out.export";
  REQUIRE(journal::export_records(**reader, {1, 10}, file));
  CHECK(journal::verify_export(file)->sound);
}

TEST_CASE("control: a node's records are synced before it is told that they are kept") {
  Linked linked;
  for (const Seq last : {2, 5, 9}) {
    const auto before = syncs().load();
    linked.machine.send(linked.journal.part(1, last));
    REQUIRE(linked.kept() == last);
    CHECK(syncs() > before);
  }
}

TEST_CASE(
    "control: a copy that the disk took nothing more for is gone on with once it does again") {
  Linked linked;
  linked.machine.send(linked.journal.part(1, 4));
  REQUIRE(linked.kept() == 4);
  // Stands for a disk that is full: writes beyond the end fail.
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  rlimit narrow = old;
  narrow.rlim_cur = std::filesystem::file_size(linked.copy());
  ::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &narrow) == 0);
  linked.machine.send(linked.journal.part(5, 7));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  ::signal(SIGXFSZ, SIG_DFL);
  CHECK(linked.machine.end_cause() == core::LinkCause::busy);
  linked.machine.greet();
  REQUIRE(linked.machine.last<core::Welcome>() != nullptr);
  CHECK(linked.machine.last<core::Welcome>()->journal_kept == 4);
  linked.machine.send(linked.journal.part(5, 10));
  CHECK(linked.kept() == 10);
}

TEST_CASE("control: records that do not continue what is kept end the link as a clone's") {
  Linked linked;
  linked.machine.send(linked.journal.part(1, 4));
  auto part = linked.journal.part(4, 4);
  NodeJournal other;
  journal::Batch batch;
  const auto payload = to_bytes("another fifth");
  batch.entries.push_back({8, 0, {}, payload, {}});
  // The same store id and numbers, other records.
  part = other.part(4, 5);
  linked.machine.send(part);
  CHECK(linked.kept() == 5);  // equal records are equal, whoever sends them
  auto forged = linked.journal.part(7, 7);
  forged.first = 6;
  linked.machine.send(forged);
  REQUIRE(linked.machine.end);
  CHECK(linked.machine.end->goodbye.cause == core::LinkCause::protocol);
}

TEST_CASE("control: a part that is damaged anywhere is not kept and ends that link") {
  const NodeJournal whole;
  const auto good = whole.part(1, 2);
  support::ScratchFolder scratch("copy");
  for (std::size_t at = 0; at < good.records.size(); at += 5) {
    auto bad = good.records;
    bad[at] ^= std::byte{1};
    const auto file = scratch.path + "/" + std::to_string(at);
    auto copy = journal::Copy::open(file, good.store);
    REQUIRE(copy);
    const auto kept = (*copy)->append(1, 2, bad);
    REQUIRE_FALSE(kept);
    CHECK(kept.error().code() == ErrorCode::corrupt);
    CHECK((*copy)->head().seq == 0);
  }
}

TEST_CASE(
    "journal: a copy that somebody else changed or removed takes nothing, and holds no file open") {
  const NodeJournal whole;
  const auto first = whole.part(1, 4), second = whole.part(5, 10);
  for (const bool is_removed : {false, true}) {
    support::ScratchFolder scratch("copy");
    const auto file = scratch.path + "/copy";
    auto copy = journal::Copy::open(file, first.store);
    REQUIRE(copy);
    REQUIRE((*copy)->append(1, first.count, first.records));
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      CHECK(std::filesystem::read_symlink(each.path(), ignored) != file);
    }
    if (is_removed)
      std::filesystem::remove(file);
    else
      std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    CHECK_FALSE((*copy)->append(5, second.count, second.records));
    CHECK_FALSE((*copy)->append(5, second.count, second.records));
    auto again = journal::Copy::open(file, first.store);
    REQUIRE(again);
    CHECK((*again)->head().seq == (is_removed ? 0 : 3));
  }
}

TEST_CASE("journal: what was torn off a copy is cut, damage before its end is told") {
  const NodeJournal whole;
  support::ScratchFolder scratch("copy");
  const auto file = scratch.path + "/copy";
  const auto part = whole.part(1, 10);
  {
    auto copy = journal::Copy::open(file, part.store);
    REQUIRE(copy);
    REQUIRE((*copy)->append(1, part.count, part.records));
  }
  const auto size = std::filesystem::file_size(file);
  for (std::uintmax_t cut = 1; cut < 200; cut += 13) {
    std::filesystem::resize_file(file, size - cut);
    auto copy = journal::Copy::open(file, part.store);
    REQUIRE(copy);
    const auto kept = (*copy)->head().seq;
    CHECK(kept < 10);
    const auto rest = whole.part(kept + 1, 10);
    REQUIRE((*copy)->append(rest.first, rest.count, rest.records));
    CHECK(std::filesystem::file_size(file) == size);
  }
  CHECK(journal::Copy::open(file, crypto::random_id()).error().code() == ErrorCode::corrupt);
}

TEST_CASE("control: the newest declaration goes out, its blobs are sent in parts, others are not") {
  Linked linked;
  auto& scene = linked.scene;
  const auto large = scene.content.put(Bytes(300'000, std::byte{5}));
  const auto secret = scene.content.put(to_bytes("of another declaration"));
  model::Manifest empty;
  empty.host = "web-1";
  empty.final = true;
  REQUIRE(model::finish_manifest(empty));
  const auto encoded = codec::encode_manifest(empty, scene.content);
  REQUIRE(encoded);
  core::control::DeclarationReleased released;
  released.node = "web-1";
  released.generation = {1, 1};
  released.manifest = scene.content.put(*encoded);
  released.declaration.body = to_bytes("body");
  scene.append(control::Events{released});
  scene.server->send_newest("web-1");
  scene.run();
  REQUIRE(linked.machine.last<core::PushedDeclaration>() != nullptr);
  CHECK(linked.machine.last<core::PushedDeclaration>()->declaration.body == to_bytes("body"));
  linked.machine.send(core::BlobRequest{{released.manifest, large, secret}});
  scene.run();
  Bytes manifest;
  std::size_t absent = 0;
  for (const auto& message : linked.machine.messages) {
    const auto* part = std::get_if<core::BlobPart>(&message);
    if (part == nullptr) continue;
    if (part->size == 0) ++absent;
    if (part->blob == released.manifest) manifest = part->bytes;
  }
  CHECK(manifest == *encoded);
  CHECK(absent == 2);
  // It is sent once on one link, and again on the next until it is accepted.
  scene.server->send_newest("web-1");
  scene.run();
  CHECK(linked.machine.count<core::PushedDeclaration>() == 1);
  linked.machine.greet();
  scene.run();
  CHECK(linked.machine.count<core::PushedDeclaration>() == 1);
  linked.machine.hello.accepted = {1, 1};
  linked.machine.greet();
  scene.run();
  CHECK(linked.machine.count<core::PushedDeclaration>() == 0);
}
