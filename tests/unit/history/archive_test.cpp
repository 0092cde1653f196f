// Archiving through history: what leaves the journal is found again, and a death at any moment
// loses and repeats nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "checkpoint.hpp"
#include "datum/codec/checkpoint.hpp"
#include "datum/history/missing.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::history;
using namespace datum::history::test;

namespace {

void live(const std::string& folder, int passes) {
  Life life(folder, 30);
  for (int i = 0; i < passes; ++i) {
    life.loop.suspend(300 * kNsPerSecond);
    life.host.pass(i % 3 == 0 ? std::vector<std::size_t>{static_cast<std::size_t>(i % 30)}
                              : std::vector<std::size_t>{});
  }
  REQUIRE(life.host.close());
}

// Kind and hash of every record, archived ones included, without those that archiving itself
// appends at the end.
std::vector<std::string> records_of(const std::string& folder, Seq last) {
  const auto reader = open_reader(folder);
  if (!reader) FAIL(reader.error().message());
  std::vector<std::string> records;
  REQUIRE((*reader)->scan(1, [&](const journal::Record& record) {
    if (record.seq > last) return journal::Visit::stop;
    records.push_back(std::to_string(record.seq) + " " + std::to_string(record.kind) + " " +
                      journal::hash_of(record).hex());
    return journal::Visit::go_on;
  }));
  return records;
}

Seq head_of(const std::string& folder) {
  const auto reader = open_reader(folder);
  REQUIRE(reader);
  return (*reader)->read_head()->seq;
}

void check_whole(const std::string& folder, const std::vector<std::string>& truth) {
  CHECK(records_of(folder, truth.size()) == truth);
  const auto verified = verify_store(folder);
  REQUIRE(verified);
  INFO(verified->problem);
  CHECK(verified->sound);
  const auto reader = open_reader(folder);
  REQUIRE(reader);
  const auto replayed = fold(**reader, 0, false);
  const auto known = fold(**reader, 0, true);
  REQUIRE(replayed);
  REQUIRE(known);
  CHECK(*replayed == *known);
}

}  // namespace

TEST_CASE("history: archived events are found by replay, by target and by pass as before") {
  Scratch scratch;
  live(scratch.path, 60);
  const Seq head = head_of(scratch.path);
  const auto truth = records_of(scratch.path, head);
  REQUIRE(truth.size() == head);
  {
    Life life(scratch.path, 30);
    const auto file = life.archive(scratch.path, 100);
    if (!file) FAIL(file.error().message());
    CHECK(file->from == 1);
    CHECK(file->to == 100);
    REQUIRE(life.archive(scratch.path, 150));
    CHECK(life.history->log()->read_head()->first == 151);
    CHECK(*read_archived(*life.history->log()) == 150);
    REQUIRE(life.host.close());
  }
  check_whole(scratch.path, truth);
  const auto reader = open_reader(scratch.path);
  REQUIRE(reader);
  support::SimLoop loop(1);
  const simulation::DrivenHost host(loop, 30);
  const auto story = find_target(**reader, host.target(3), 1, 1000);
  REQUIRE(story);
  CHECK(story->front().place.seq < 100);
  CHECK(story->back().place.seq > 150);
  // The two records of the archive stand together and name the checkpoint.
  Seq seen = 0;
  REQUIRE(scan_events(**reader, head + 1, [&](const StoredEvent& stored) {
    if (const auto* archived = std::get_if<core::RecordsArchived>(&stored.event)) {
      ++seen;
      CHECK(archived->file == journal::archive_name(archived->from, archived->to));
    }
    return journal::Visit::go_on;
  }));
  CHECK(seen == 2);
}

TEST_CASE("history: what is decided while the journal is compacted is there afterwards [L11]") {
  Scratch scratch;
  live(scratch.path, 200);
  Life life(scratch.path, 30);
  const Seq before = life.history->state().seq;
  REQUIRE(life.archive(scratch.path, before - 20));
  const auto file = scratch.path + "/journal/data.mdb";
  const auto size = std::filesystem::file_size(file);
  Result<journal::Compaction> done = fail(ErrorCode::internal, "it never ended");
  life.history->compact([&done](Result<journal::Compaction> compacted) { done = compacted; });
  life.host.pass({3});
  life.loop.run_for(kNsPerSecond);
  if (!done) FAIL(done.error().message());
  CHECK(std::filesystem::file_size(file) < size);
  CHECK(life.history->healthy());
  life.host.pass({4});
  const Seq head = life.history->state().seq;
  CHECK(head > before + 2);
  REQUIRE(life.host.close());
  CHECK(head_of(scratch.path) >= head);
  check_whole(scratch.path, records_of(scratch.path, head));
}

TEST_CASE("history: a journal that cannot be opened again after a compaction failed like a disk") {
  Scratch scratch;
  live(scratch.path, 20);
  Life life(scratch.path, 30);
  life.loop.run_for(kNsPerSecond);
  // What LMDB would open by its name is looked at before.
  const auto lock = scratch.path + "/journal/lock.mdb";
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  Result<journal::Compaction> done = journal::Compaction{};
  life.history->compact([&done](Result<journal::Compaction> compacted) { done = compacted; });
  life.loop.run_for(kNsPerSecond);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == ErrorCode::unavailable);
  CHECK_FALSE(life.history->healthy());
  std::filesystem::remove(lock);
}

TEST_CASE("history: where another version's checkpoint stands before the archive, all is folded") {
  Scratch scratch;
  live(scratch.path, 300);
  core::State truth;
  {
    Life life(scratch.path, 30);
    REQUIRE(life.archive(scratch.path, 100));
    REQUIRE(life.host.close());
    truth = life.history->state();
  }
  {
    auto encoded = codec::encode_state(truth);
    store_le<std::uint16_t>(encoded.data() + 16, 999);
    auto log = journal::open_log(scratch.path + "/journal", {.indexes = index_names()});
    REQUIRE(log);
    REQUIRE(write_checkpoint(**log, truth.seq, encoded));
    REQUIRE((*log)->close());
  }
  {
    Life life(scratch.path, 30);
    CHECK(life.history->state().owned == truth.owned);
    CHECK(life.history->state().last_pass == truth.last_pass);
    REQUIRE(life.host.close());
  }
  // The next opening has one that it can read.
  const auto reader = open_reader(scratch.path);
  REQUIRE(reader);
  const auto written = read_checkpoint(**reader);
  REQUIRE(written);
  REQUIRE(*written);
  CHECK((*written)->seq > truth.seq);
}

TEST_CASE("history: a store whose archive lacks a file is not sound, and what lacks is named") {
  Scratch scratch;
  live(scratch.path, 60);
  {
    Life life(scratch.path, 30);
    REQUIRE(life.archive(scratch.path, 100));
    REQUIRE(life.archive(scratch.path, 150));
    REQUIRE(life.host.close());
  }
  REQUIRE(verify_store(scratch.path)->sound);
  const auto folder = archive_folder(scratch.path);
  const auto first = journal::archive_name(1, 100);
  const auto second = journal::archive_name(101, 150);
  const auto lose = [&](const std::string& name, const std::string& range) {
    std::filesystem::rename(folder + "/" + name, scratch.path + "/away");
    const auto verified = verify_store(scratch.path);
    REQUIRE(verified);
    CHECK_FALSE(verified->sound);
    CHECK(verified->bad_seq == 0);
    CHECK(verified->problem == "records " + range +
                                   " are missing: they were archived, and no file in " + folder +
                                   " holds them; they were in " + name);
    const auto reader = open_reader(scratch.path);
    REQUIRE(reader);
    CHECK(describe_missing(**reader, scratch.path)->starts_with("records " + range + " are"));
    std::filesystem::rename(scratch.path + "/away", folder + "/" + name);
  };
  lose(first, "1 to 100");
  lose(second, "101 to 150");
  // Damage beside a gap is told first: it is not what somebody took away.
  std::filesystem::remove(folder + "/" + first);
  std::filesystem::resize_file(folder + "/" + second, 1000);
  CHECK(verify_store(scratch.path)->problem.find("missing") == std::string::npos);
}

TEST_CASE("history: nothing is archived beside a file that no record explains, and it is named") {
  Scratch scratch;
  live(scratch.path, 60);
  const auto folder = archive_folder(scratch.path);
  const auto stray = journal::archive_name(101, 200);
  {
    Life life(scratch.path, 30);
    REQUIRE(life.archive(scratch.path, 100));
    std::filesystem::copy(folder + "/" + journal::archive_name(1, 100), folder + "/" + stray);
    const auto refused = life.archive(scratch.path, 150);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::conflict);
    CHECK(refused.error().message().starts_with(folder + "/" + stray +
                                                " holds other records than its name says. "));
    CHECK(refused.error().message().find("move it away") != std::string::npos);
    CHECK(life.history->healthy());
    CHECK(*read_archived(*life.history->log()) == 100);
    REQUIRE(life.host.close());
  }
  REQUIRE(std::filesystem::exists(folder + "/" + stray));
  const auto verified = verify_store(scratch.path);
  REQUIRE(verified);
  CHECK_FALSE(verified->sound);
  CHECK(verified->problem.starts_with(folder + "/" + stray));
  std::filesystem::remove(folder + "/" + stray);
  CHECK(verify_store(scratch.path)->sound);
  Life life(scratch.path, 30);
  CHECK(life.archive(scratch.path, 150));
  REQUIRE(life.host.close());
}

TEST_CASE("history: nothing is missing of an export, wherever it begins") {
  Scratch scratch;
  live(scratch.path, 20);
  const auto file = scratch.path + "/part.export";
  {
    const auto reader = open_reader(scratch.path);
    REQUIRE(reader);
    REQUIRE(journal::export_records(**reader, {30, 0}, file));
  }
  const auto reader = open_reader(file);
  REQUIRE(reader);
  CHECK(find_missing(**reader)->empty());
  CHECK(describe_missing(**reader, file)->empty());
}

TEST_CASE("history: an archive that dies at any moment loses no record and repeats none") {
  Scratch scratch;
  const auto base = scratch.path + "/base";
  live(base, 40);
  const auto truth = records_of(base, head_of(base));
  int deaths = 0;
  // Steps of the loop: each ends a job of the journal thread or calls back after one.
  for (std::uint64_t steps = 1;; ++steps) {
    const auto folder = scratch.path + "/" + std::to_string(steps);
    std::filesystem::copy(base, folder, std::filesystem::copy_options::recursive);
    std::filesystem::remove(folder + "/journal/lock.mdb");
    const pid_t pid = ::fork();
    if (pid == 0) {
      Life life(folder, 30);
      life.loop.stop_after_steps(steps);
      const auto file = life.archive(folder, 90);
      // Without closing anything: a death.
      ::_exit(file ? 0 : 9);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    REQUIRE(WIFEXITED(status));
    INFO("died after " << steps << " steps");
    check_whole(folder, truth);
    {
      // The next one finishes what this one began.
      Life life(folder, 30);
      const auto done = life.archive(folder, 95);
      if (!done) FAIL(done.error().message());
      REQUIRE(life.host.close());
    }
    check_whole(folder, truth);
    const auto files = journal::list_archive(archive_folder(folder));
    REQUIRE(files);
    Seq next = 1;
    for (const auto& file : *files) {
      CHECK(file.from == next);
      next = file.to + 1;
    }
    if (WEXITSTATUS(status) == 0) break;
    ++deaths;
    REQUIRE(deaths < 100);
  }
  CHECK(deaths >= 4);
}

TEST_CASE("history: nothing is archived of a store whose pass is running") {
  Scratch scratch;
  live(scratch.path, 20);
  Life life(scratch.path, 30);
  core::StartPass start;
  start.started.resources = 30;
  start.started.mode.mode = core::Mode::observe;
  life.host.run(start);
  const auto refused = life.archive(scratch.path, 20);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::conflict);
  CHECK(life.history->log()->read_head()->first == 1);
}

TEST_CASE("history: records are due by age and by size, the newest never") {
  Scratch scratch;
  live(scratch.path, 60);
  const auto reader = open_for_verify(scratch.path);
  REQUIRE(reader);
  const auto head = *(*reader)->read_head();
  WallNs last;
  REQUIRE((*reader)->read(head.seq, [&last](const journal::Record& record) {
    last = record.stamp.wall;
    return journal::Visit::stop;
  }));
  ArchiveLimits limits;
  CHECK_FALSE(find_due(**reader, limits, last)->has_value());
  limits.after_ns = 3 * 3600 * kNsPerSecond;
  const auto old = *find_due(**reader, limits, last);
  REQUIRE(old);
  CHECK(old->from == 1);
  // What is a little younger than the age goes along, so that not every pass has a few records due.
  const auto age_of = [&](Seq seq) {
    std::int64_t age_ns = 0;
    REQUIRE((*reader)->read(seq, [&](const journal::Record& record) {
      age_ns = last.ns - record.stamp.wall.ns;
      return journal::Visit::stop;
    }));
    return age_ns;
  };
  const auto young_ns = limits.after_ns - limits.after_ns / 8;
  CHECK(age_of(old->to) > young_ns);
  CHECK(age_of(old->to + 1) <= young_ns);
  CHECK(age_of(old->to) < limits.after_ns);
  // The oldest has not reached this age, if only just.
  limits.after_ns = age_of(1);
  CHECK_FALSE(find_due(**reader, limits, last)->has_value());
  limits.after_ns -= 1;
  CHECK(find_due(**reader, limits, last)->has_value());
  // All of it, but for the newest.
  CHECK((*find_due(**reader, limits, {last.ns + 365 * 86'400 * kNsPerSecond}))->to == head.seq - 1);
  limits = {};
  limits.above_bytes = (*reader)->read_usage()->live_bytes - 1;
  const auto large = *find_due(**reader, limits, last);
  REQUIRE(large);
  CHECK(large->to >= head.seq / 2);
  CHECK(large->to < head.seq * 3 / 4);
}
