// Going on without a disk: what was not durable is dropped, and what comes back is what the journal
// holds.
#include <catch2/catch.hpp>
#include <cerrno>

#include "datum/journal/sim_log.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::history;
using namespace datum::history::test;

namespace {

journal::OpenOptions options() {
  journal::OpenOptions options;
  options.indexes = index_names();
  options.walk_limit_ms = 3'600'000;  // a busy machine makes no test fail
  return options;
}

// A host over a simulated disk, whose store was created durably.
struct Site {
  Site() : host(loop, 20) {
    host.use(*history);
    host.begin();
    host.pass({});
    REQUIRE(host.settle());
    history->keep_durable_state();
  }
  // The next sync, or the one after it, fails with this errno.
  void break_disk(int number, std::uint64_t nth = 1) const {
    journal::SimFaults faults;
    faults.fail_sync = nth;
    faults.sync_errno = number;
    disk->set_faults(faults);
  }
  static std::unique_ptr<History> open(support::SimLoop& loop,
                                       const std::shared_ptr<journal::SimDisk>& disk) {
    auto log = journal::open_sim_log(disk, options(), 1);
    REQUIRE(log);
    auto opened = History::open(loop, std::move(*log));
    REQUIRE(opened);
    return std::move(*opened);
  }

  // What was durable may be the begin of a pass.
  void end_dead_pass() {
    if (history->state().pass)
      host.run(core::InterruptPass{core::Interruption::crash, "its end was not durable"});
  }

  support::SimLoop loop{3};
  std::shared_ptr<journal::SimDisk> disk = std::make_shared<journal::SimDisk>(1);
  std::unique_ptr<History> history = open(loop, disk);
  simulation::DrivenHost host;
};

}  // namespace

TEST_CASE("history: after a failed commit the State goes back to the last durable sequence") {
  const int number = GENERATE(EIO, EDQUOT, ENOSPC);
  Site site;
  // What has become durable since it was opened is part of that.
  site.host.pass({3});
  REQUIRE(site.host.settle());
  const auto durable = site.history->state();
  site.break_disk(number);
  site.host.pass({1, 2});
  const auto told = site.host.settle();
  REQUIRE_FALSE(told);
  CHECK(told.error().sys_errno() == number);
  CHECK_FALSE(site.history->healthy());
  CHECK_FALSE(site.history->execute(core::CloseStore{"no"}));
  site.history->go_unrecorded();
  CHECK(site.history->is_unrecorded());
  CHECK(site.history->state() == durable);
  // It goes on looking, from memory.
  site.end_dead_pass();
  site.host.pass({4});
  REQUIRE(site.host.settle());
  CHECK(site.history->state().resources.size() == 20);
}

TEST_CASE("history: coming back tells how many events nobody kept, and replay agrees") {
  const std::uint64_t nth = GENERATE(1, 2);
  Site site;
  const auto durable = site.history->state();
  site.break_disk(EIO, nth);
  site.host.pass({1, 2});
  const auto failed = site.host.settle();
  REQUIRE_FALSE(failed);
  site.history->go_unrecorded();
  site.end_dead_pass();
  site.host.pass({});
  auto log = journal::open_sim_log(site.disk, options(), 1);
  REQUIRE(log);
  const auto held = (*log)->read_head()->seq;
  REQUIRE(site.history->resume(std::move(*log), failed.error()));
  REQUIRE(site.host.settle());
  CHECK_FALSE(site.history->is_unrecorded());
  CHECK(site.history->state().seq == held + 2);
  site.end_dead_pass();
  CHECK(held >= durable.seq);
  site.host.pass({3});
  REQUIRE(site.host.settle());
  const auto live = site.history->state();
  const auto replayed = fold(*site.history->log(), 0, false);
  REQUIRE(replayed);
  CHECK(*replayed == live);
  std::uint64_t dropped = 0;
  REQUIRE(scan_events(*site.history->log(), held + 1, [&](const StoredEvent& stored) {
    if (const auto* again = std::get_if<core::StoreWritableAgain>(&stored.event))
      dropped = again->dropped;
    return journal::Visit::go_on;
  }));
  CHECK(dropped > 0);
}

TEST_CASE("history: a store that lacks what was durable is not taken back") {
  Site site;
  site.break_disk(EIO);
  site.host.pass({1});
  REQUIRE_FALSE(site.host.settle());
  site.history->go_unrecorded();
  auto other = std::make_shared<journal::SimDisk>(2);
  auto log = journal::open_sim_log(other, options(), 2);
  REQUIRE(log);
  const auto resumed = site.history->resume(std::move(*log), {ErrorCode::io_error, "it failed"});
  REQUIRE_FALSE(resumed);
  CHECK(resumed.error().code() == ErrorCode::corrupt);
  CHECK(site.history->is_unrecorded());
}
