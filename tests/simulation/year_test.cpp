// What a store holds after a long time: production core and history over the real journal, without
// the work of files. A month of 1,000 resources in every run, a year of 10,000 in the long one.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <random>

#include "datum/codec/checkpoint.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/open.hpp"
#include "driven_host.hpp"
#include "support/scratch_folder.hpp"
#include "support/sim_loop.hpp"

using namespace datum;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr std::int64_t kPeriodNs = 300 * kNsPerSecond;

struct Extent {
  std::size_t resources = 1'000;
  int days = 30;
  history::ArchiveLimits limits;
};

// The State as it was at one record.
struct Moment {
  Seq seq = 0;
  Digest state;
};

Digest digest_of(const core::State& state) {
  return crypto::sha256(codec::encode_state(state));
}

// What the run knows that the store must hold: outside of it.
struct Oracle {
  std::uint64_t passes = 0, corrections = 0, records = 0, archives = 0;
  std::vector<Moment> moments;
};

struct Folder : support::ScratchFolder {
  Folder() : ScratchFolder("year") {}
};

void archive_due(support::SimLoop& loop, history::History& history, const std::string& folder,
                 const history::ArchiveLimits& limits, Oracle& oracle) {
  for (;;) {
    const auto due = history::find_due(*history.log(), limits, loop.clock().wall_now());
    REQUIRE(due);
    if (!*due) return;
    const auto file = history::first_file_of(*history.log(), **due);
    REQUIRE(file);
    Result<journal::ArchiveFile> result = fail(ErrorCode::internal, "nothing was told");
    history.archive(*file, history::archive_folder(folder),
                    [&result](Result<journal::ArchiveFile> told) { result = std::move(told); });
    loop.run();
    if (!result) FAIL(result.error().message());
    ++oracle.archives;
  }
}

// Every twentieth day or so the service is started anew, as on a machine that is kept up to date.
Oracle live(const std::string& folder, const Extent& extent) {
  Oracle oracle;
  support::SimLoop loop(11);
  simulation::DrivenHost host(loop, extent.resources);
  std::mt19937 random(42);
  const int per_day = static_cast<int>(86'400 * kNsPerSecond / kPeriodNs);
  std::unique_ptr<history::History> history;
  for (int day = 0; day < extent.days; ++day) {
    if (day % 20 == 0) {
      if (history) REQUIRE(host.close());
      history.reset();
      auto opened = history::open_history(loop, folder);
      if (!opened) FAIL(opened.error().message());
      history = std::move(*opened);
      host.use(*history);
      host.begin();
    }
    for (int i = 0; i < per_day; ++i) {
      loop.suspend(kPeriodNs);
      // One target that somebody else writes all the time, and now and then a change by hand.
      std::vector<std::size_t> drifted = {extent.resources / 2};
      if (random() % 24 == 0) drifted.push_back(random() % (extent.resources / 2));
      host.pass(drifted);
      ++oracle.passes;
      oracle.corrections += drifted.size();
      if (i % 16 == 15) REQUIRE(host.settle());
    }
    REQUIRE(host.settle());
    if (day % 5 == 2) oracle.moments.push_back({history->state().seq, digest_of(history->state())});
    archive_due(loop, *history, folder, extent.limits, oracle);
  }
  REQUIRE(host.close());
  oracle.records = history->state().seq;
  return oracle;
}

struct Found {
  std::uint64_t passes = 0, corrections = 0, records = 0;
  bool is_dense = true;
  std::vector<Moment> moments;
};

// Replays everything from the first record, without any checkpoint.
Found replay(journal::Reader& reader, const std::vector<Moment>& wanted) {
  Found found;
  core::State state;
  REQUIRE(history::scan_events(reader, 1, [&](const history::StoredEvent& stored) {
    found.is_dense = found.is_dense && stored.place.seq == ++found.records;
    found.passes += std::holds_alternative<core::PassFinished>(stored.event) ? 1 : 0;
    found.corrections += std::holds_alternative<core::ActionSucceeded>(stored.event) ? 1 : 0;
    core::evolve(state, stored.event, stored.place);
    const auto next = found.moments.size();
    if (next < wanted.size() && wanted[next].seq == state.seq)
      found.moments.push_back({state.seq, digest_of(state)});
    return journal::Visit::go_on;
  }));
  return found;
}

// Each moment that the run saw is told by the replay as it was, also where its records are archived
// since.
void compare_moments(const std::vector<Moment>& replayed, const std::vector<Moment>& seen,
                     Seq archived) {
  REQUIRE(replayed.size() == seen.size());
  std::size_t of_archive = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    INFO("record " << seen[i].seq);
    CHECK(replayed[i].state == seen[i].state);
    of_archive += seen[i].seq <= archived ? 1 : 0;
  }
  CHECK(of_archive > 0);
}

void check(const Extent& extent) {
  Folder scratch;
  const auto oracle = live(scratch.path, extent);
  const auto log = history::open_for_verify(scratch.path);
  REQUIRE(log);
  const auto usage = *(*log)->read_usage();
  const auto files = *journal::list_archive(history::archive_folder(scratch.path));
  std::uint64_t archived = 0;
  for (const auto& file : files) archived += file.bytes;
  std::printf(
      "# %zu resources, %d days, a pass every 5 minutes, one target contested: %lu records, "
      "journal %lu KiB (%lu in use), archive %lu KiB in %zu files\n",
      extent.resources, extent.days, static_cast<unsigned long>(oracle.records),
      static_cast<unsigned long>(usage.file_bytes / 1024),
      static_cast<unsigned long>(usage.live_bytes / 1024),
      static_cast<unsigned long>(archived / 1024), files.size());
  CHECK(usage.file_bytes + archived < kGiB);
  CHECK(oracle.archives > 0);
  CHECK(files.size() == oracle.archives);
  const auto reader = history::open_reader(scratch.path);
  REQUIRE(reader);
  const auto found = replay(**reader, oracle.moments);
  CHECK(found.is_dense);
  CHECK(found.records == oracle.records);
  CHECK(found.passes == oracle.passes);
  CHECK(found.corrections == oracle.corrections);
  compare_moments(found.moments, oracle.moments, files.back().to);
  const auto replayed = history::fold(**reader, 0, false);
  const auto known = history::fold(**reader, 0, true);
  REQUIRE(replayed);
  REQUIRE(known);
  CHECK(*replayed == *known);
}

}  // namespace

// A month of 1,000 resources, or, where year.py asks for it, a year of 10,000.
TEST_CASE("growth: the journal stays under 1 GiB, and every archived event is found") {
  Extent extent;
  if (::getenv("DATUM_GROWTH") != nullptr) {
    extent.resources = 10'000;
    extent.days = 365;
    // A year at the limits' defaults would archive nothing.
    extent.limits.after_ns = 60 * 86'400 * kNsPerSecond;
  } else {
    // Small limits, so that a month archives as often as years do with the defaults.
    extent.limits.above_bytes = 16 * 1024 * 1024;
  }
  check(extent);
}
