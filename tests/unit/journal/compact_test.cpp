// Compaction: the same store in less space, or the store as it was; and never without its readers'
// knowledge.
#include "compact.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "scratch.hpp"
#include "store_folder.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

constexpr Seq kRecords = 3000;
constexpr Seq kFirst = 2801;

// A store most of whose records were archived: many free pages.
std::string make_hollow_store(const std::string& folder) {
  make_store(folder, kRecords);
  auto log = open_log(folder, options_for(OpenMode::open));
  REQUIRE(log);
  REQUIRE((*log)->remove_before(kFirst));
  std::string error;
  const auto text = transcript(**log, error);
  REQUIRE(error.empty());
  REQUIRE((*log)->close());
  return text;
}

std::string transcript_of(const std::string& folder) {
  auto log = open_log(folder, options_for(OpenMode::open));
  if (!log) FAIL(log.error().message());
  CHECK((*log)->read_projection("status") == Bytes(300, std::byte{'s'}));
  CHECK((*log)->read_meta("acknowledged") == to_bytes(std::to_string(kRecords + 1)));
  std::string error;
  const auto text = transcript(**log, error);
  CHECK(error.empty());
  const auto verified = (*log)->verify(1);
  REQUIRE(verified);
  CHECK(verified->sound);
  REQUIRE((*log)->close());
  return text;
}

int wait_for(pid_t pid) {
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("journal: a compacted store holds exactly the same in a smaller file [L11]") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  const auto truth = make_hollow_store(folder);
  const auto before = std::filesystem::file_size(folder + "/data.mdb");
  const auto done = compact_store(folder, options_for(OpenMode::open));
  if (!done) FAIL(done.error().message());
  CHECK(done->bytes_after == std::filesystem::file_size(folder + "/data.mdb"));
  CHECK(done->bytes_after < before / 4);
  CHECK_FALSE(std::filesystem::exists(folder + ".compacting"));
  CHECK(transcript_of(folder) == truth);
}

TEST_CASE("journal: a compacted store is known as closed in order and takes records again") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_hollow_store(folder);
  REQUIRE(compact_store(folder, options_for(OpenMode::open)));
  auto options = options_for(OpenMode::open);
  options.walk_limit_ms = 0;  // a store that needed the walk would be refused
  auto log = open_log(folder, options);
  if (!log) FAIL(log.error().message());
  Batch batch;
  batch.entries.resize(50);
  CHECK((*log)->append(batch) == kRecords + 50);
  CHECK((*log)->verify(1)->sound);
}

TEST_CASE("journal: a folder behind a link is compacted where it lies, and the link stays [L17]") {
  Scratch scratch;
  const auto real = scratch.path("elsewhere/journal");
  std::filesystem::create_directories(scratch.path("elsewhere"));
  const auto truth = make_hollow_store(real);
  const auto before = std::filesystem::file_size(real + "/data.mdb");
  const auto link = scratch.path("store");
  std::filesystem::create_symlink("elsewhere/journal", link);
  const auto done = compact_store(link, options_for(OpenMode::open));
  if (!done) FAIL(done.error().message());
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::file_size(real + "/data.mdb") < before / 4);
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(link + ".compacting")));
  CHECK_FALSE(std::filesystem::exists(real + ".compacting"));
  CHECK(transcript_of(link) == truth);
}

TEST_CASE("journal: a link in the place of a compaction's folder is not followed, and named") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  const auto truth = make_hollow_store(folder);
  const auto other = scratch.path("other");
  make_store(other, 3);
  const auto other_before = read_file(other + "/data.mdb");
  std::filesystem::create_directory_symlink("other", folder + ".compacting");
  CHECK(transcript_of(folder) == truth);
  const auto refused = compact_store(folder, options_for(OpenMode::open));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::refused);
  CHECK(refused.error().message().find("store.compacting is in the way") != std::string::npos);
  CHECK(std::filesystem::is_symlink(folder + ".compacting"));
  CHECK(read_file(other + "/data.mdb") == other_before);
  CHECK(std::filesystem::exists(other + "/clean"));
}

TEST_CASE("journal: a compaction that dies after any step leaves the same records [L11]") {
  for (int last = 0; last < kCompactSteps; ++last) {
    Scratch scratch;
    const auto folder = scratch.path("store");
    const auto truth = make_hollow_store(folder);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto die = [last](CompactStep step) {
        if (static_cast<int>(step) == last) ::_exit(9);
      };
      static_cast<void>(compact_store_with(folder, options_for(OpenMode::open), die));
      ::_exit(1);
    }
    INFO("died after step " << last);
    REQUIRE(wait_for(pid) == 9);
    CHECK(transcript_of(folder) == truth);
    CHECK_FALSE(std::filesystem::exists(folder + ".compacting"));
    // What the death left stands in the way of nothing.
    REQUIRE(compact_store(folder, options_for(OpenMode::open)));
    CHECK(transcript_of(folder) == truth);
  }
}

TEST_CASE("journal: a store that a process reads, even a stopped one, is not compacted [L11]") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  const auto truth = make_hollow_store(folder);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto log = open_log(folder, options_for(OpenMode::live));
    if (!log) ::_exit(1);
    static_cast<void>((*log)->scan(1, [&](const Record&) {
      // Inside its read transaction, until it is killed.
      if (::write(ready[1], "r", 1) != 1) ::_exit(2);
      for (;;) ::raise(SIGSTOP);
      return Visit::stop;
    }));
    ::_exit(3);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, WUNTRACED) == pid);
  REQUIRE(WIFSTOPPED(status));
  const auto refused = compact_store(folder, options_for(OpenMode::open));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::busy);
  CHECK_FALSE(std::filesystem::exists(folder + ".compacting"));
  REQUIRE(::kill(pid, SIGKILL) == 0);
  CHECK(wait_for(pid) == 256 + SIGKILL);
  // A dead reader's slot is nobody's.
  REQUIRE(compact_store(folder, options_for(OpenMode::open)));
  CHECK(transcript_of(folder) == truth);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("journal: a store that somebody writes is not compacted, a damaged one is not touched") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_hollow_store(folder);
  {
    auto log = open_log(folder, options_for(OpenMode::open));
    REQUIRE(log);
    CHECK(compact_store(folder, options_for(OpenMode::open)).error().code() == ErrorCode::busy);
    REQUIRE((*log)->close());
  }
  patch_file(folder + "/data.mdb", 16, {'x'});
  const auto bytes = read_file(folder + "/data.mdb");
  CHECK(compact_store(folder, options_for(OpenMode::open)).error().code() == ErrorCode::corrupt);
  CHECK(read_file(folder + "/data.mdb") == bytes);
}

TEST_CASE("journal: a writer never gets the folder that a compaction has replaced [L12]") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_hollow_store(folder);
  bool was_refused = false;
  const auto try_opening = [&](CompactStep step) {
    if (step != CompactStep::exchanged) return;
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto log = open_log(folder, options_for(OpenMode::open));
      ::_exit(!log && log.error().code() == ErrorCode::busy ? 0 : 1);
    }
    was_refused = wait_for(pid) == 0;
  };
  REQUIRE(compact_store_with(folder, options_for(OpenMode::open), try_opening));
  CHECK(was_refused);
}

TEST_CASE(
    "journal: an open log is compacted under its lock, and goes on with the same records [L11]") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  const auto truth = make_hollow_store(folder);
  const auto before = std::filesystem::file_size(folder + "/data.mdb");
  auto log = open_log(folder, options_for(OpenMode::open));
  REQUIRE(log);
  for (Seq round = 1; round <= 3; ++round) {
    const auto done = (*log)->compact();
    if (!done) FAIL(done.error().message());
    CHECK(std::filesystem::file_size(folder + "/data.mdb") < before / 4);
    CHECK_FALSE(std::filesystem::exists(folder + ".compacting"));
    // A death from here on is no orderly end, and nobody else gets the store.
    CHECK_FALSE(std::filesystem::exists(folder + "/clean"));
    CHECK(compact_store(folder, options_for(OpenMode::open)).error().code() == ErrorCode::busy);
    std::string error;
    const auto text = transcript(**log, error);
    CHECK(error.empty());
    if (round == 1) CHECK(text == truth);
    Batch batch;
    batch.entries.resize(1);
    CHECK((*log)->append(batch) == kRecords + round);
    CHECK((*log)->verify(1)->sound);
  }
  REQUIRE((*log)->close());
  const auto again = open_log(folder, options_for(OpenMode::open));
  REQUIRE(again);
  CHECK((*again)->read_head()->seq == kRecords + 3);
}

TEST_CASE("journal: a log that somebody reads is not compacted, and goes on as it was") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_hollow_store(folder);
  auto log = open_log(folder, options_for(OpenMode::open));
  REQUIRE(log);
  {
    const auto reader = (*log)->make_reader();
    REQUIRE(reader);
    CHECK((*log)->compact().error().code() == ErrorCode::busy);
    CHECK((*reader)->read_head()->seq == kRecords);
  }
  // Of another process, which stays inside its read transaction until it is killed.
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto live = open_log(folder, options_for(OpenMode::live));
    if (!live) ::_exit(1);
    static_cast<void>((*live)->read(kRecords, [&](const Record&) {
      if (::write(ready[1], "r", 1) != 1) ::_exit(2);
      for (;;) ::pause();
      return Visit::stop;
    }));
    ::_exit(3);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK((*log)->compact().error().code() == ErrorCode::busy);
  REQUIRE(::kill(pid, SIGKILL) == 0);
  CHECK(wait_for(pid) == 256 + SIGKILL);
  Batch batch;
  batch.entries.resize(1);
  CHECK((*log)->append(batch) == kRecords + 1);
  REQUIRE((*log)->compact());
  CHECK((*log)->read_head()->seq == kRecords + 1);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("journal: a log whose store cannot be opened again after a compaction says so for good") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_hollow_store(folder);
  auto log = open_log(folder, options_for(OpenMode::open));
  REQUIRE(log);
  // What LMDB would open by its name is looked at before: a folder is none.
  std::filesystem::remove(folder + "/lock.mdb");
  std::filesystem::create_directory(folder + "/lock.mdb");
  CHECK((*log)->compact().error().code() == ErrorCode::unavailable);
  CHECK((*log)->append({}).error().code() == ErrorCode::unavailable);
  CHECK((*log)->make_reader().error().code() == ErrorCode::unavailable);
  log->reset();
  std::filesystem::remove(folder + "/lock.mdb");
  const auto again = open_log(folder, options_for(OpenMode::open));
  REQUIRE(again);
  CHECK((*again)->verify(1)->sound);
}

TEST_CASE("journal: file systems that other machines write are known by their type") {
  CHECK(is_network_file_system(0x6969));
  CHECK(is_network_file_system(0xFF534D42));
  CHECK_FALSE(is_network_file_system(0xEF53));      // ext4
  CHECK_FALSE(is_network_file_system(0x01021994));  // tmpfs
  CHECK_FALSE(is_network_file_system(0x794C7630));  // overlay
}

TEST_CASE(
    "journal: a store that lies in journal.compacting alone is neither made anew nor removed") {
  Scratch scratch;
  const auto folder = scratch.path("journal");
  const auto beside = folder + ".compacting";
  make_store(folder, 100);
  std::filesystem::rename(folder, beside);
  const auto bytes = read_file(beside + "/data.mdb");
  // Nothing in its place, or an empty folder.
  if (GENERATE(false, true)) {
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  }
  for (const auto mode : {OpenMode::create_or_open, OpenMode::open, OpenMode::read_only}) {
    const auto log = open_log(folder, options_for(mode));
    REQUIRE_FALSE(log);
    CHECK(log.error().code() == ErrorCode::refused);
    CHECK(log.error().message().find("mv -T " + beside + " " + folder) != std::string::npos);
  }
  CHECK(read_file(beside + "/data.mdb") == bytes);
  CHECK_FALSE(std::filesystem::exists(folder + "/data.mdb"));
  std::filesystem::remove(folder);
  std::filesystem::rename(beside, folder);
  const auto again = open_log(folder, options_for(OpenMode::open));
  REQUIRE(again);
  CHECK((*again)->read_head()->seq == 100);
}
