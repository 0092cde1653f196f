// The host's word and the flags beside it.
#include "datum/core/status.hpp"

#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

using Flags = std::vector<StatusFlag>;

World::PassOptions observing() {
  World::PassOptions options;
  options.mode = Mode::observe;
  return options;
}

}  // namespace

TEST_CASE("status: without a finished pass the host is unknown") {
  World world;
  CHECK(world.status().condition == Condition::unknown);
  CHECK(world.status().reason == "no pass has finished");
}

TEST_CASE(
    "status: a drifted resource makes the host drifted in both modes, whatever else is unknown") {
  World world;
  world.machine.blind.insert(ref("File[b]"));
  world.pass(manifest_of({file("a", "/a"), file("b", "/b")}), observing());
  CHECK(world.status().condition == Condition::drifted);
  CHECK(flags_in(world.status().flags) == Flags{StatusFlag::observing});
  CHECK(world.status().observed_only_drifted == 1);
  CHECK(world.status().counts.unknown == 1);
}

TEST_CASE("status: one resource that could not be observed makes a converged host unknown") {
  World world;
  world.machine.blind.insert(ref("File[b]"));
  world.pass(manifest_of({file("a", "/a"), file("b", "/b")}));
  CHECK(world.status().condition == Condition::unknown);
  CHECK(world.status().reason == "a resource could not be observed");
}

TEST_CASE("status: a pending notification is not converged") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(world.status().condition == Condition::converged);
  world.append(NotificationRaised{
      1, {model::TargetFamily::unit, "w.service"}, ref("Service[w]"), ref("File[a]"), true});
  CHECK(world.status().condition == Condition::drifted);
  CHECK(world.status().pending_notifications == 1);
}

TEST_CASE("status: an interrupted pass makes the host unknown until one finishes") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest);
  world.start(manifest, {});
  world.run(InterruptPass{Interruption::stop, ""});
  CHECK(world.status().condition == Condition::unknown);
  world.pass(manifest);
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE("status: an accepted declaration without a finished pass makes the host unknown") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest);
  DeclarationId accepted;
  accepted.number = 2;
  accepted.manifest = manifest->digest;
  world.append(DeclarationAccepted{accepted, {}, {}});
  CHECK(world.status().reason == "no pass has finished for the accepted declaration");
  world.pass(manifest);
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE("status: a lost store is unknown until its last orphan is decided") {
  World world;
  world.append(StoreLossDetected{LossKind::missing, {path("/a"), path("/orphan")}});
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(world.status().condition == Condition::unknown);
  CHECK(flags_in(world.status().flags) == Flags{StatusFlag::store_lost});
  CHECK(world.state.loss->last_known_owned == std::vector{path("/orphan")});
  world.append(OwnershipReleased{0, path("/orphan"), ref("File[o]"), "a person decided"});
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE("status: a loss without orphans ends with the next finished pass") {
  World world;
  world.append(StoreLossDetected{LossKind::suspected, {}});
  CHECK(world.status().reason == "the store was lost and its orphans are undecided");
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE(
    "status: where everything is skipped the host is unknown, where something is it is partial") {
  World world;
  const auto skip = [&](const model::Target& target) {
    ResourceObserved seen;
    seen.target = target;
    seen.condition = Condition::skipped;
    world.append(seen);
  };
  world.pass(manifest_of({file("a", "/a")}));
  skip(path("/b"));
  CHECK(world.status().condition == Condition::converged);
  CHECK(flags_in(world.status().flags) == Flags{StatusFlag::partial});
  skip(path("/a"));
  CHECK(world.status().condition == Condition::unknown);
}

TEST_CASE("status: an acknowledgement is counted while it stands and never changes the word") {
  World world;
  world.pass(manifest_of({file("a", "/a")}), observing());
  world.run(Acknowledge{path("/a"), {}, "known", WallNs{world.now.ns + kNsPerSecond}});
  CHECK(world.status().condition == Condition::drifted);
  CHECK(world.status().acknowledged_drifted == 1);
  world.advance(1);
  CHECK(world.status().acknowledged_drifted == 0);
}

TEST_CASE("status: what left the declaration is drift until it is gone or let go, in any mode") {
  World world;
  const auto both = manifest_of({file("a", "/a"), file("b", "/b")});
  const auto one = manifest_of({file("a", "/a")});
  world.pass(both);
  world.pass(one, observing());
  CHECK(world.status().condition == Condition::drifted);
  CHECK(world.status().leaving == 1);
  CHECK(world.status().counts.drifted == 0);
  world.pass(both, observing());
  CHECK(world.status().leaving == 0);
  world.pass(one);
  CHECK(world.status().condition == Condition::converged);
  CHECK(world.status().leaving == 0);
}

TEST_CASE("status: a failed action is a flag, and the word follows what was observed") {
  World world;
  World::PassOptions options;
  options.fault = [](const Action&) { return "broken"; };
  world.pass(manifest_of({file("a", "/a")}), options);
  CHECK(world.status().condition == Condition::drifted);
  CHECK(flags_in(world.status().flags) == Flags{StatusFlag::failed});
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(world.status().condition == Condition::converged);
  CHECK(world.status().flags == 0);
}

TEST_CASE("status: a host is stale after three periods, but only one that runs passes by itself") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  world.advance(91 * 60);
  StatusInput input;
  input.now = world.now;
  CHECK(compute_status(world.state, input).flags == 0);
  input.timer_expected = true;
  CHECK(flags_in(compute_status(world.state, input).flags) == Flags{StatusFlag::stale});
}

TEST_CASE("status: mixed mode and degraded come from the end of the last pass") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  FinishPass finish;
  finish.now = world.now;
  finish.observed_only = 2;
  finish.observed_only_drifted = 1;
  finish.extra_flags = static_cast<std::uint32_t>(StatusFlag::degraded);
  world.run(finish);
  CHECK(flags_in(world.status().flags) == Flags{StatusFlag::degraded, StatusFlag::mixed_mode});
  CHECK(world.status().observed_only_drifted == 1);
}

TEST_CASE("status: a version that has not confirmed itself is flagged") {
  World world;
  world.append(VersionConfirmed{"0.9", 1});
  CHECK(flags_in(world.status().flags) == Flags{StatusFlag::unconfirmed});
  world.append(VersionConfirmed{"1.0", 1});
  CHECK(world.status().flags == 0);
}

TEST_CASE("status: the recorded word and flags are those that status shows afterwards") {
  World world;
  world.pass(manifest_of({file("a", "/a"), file("b", "/missing/b")}));
  CHECK(world.state.last_pass->finished.condition == world.status().condition);
  CHECK(world.state.last_pass->finished.flags == world.status().flags);
}

TEST_CASE("status: words have exit codes") {
  CHECK(exit_code(Condition::converged) == 0);
  CHECK(exit_code(Condition::drifted) == 2);
  CHECK(exit_code(Condition::unknown) == 4);
}

TEST_CASE(
    "status: a pass that was stopped after an action failed has the flag failed until another") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.run(announce_first(world, manifest).results);
  world.run(InterruptPass{Interruption::stop, ""});
  CHECK((world.status().flags & static_cast<std::uint32_t>(StatusFlag::failed)) != 0);
  world.pass(manifest);
  CHECK((world.status().flags & static_cast<std::uint32_t>(StatusFlag::failed)) == 0);
}

TEST_CASE(
    "status: what asks for a restart is told once, is a flag, and ends with it or by itself") {
  World world;
  const auto has = [&world] {
    return (world.status().flags & static_cast<std::uint32_t>(StatusFlag::awaiting_reboot)) != 0;
  };
  CHECK(world.run(RecordReboot{""}).empty());
  CHECK(world.run(RecordReboot{"libc6"}).size() == 1);
  CHECK(has());
  CHECK(world.run(RecordReboot{"libc6"}).empty());
  CHECK(all_of_kind<RebootRequired>(world.run(RecordReboot{"libc6, kernel"})).front().by ==
        "libc6, kernel");
  const auto ended = world.run(RecordReboot{""});
  REQUIRE(all_of_kind<RebootRequired>(ended).size() == 1);
  CHECK(all_of_kind<RebootRequired>(ended).front().by.empty());
  CHECK(all_of_kind<RebootSeen>(ended).empty());  // no other boot was seen
  CHECK_FALSE(has());
  CHECK(world.run(RecordReboot{""}).empty());
}
