// Deaths and power cuts of the LMDB store. The oracle stands outside the store: in this process,
// which knows what was acknowledged and what had only been begun.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "datum/journal/log.hpp"
#include "power_disk.hpp"
#include "support/scratch_folder.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

struct Folder : support::ScratchFolder {
  Folder() : ScratchFolder("crash") {}
};

OpenOptions options_for(OpenMode mode) {
  OpenOptions options;
  options.mode = mode;
  options.indexes = {"targets"};
  options.walk_limit_ms = 3'600'000;  // a busy machine makes no test fail
  return options;
}

// Batch `n` has n % 5 + 1 records, some larger than a page, and sets a projection to `n`.
std::string payload_of(int n, int i) {
  const std::size_t size = (n + i) % 4 == 0 ? 6000 : 100;
  auto text = "batch " + std::to_string(n) + " record " + std::to_string(i) + " ";
  text.resize(size, 'x');
  return text;
}

Result<Seq> append_batch(Log& log, int n) {
  std::vector<std::string> payloads;
  for (int i = 0; i < n % 5 + 1; ++i) payloads.push_back(payload_of(n, i));
  const auto key = "target " + std::to_string(n % 3);
  Batch batch;
  for (const auto& payload : payloads) {
    Entry entry;
    entry.kind = static_cast<std::uint16_t>(n);
    entry.payload = as_bytes(payload);
    entry.keys = {{"targets", key}};
    batch.entries.push_back(entry);
  }
  batch.projections.push_back({"last", to_bytes(std::to_string(n))});
  return log.append(batch);
}

// Whole batches that the store holds from 1 on; -1 and a message in `problem` if it holds anything
// else.
int count_batches(const std::string& folder, std::string& problem) {
  auto log = open_log(folder, options_for(OpenMode::create_or_open));
  if (!log) {
    problem = log.error().message();
    return -1;
  }
  int n = 0;
  int i = 0;
  const auto scanned = (*log)->scan(1, [&](const Record& record) {
    if (i == 0) ++n;
    if (as_text(record.payload) != payload_of(n, i) || record.kind != n)
      problem = "record " + std::to_string(record.seq) + " is another's";
    i = i == n % 5 ? 0 : i + 1;
    return Visit::go_on;
  });
  if (!scanned) problem = scanned.error().message();
  if (i != 0) problem = "half of batch " + std::to_string(n);
  const auto last = (*log)->read_projection("last");
  const auto expected = n == 0 ? std::string() : std::to_string(n);
  if (!last || (last->has_value() ? as_text(**last) : "") != expected)
    problem = "the projection is not of batch " + expected;
  const auto verified = (*log)->verify(1);
  if (!verified || !verified->sound) problem = "verify: " + verified->problem;
  return problem.empty() ? n : -1;
}

[[noreturn]] void append_forever(const std::string& folder, int from, int ack) {
  auto log = open_log(folder, options_for(OpenMode::create_or_open));
  if (!log) ::_exit(1);
  for (int n = from;; ++n) {
    if (!append_batch(**log, n)) ::_exit(2);
    if (::write(ack, &n, sizeof n) != sizeof n) ::_exit(3);
  }
}

// What a moment of a run may have left on the disk.
struct Moment {
  int acknowledged = 0;
  int begun = 0;
  std::vector<char> image;
};

struct Run {
  PowerDisk* disk = nullptr;
  std::mt19937 random{4711};
  std::vector<Moment> moments;
  int acknowledged = 0;
  int begun = 0;
};

void note_moment(void* data) {
  auto& run = *static_cast<Run*>(data);
  run.moments.push_back({run.acknowledged, run.begun, run.disk->image(run.random)});
}

void write_file(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
}

}  // namespace

TEST_CASE(
    "journal: a writer that is killed leaves what it acknowledged, and at most one batch more") {
  Folder scratch;
  const auto folder = scratch.path + "/store";
  int acknowledged = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      append_forever(folder, acknowledged + 1, ends[1]);
    }
    ::close(ends[1]);
    // Every third writer is killed unheard, in its opening or wherever it is.
    int heard = acknowledged;
    for (int i = 0; i < (round % 3 == 0 ? 0 : 1 + round % 7); ++i)
      REQUIRE(::read(ends[0], &heard, sizeof heard) == sizeof heard);
    REQUIRE(::kill(pid, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    REQUIRE(WIFSIGNALED(status));
    while (::read(ends[0], &heard, sizeof heard) == sizeof heard) {
    }
    ::close(ends[0]);
    std::string problem;
    const int held = count_batches(folder, problem);
    INFO("round " << round << ": " << problem);
    REQUIRE(held >= heard);
    REQUIRE(held <= heard + 1);
    acknowledged = held;
  }
  CHECK(acknowledged > 25);
}

TEST_CASE(
    "journal: power cut at any write or sync leaves whole batches, the acknowledged ones first "
    "[L08]") {
  Folder scratch;
  const auto folder = scratch.path + "/store";
  { REQUIRE(open_log(folder, options_for(OpenMode::create_or_open))); }
  Run run;
  {
    PowerDisk disk(folder + "/data.mdb");
    run.disk = &disk;
    disk.on_call(note_moment, &run);
    auto log = open_log(folder, options_for(OpenMode::open));
    REQUIRE(log);
    for (int n = 1; n <= 25; ++n) {
      run.begun = n;
      REQUIRE(append_batch(**log, n));
      run.acknowledged = n;
    }
    // The library's writes must have passed the watcher, or this test shows nothing.
    REQUIRE(disk.writes() >= 50);
    REQUIRE(disk.syncs() >= 25);
  }
  const auto copy = scratch.path + "/copy";
  int kept_unacknowledged = 0;
  for (const auto& moment : run.moments) {
    std::filesystem::remove_all(copy);
    REQUIRE(::mkdir(copy.c_str(), 0700) == 0);
    write_file(copy + "/data.mdb", moment.image);
    ::chmod((copy + "/data.mdb").c_str(), 0600);
    std::string problem;
    const int held = count_batches(copy, problem);
    INFO("acknowledged " << moment.acknowledged << ", begun " << moment.begun << ": " << problem);
    REQUIRE((held == moment.acknowledged || held == moment.begun));
    if (held > moment.acknowledged) ++kept_unacknowledged;
  }
  CHECK(kept_unacknowledged > 0);
}

TEST_CASE("journal: a write or sync that fails ends the log, and the reopened one lacks nothing") {
  struct Fault {
    bool is_sync;
    int error;
    ErrorCode code;
  };
  const auto fault =
      GENERATE(Fault{true, EIO, ErrorCode::io_error}, Fault{true, EDQUOT, ErrorCode::no_space},
               Fault{false, ENOSPC, ErrorCode::no_space}, Fault{false, EDQUOT, ErrorCode::no_space},
               Fault{false, EIO, ErrorCode::io_error});
  const int at = GENERATE(1, 2, 3, 4, 5);
  Folder scratch;
  const auto folder = scratch.path + "/store";
  int acknowledged = 0;
  {
    auto log = open_log(folder, options_for(OpenMode::create_or_open));
    REQUIRE(log);
    for (int n = 1; n <= 5; ++n) REQUIRE(append_batch(**log, n));
    acknowledged = 5;
    PowerDisk disk(folder + "/data.mdb");
    if (fault.is_sync) disk.fail_sync(at, fault.error);
    if (!fault.is_sync) disk.fail_write(at, fault.error);
    Result<Seq> result = Seq{0};
    for (int n = 6; n <= 40 && result; ++n) {
      result = append_batch(**log, n);
      if (result) acknowledged = n;
    }
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == fault.code);
    CHECK(append_batch(**log, acknowledged + 1).error().code() == ErrorCode::unavailable);
    REQUIRE((*log)->close());
    CHECK_FALSE(std::filesystem::exists(folder + "/clean"));
  }
  std::string problem;
  const int held = count_batches(folder, problem);
  INFO(problem);
  CHECK(held >= acknowledged);
  CHECK(held <= acknowledged + 1);
}
