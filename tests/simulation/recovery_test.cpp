// What a process that died in mid-pass leaves to the next one: each promise of the design's
// "Recovery", told by the journal of the production engine over a modelled machine.
#include <catch2/catch.hpp>

#include "sim_fleet.hpp"
#include "sim_host.hpp"

using namespace datum;
using namespace datum::simulation;
using core::RecoveredOutcome;

TEST_CASE("recovery: what was renamed before its result was durable took effect, and stays done") {
  Host host;
  host.site.files.put_file("/etc/updated", "old");
  host.site.files.settle();
  const auto manifest = declare({{"/etc/created", "new"}, {"/etc/updated", "new"}});
  host.die(manifest, "renamed", 2);
  REQUIRE(host.live(manifest));
  const auto recovered = host.events<core::ActionRecovered>();
  REQUIRE(recovered.size() == 2);
  for (const auto& one : recovered) CHECK(one.outcome == RecoveredOutcome::took_effect);
  for (const auto& action : host.report->plan->actions) CHECK_FALSE(core::is_mutating(action.kind));
  CHECK(host.events<core::ActionsAnnounced>().size() == 1);
  CHECK(host.report->status.condition == core::Condition::converged);
  CHECK(host.state.owned.at({model::TargetFamily::path, "/etc/created"}).created);
  CHECK_FALSE(host.state.owned.at({model::TargetFamily::path, "/etc/updated"}).created);
  host.site.cut_power();
  CHECK(host.text("/etc/created") == "new");
  CHECK(host.text("/etc/updated") == "new");
}

TEST_CASE("recovery: finished actions of the dead pass are not repeated") {
  Host host;
  const auto manifest = declare({{"/srv/folder/", ""}, {"/srv/folder/file", "x"}});
  host.die(manifest, "stage", 2);  // the folder was a wave of its own
  REQUIRE(host.live(manifest));
  std::size_t made = 0;
  for (const auto& done : host.events<core::ActionSucceeded>())
    made += done.target.name == "/srv/folder" ? 1 : 0;
  CHECK(made == 1);
  CHECK(host.text("/srv/folder/file") == "x");
  CHECK(host.events<core::PassInterrupted>().size() == 1);
}

TEST_CASE(
    "recovery: under a newer declaration the dead pass ends as interrupted, claiming nothing") {
  Host host;
  host.die(declare({{"/etc/created", "one"}}), "renamed");
  const auto newer = declare({{"/etc/created", "two"}});
  REQUIRE(host.live(newer));
  REQUIRE(host.events<core::PassInterrupted>().size() == 1);
  CHECK(host.events<core::PassInterrupted>().front().cause == core::Interruption::crash);
  // Without the manifest that it was made from, what lies there may be anybody's.
  CHECK(host.events<core::ActionRecovered>().front().outcome == RecoveredOutcome::untellable);
  CHECK(host.text("/etc/created") == "two");
  CHECK_FALSE(host.state.owned.at({model::TargetFamily::path, "/etc/created"}).created);
}

TEST_CASE("recovery: a mode lowered after the crash changes nothing, and the next enforce does") {
  Host host;
  const auto manifest = declare({{"/etc/a", "x"}, {"/etc/b", "x"}});
  host.die(manifest, "sync");  // both are staged
  REQUIRE(host.leftovers() == 2);
  const auto tree = describe_tree(host.site);
  Order observe;
  observe.manifest = manifest;
  observe.mode = core::Mode::observe;
  REQUIRE(host.live(observe));
  CHECK(describe_tree(host.site) == tree);
  CHECK(host.state.leftovers.size() == 2);
  CHECK(host.report->status.condition == core::Condition::drifted);
  for (const auto& one : host.events<core::ActionRecovered>())
    CHECK(one.outcome == RecoveredOutcome::did_not);
  REQUIRE(host.live(manifest));
  CHECK(host.leftovers() == 0);
  CHECK(host.state.leftovers.empty());
  CHECK(host.report->status.condition == core::Condition::converged);
}

TEST_CASE("recovery: what was running when the process died runs alone from then on") {
  Host host;
  const auto manifest = declare({{"/etc/a", "x"}, {"/etc/b", "x"}, {"/etc/c", "x"}});
  host.die(manifest, "stage");
  REQUIRE(host.live(manifest));
  const auto waves = host.events<core::ActionsAnnounced>();
  REQUIRE(waves.size() == 4);
  CHECK(waves.front().actions.size() == 3);
  for (std::size_t i = 1; i < waves.size(); ++i) CHECK(waves[i].actions.size() == 1);
  CHECK(host.report->status.condition == core::Condition::converged);
}

TEST_CASE("recovery: another version of the host lets a quarantined action run again") {
  Host host;
  const auto manifest = declare({{"/etc/a", "x"}});
  for (int death = 0; death < 3; ++death) host.die(manifest, "stage");
  REQUIRE(host.live(manifest));
  CHECK(host.state.quarantined.size() == 1);
  Order next;
  next.manifest = manifest;
  next.version = "2";
  REQUIRE(host.live(next));
  CHECK(host.state.quarantined.empty());
  CHECK(host.text("/etc/a") == "x");
}

TEST_CASE("recovery: the third death alone quarantines one action, and --retry lets it run again") {
  Host host;
  const auto manifest = declare({{"/etc/a", "x"}, {"/etc/b", "x"}});
  host.die(manifest, "stage");  // in a wave of two: nobody's fault yet
  for (int death = 0; death < 3; ++death) {
    CHECK(host.state.quarantined.empty());
    host.die(manifest, "stage");
  }
  REQUIRE(host.live(manifest));
  const auto& stuck = host.report->outcomes.at(0);
  CHECK(stuck.phase == core::Phase::failed);
  CHECK(stuck.message.starts_with("quarantined: the host died 3 times"));
  CHECK(host.text("/etc/a") == "(nothing)");
  CHECK(host.text("/etc/b") == "x");  // the other one goes on
  Order retry;
  retry.manifest = manifest;
  retry.retry = true;
  retry.mode = core::Mode::observe;
  REQUIRE(host.live(retry));
  CHECK(host.state.quarantined.size() == 1);  // nothing was retried
  retry.mode = core::Mode::enforce;
  REQUIRE(host.live(retry));
  CHECK(host.text("/etc/a") == "x");
  CHECK(host.report->status.condition == core::Condition::converged);
  CHECK(host.state.quarantined.empty());
  CHECK(host.state.suspects.empty());
}

TEST_CASE("recovery: a newer declaration lets a quarantined action run again") {
  Host host;
  for (int death = 0; death < 3; ++death) host.die(declare({{"/etc/a", "x"}}), "stage");
  REQUIRE(host.live(declare({{"/etc/a", "x"}})));
  CHECK(host.state.quarantined.size() == 1);
  REQUIRE(host.live(declare({{"/etc/a", "y"}})));
  CHECK(host.state.quarantined.empty());
  CHECK(host.text("/etc/a") == "y");
}

TEST_CASE("recovery: one that dies at any moment is begun again and finds the same") {
  for (std::uint64_t steps = 1;; ++steps) {
    Host host;
    const auto manifest = declare({{"/etc/a", "x"}, {"/srv/b", "x"}});
    host.die(manifest, "renamed");  // one is renamed, the other staged
    Order second;
    second.manifest = manifest;
    Fault fault;
    fault.kind = steps % 2 == 0 ? FaultKind::kill : FaultKind::power_cut;
    fault.after_steps = steps;
    second.faults.push_back(fault);
    const bool ended = host.live(second);
    INFO("dies after " << steps << " steps");
    REQUIRE(host.live(manifest));
    std::size_t took = 0;
    for (const auto& one : host.events<core::ActionRecovered>())
      took += one.outcome == RecoveredOutcome::took_effect ? 1 : 0;
    CHECK(took <= 2);
    CHECK(took >= (fault.kind == FaultKind::kill ? 1 : 0));
    CHECK(host.report->status.condition == core::Condition::converged);
    CHECK(host.leftovers() == 0);
    CHECK(host.state.leftovers.empty());
    if (ended) break;
    REQUIRE(steps < 1000);
  }
}

TEST_CASE("pass: a hold or a stop that comes in mid-pass ends it after the wave that runs") {
  const auto manifest =
      declare({{"/srv/a/", ""}, {"/srv/a/b/", ""}, {"/srv/a/b/c/", ""}, {"/srv/a/b/c/d", "x"}});
  for (const auto kind : {FaultKind::hold, FaultKind::stop}) {
    INFO("kind " << static_cast<int>(kind));
    bool came_between = false;
    for (std::uint64_t step = 1; step < 200 && !came_between; ++step) {
      Host host;
      Order order;
      order.manifest = manifest;
      order.faults.emplace_back();
      order.faults.back().kind = kind;
      order.faults.back().after_steps = step;
      REQUIRE(host.live(std::move(order)));
      const auto waves = host.events<core::ActionsAnnounced>().size();
      came_between = waves == 1 || waves == 2;  // of four
      if (!came_between) continue;
      CHECK_FALSE(host.report->cut_short.empty());
      REQUIRE(host.events<core::ActionsNotStarted>().size() == 1);
      CHECK(host.events<core::ActionsNotStarted>()[0].ordinals.size() == 4 - waves);
      CHECK(host.events<core::PassInterrupted>().size() == 1);
      CHECK(host.text("/srv/a/b/c/d") == "(nothing)");
      REQUIRE(host.live(manifest));
      CHECK(host.text("/srv/a/b/c/d") == "x");
    }
    CHECK(came_between);
  }
}
