// From records to windows: from when on a target was no longer as declared.
#include <catch2/catch.hpp>

#include "records.hpp"

namespace {

using namespace datum;
using namespace datum::inspect;
using test::Records;

using core::Condition;

std::vector<DriftWindow> windows_of(Records& records) {
  std::vector<history::StoredEvent> events;
  for (Seq seq = records.archived + 1; seq <= records.size(); ++seq) {
    const auto stored = history::read_event(records, seq);
    REQUIRE(stored);
    for (const auto* about : core::targets_of(stored->event))
      if (*about == records.target) events.push_back(*stored);
  }
  auto found = find_drift_windows(records, events);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("windows: one begins with the last finished pass that still found it good") {
  Records records;
  records.pass(Condition::converged);
  records.quiet_pass();
  const auto last = records.quiet_pass();
  records.begin_pass();
  const auto drift = records.observe(Condition::drifted);
  const auto windows = windows_of(records);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].good_pass == last);
  CHECK(windows[0].from.ns == records.wall_of(last));
  CHECK(windows[0].drift == drift);
  CHECK(windows[0].to.ns == records.wall_of(drift));
  CHECK(windows[0].own.empty());
}

TEST_CASE("windows: a pass that did not finish proves nothing") {
  Records records;
  const auto good = records.pass(Condition::converged);
  records.begin_pass();  // died
  records.begin_pass();
  records.observe(Condition::drifted);
  const auto windows = windows_of(records);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].good == good);
  CHECK(windows[0].good_pass == 0);
  CHECK(windows[0].from.ns == records.wall_of(good - 1));  // where that pass began
}

TEST_CASE("windows: after a correction one begins when the correction began") {
  Records records;
  records.begin_pass();
  records.observe(Condition::drifted);
  const auto corrected = records.correct(7);
  records.end_pass();
  records.begin_pass();
  records.observe(Condition::drifted);
  const auto windows = windows_of(records);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].good == corrected);
  CHECK(windows[0].from.ns == records.wall_of(corrected) - 7 * kNsPerSecond);
}

TEST_CASE("windows: what was never seen as declared has none") {
  Records records;
  records.pass(Condition::drifted);
  records.quiet_pass();
  records.pass(Condition::drifted);
  CHECK(windows_of(records).empty());
}

TEST_CASE("windows: what could not be seen in between was not good in between") {
  Records records;
  records.pass(Condition::converged);
  const auto last = records.quiet_pass();
  records.pass(Condition::unknown);
  records.quiet_pass();
  records.begin_pass();
  records.observe(Condition::drifted);
  const auto windows = windows_of(records);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].good_pass == last);
}

TEST_CASE("windows: what no document declared in between has none, however many left with it") {
  for (const std::size_t others : {0U, 100U}) {
    Records records;
    records.pass(Condition::converged);
    core::ResourcesForgotten forgotten;
    for (std::size_t i = 0; i < others; ++i)
      forgotten.targets.push_back({model::TargetFamily::path, "/" + std::to_string(i)});
    forgotten.targets.push_back(records.target);
    records.begin_pass();
    records.add(forgotten);
    records.end_pass();
    records.quiet_pass();
    records.pass(Condition::drifted);
    CHECK(windows_of(records).empty());
  }
}

TEST_CASE("windows: what Datum did to it in between is told") {
  Records records;
  records.pass(Condition::converged);
  records.begin_pass();
  core::ActionRecovered recovered;
  recovered.target = records.target;
  const auto own = records.add(recovered);
  records.observe(Condition::drifted);
  const auto windows = windows_of(records);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].own == std::vector<Seq>{own});
}

TEST_CASE(
    "windows: a clock that was set in between is told, one that was slewed or a reboot is not") {
  for (const std::int64_t set_s : {-3600, -1, 0, 1, 3600}) {
    Records records;
    records.pass(Condition::converged);
    records.wall_ahead_s += set_s;
    records.pass(Condition::drifted);
    const auto windows = windows_of(records);
    REQUIRE(windows.size() == 1);
    const auto told = set_s * set_s > 1 ? set_s * kNsPerSecond : 0;
    CHECK(windows[0].clock_jump_ns == told);
  }
  Records records;
  records.pass(Condition::converged);
  records.boot = Id128{{2}};
  records.now_s = 5;
  records.pass(Condition::drifted);
  CHECK(windows_of(records).at(0).clock_jump_ns == 0);
}

TEST_CASE("windows: a declaration that changed since the last good look is told") {
  for (const bool changed : {false, true}) {
    Records records;
    records.pass(Condition::converged);
    records.quiet_pass();
    if (changed) records.manifest = 2;
    records.pass(Condition::drifted);
    const auto windows = windows_of(records);
    REQUIRE(windows.size() == 1);
    CHECK(windows[0].declaration_changed == changed);
  }
  // After a correction under the new one it is the same declaration again.
  Records records;
  records.pass(Condition::converged);
  records.manifest = 2;
  records.begin_pass();
  records.observe(Condition::drifted);
  records.correct();
  records.end_pass();
  records.pass(Condition::drifted);
  const auto windows = windows_of(records);
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].declaration_changed);
  CHECK_FALSE(windows[1].declaration_changed);
}

TEST_CASE(
    "windows: where the beginning of the journal is archived there is no window, and no error") {
  Records records;
  records.pass(Condition::converged);
  records.archived = 1;  // the start of that pass
  records.pass(Condition::drifted);
  CHECK(windows_of(records).empty());
}
