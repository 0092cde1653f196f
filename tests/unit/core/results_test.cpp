// How actions end: ownership, blocking, repeated failures, contests, notifications.
#include <algorithm>
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

World::PassOptions failing(const std::string& name, const std::string& fault) {
  World::PassOptions options;
  options.fault = [name, fault](const Action& action) {
    return action.target.name == name ? fault : std::string();
  };
  return options;
}

const ActionBlocked* blocked_at(const std::vector<ActionBlocked>& blocked,
                                const std::string& name) {
  const auto at = std::find_if(blocked.begin(), blocked.end(),
                               [&](const auto& each) { return each.target.name == name; });
  return at == blocked.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("results: what did not exist is owned as created, what did as adopted") {
  World world;
  world.machine.put("/b", Found::file, "old");
  world.machine.put("/c", Found::symlink, "/x");
  const auto events =
      world.pass(manifest_of({file("a", "/a"), file("b", "/b", "new"), file("c", "/c")}));
  CHECK(all_of_kind<OwnershipCreated>(events).size() == 1);
  CHECK(all_of_kind<OwnershipAdopted>(events).size() == 2);
  CHECK(world.state.owned.at(path("/a")).created);
  CHECK_FALSE(world.state.owned.at(path("/b")).created);
  CHECK(world.state.owned.at(path("/b")).left.content == digest_of("new"));
}

TEST_CASE("results: ownership stands before the success that it belongs to") {
  World world;
  const auto events = world.pass(manifest_of({file("a", "/a")}));
  const auto place = [&](EventKind kind) {
    const auto at = std::find_if(events.begin(), events.end(),
                                 [&](const Event& event) { return kind_of(event) == kind; });
    REQUIRE(at != events.end());
    return at - events.begin();
  };
  CHECK(place(EventKind::ownership_created) + 1 == place(EventKind::action_succeeded));
  CHECK(world.state.owned.at(path("/a")).left.found == Found::file);
}

TEST_CASE("results: an adopted target that is made anew stays adopted and is never removed") {
  World world;
  world.machine.put("/a", Found::file, "x");
  const auto manifest = manifest_of({file("a", "/a"), file("z", "/z")});
  world.pass(manifest);
  world.machine.take("/a");
  world.pass(manifest);
  CHECK_FALSE(world.state.owned.at(path("/a")).created);
  world.pass(manifest_of({file("z", "/z")}));
  CHECK(world.machine.find("/a") != nullptr);
  CHECK_FALSE(world.state.owned.contains(path("/a")));
}

TEST_CASE("results: an existing target that no longer was absent at the announcement is adopted") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  world.machine.put("/a", Found::file, "somebody was faster");
  world.announce(*plan, {0});
  RecordResults results{plan, manifest.get(), {}, world.now};
  results.results.push_back(world.machine.act(plan->actions[0], *manifest));
  world.run(results);
  CHECK_FALSE(world.state.owned.at(path("/a")).created);
}

TEST_CASE("results: a failure blocks its dependents through the whole chain and nobody else") {
  World world;
  auto b = file("b", "/b");
  b.requirements = {ref("File[a]")};
  auto c = file("c", "/c");
  c.requirements = {ref("File[b]")};
  const auto events = world.pass(manifest_of({file("a", "/a"), b, c, file("d", "/d")}),
                                 failing("/a", "no space left"));
  const auto blocked = all_of_kind<ActionBlocked>(events);
  REQUIRE(blocked.size() == 2);
  CHECK(blocked_at(blocked, "/b")->by == std::vector{ref("File[a]")});
  CHECK(blocked_at(blocked, "/b")->reason == "File[a] failed: no space left");
  CHECK(blocked_at(blocked, "/c")->by == std::vector{ref("File[b]")});
  CHECK(blocked_at(blocked, "/c")->reason == "File[b] is blocked: File[a] failed: no space left");
  CHECK(world.machine.find("/d") != nullptr);
  CHECK(world.machine.find("/b") == nullptr);
  const auto& finished = world.state.last_pass->finished;
  CHECK(finished.failed == 1);
  CHECK(finished.blocked == 2);
  CHECK(finished.succeeded == 1);
}

TEST_CASE("results: a refusal blocks what depends on it before anything runs") {
  World world;
  world.machine.put("/a", Found::directory);
  auto b = file("b", "/b");
  b.requirements = {ref("File[a]")};
  const auto events = world.pass(manifest_of({file("a", "/a"), b}));
  CHECK(all_of_kind<ActionFailed>(events).front().error == ErrorCode::refused);
  CHECK(all_of_kind<ActionBlocked>(events).front().reason.find("File[a] failed: type conflict") ==
        0);
  CHECK(all_of_kind<ActionsAnnounced>(events).empty());
}

TEST_CASE("results: what waits for a resource that is only observed says so") {
  World world;
  auto a = file("a", "/a");
  a.requirements = {ref("File[b]")};
  auto b = file("b", "/b");
  b.observe_only = true;
  const auto events = world.pass(manifest_of({a, b}));
  REQUIRE(all_of_kind<ActionBlocked>(events).size() == 1);
  CHECK(all_of_kind<ActionBlocked>(events).front().reason ==
        "File[b] is drifted and only observed");
  world.machine.blind.insert(ref("File[b]"));
  const auto unseen = world.pass(manifest_of({a, b}));
  CHECK(all_of_kind<ActionBlocked>(unseen).front().reason == "File[b] could not be observed");
}

TEST_CASE("results: what was changed since it was observed is skipped and blocks its dependents") {
  World world;
  auto b = file("b", "/b");
  b.requirements = {ref("File[a]")};
  const auto events = world.pass(manifest_of({file("a", "/a"), b}), failing("/a", "skip"));
  CHECK(all_of_kind<ActionSkipped>(events).size() == 1);
  CHECK(all_of_kind<ActionBlocked>(events).front().reason.find("File[a] was skipped") == 0);
  CHECK(world.state.last_pass->finished.skipped == 1);
}

TEST_CASE("results: an identical repeated failure refers to the first and carries no text") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  const auto options = failing("/a", "broken");
  const auto first = all_of_kind<ActionFailed>(world.pass(manifest, options)).front();
  CHECK(first.same_as == 0);
  CHECK(first.message == "broken");
  const auto seq = world.state.failures.at(path("/a")).first;
  for (int i = 0; i < 3; ++i) {
    const auto again = all_of_kind<ActionFailed>(world.pass(manifest, options)).front();
    CHECK(again.same_as == seq);
    CHECK(again.message.empty());
  }
  const auto other =
      all_of_kind<ActionFailed>(world.pass(manifest, failing("/a", "other"))).front();
  CHECK(other.same_as == 0);
}

TEST_CASE("results: a failure that did not repeat is told in full when it comes back") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest, failing("/a", "broken"));
  world.pass(manifest);
  CHECK(world.state.failures.empty());
  world.machine.take("/a");
  CHECK(all_of_kind<ActionFailed>(world.pass(manifest, failing("/a", "broken"))).front().same_as ==
        0);
}

TEST_CASE("results: a standing refusal refers to the first as well") {
  World world;
  world.machine.put("/a", Found::directory);
  const auto manifest = manifest_of({file("a", "/a")});
  const auto first = world.pass(manifest);
  CHECK_FALSE(all_of_kind<ActionFailed>(first).front().message.empty());
  const auto second = all_of_kind<ActionFailed>(world.pass(manifest)).front();
  CHECK(second.same_as != 0);
  CHECK(second.message.empty());
}

TEST_CASE(
    "results: [C05] a target corrected three times in a day is contested, and that is said once") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest);
  std::size_t said = 0;
  for (int i = 0; i < 5; ++i) {
    world.advance(3600);
    world.machine.put("/a", Found::file, "theirs");
    said += all_of_kind<TargetContested>(world.pass(manifest)).size();
    CHECK(said == (i < 2 ? 0 : 1));
  }
  CHECK(flags_in(world.status().flags) == std::vector{StatusFlag::contested});
  world.advance(25L * 3600);
  CHECK(flags_in(world.status().flags).empty());
}

TEST_CASE("results: three corrections spread over more than a day are no contest") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest);
  for (int i = 0; i < 5; ++i) {
    world.advance(13L * 3600);
    world.machine.put("/a", Found::file, "theirs");
    CHECK(all_of_kind<TargetContested>(world.pass(manifest)).empty());
  }
}

namespace {

// Corrects /a once more.
std::size_t correct(World& world, const model::ManifestPtr& manifest) {
  world.machine.put("/a", Found::file, "theirs");
  return all_of_kind<TargetContested>(world.pass(manifest)).size();
}

}  // namespace

TEST_CASE(
    "results: a clock that jumps ahead does not hide a contest, one that jumps back makes none") {
  const auto manifest = manifest_of({file("a", "/a")});
  for (const std::int64_t jump_h : {-1000, 1000}) {
    World world;
    world.pass(manifest);
    std::size_t said = 0;
    for (int i = 0; i < 3; ++i) {
      world.advance(3600);
      world.now.ns += jump_h * 3600 * kNsPerSecond;
      said += correct(world, manifest);
    }
    CHECK(said == 1);
    CHECK(flags_in(world.status().flags) == std::vector{StatusFlag::contested});
    world.now.ns += jump_h * 3600 * kNsPerSecond;
    CHECK(flags_in(world.status().flags) == std::vector{StatusFlag::contested});
    world.advance(25L * 3600);
    CHECK(flags_in(world.status().flags).empty());

    World peaceful;
    peaceful.pass(manifest);
    for (int i = 0; i < 3; ++i) {
      peaceful.advance(13L * 3600);
      peaceful.now.ns -= 13L * 3600 * kNsPerSecond;  // set back each time: no time seems to pass
      CHECK(correct(peaceful, manifest) == 0);
    }
  }
}

TEST_CASE("results: over a reboot a clock that lost its time counts no less than the boot lasted") {
  const auto manifest = manifest_of({file("a", "/a")});
  World world;
  world.pass(manifest);
  world.advance(3600);
  CHECK(correct(world, manifest) == 0);
  for (std::uint8_t boot = 8; boot < 12; ++boot) {
    world.boot = id_of(boot);
    world.mono = {25L * 3600 * kNsPerSecond};  // a day and an hour after that boot
    world.now.ns -= 3600 * kNsPerSecond;       // and the clock says it was earlier
    world.run(OpenStore{world.boot, "1.0", "/", "h"});
    CHECK(correct(world, manifest) == 0);
  }
}

TEST_CASE("results: changes of the declaration are no corrections") {
  World world;
  for (int i = 0; i < 5; ++i)
    CHECK(all_of_kind<TargetContested>(
              world.pass(manifest_of({file("a", "/a", "v" + std::to_string(i))})))
              .empty());
}

TEST_CASE(
    "results: a notification stands in the same batch as its cause, once for one unit and cause") {
  World world;
  auto unit = service("web");
  unit.restart_on = {ref("File[a]")};
  unit.reload_on = {ref("File[b]")};
  const auto manifest = manifest_of({unit, file("a", "/a"), file("b", "/b")});
  const model::Target web{model::TargetFamily::unit, "web.service"};
  world.machine.put(web, Found::present, "running");
  const auto events = world.pass(manifest);
  CHECK(all_of_kind<NotificationRaised>(events).size() == 2);
  const auto& pending = world.state.pending.at(web);
  CHECK(pending.restart);  // absorbs the reload
  CHECK(pending.by == std::vector{ref("File[a]"), ref("File[b]")});
  CHECK(world.status().condition == Condition::drifted);
  world.machine.put("/a", Found::file, "theirs");
  CHECK(all_of_kind<NotificationRaised>(world.pass(manifest)).empty());  // adds nothing
}

TEST_CASE("results: a failed action tells nobody") {
  World world;
  auto unit = service("web");
  unit.restart_on = {ref("File[a]")};
  const auto events = world.pass(manifest_of({unit, file("a", "/a")}), failing("/a", "broken"));
  CHECK(all_of_kind<NotificationRaised>(events).empty());
}

TEST_CASE("results: a failed action that changed its target all the same tells whom it concerns") {
  World world;
  const auto [manifest, plan] = announce_told_file(world);
  ActionResult result;
  result.error = Error(ErrorCode::io_error, "not durable");
  result.changed = true;
  const auto events = world.run(RecordResults{plan, manifest.get(), {result}, world.now, {}});
  CHECK(all_of_kind<NotificationRaised>(events).size() == 1);
  CHECK(all_of_kind<ActionFailed>(events).size() == 1);
}

TEST_CASE("results: a tool past its limit is told as running, and nothing begins on its target") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, {0});
  ActionResult result;
  result.error = Error(ErrorCode::timed_out, "it takes too long");
  result.still_running = "datum-1.service";
  const auto events = world.run(RecordResults{plan, manifest.get(), {result}, world.now, {}});
  CHECK(all_of_kind<ActionStillRunning>(events).size() == 1);
  world.finish(*plan);
  CHECK(world.plan(manifest).actions.front().refusal.starts_with(
      "still running: datum-1.service was begun by pass"));
  CHECK(world.try_run(RecordToolEnded{path("/b")}).error().code() == ErrorCode::refused);
  world.run(RecordToolEnded{path("/a"), RecoveredOutcome::took_effect});
  CHECK(world.state.running_tools.empty());
  CHECK(world.plan(manifest).actions.front().refusal.empty());
}

TEST_CASE("results: a delivery ends what was raised before it began and nothing else") {
  World world;
  const model::Target web{model::TargetFamily::unit, "web.service"};
  const auto raise = [&](bool restart, const std::string& by) {
    world.append(NotificationRaised{1, web, ref("Service[web]"), ref(by), restart});
  };
  CHECK(world.try_run(StartDelivery{web, ""}).error().code() == ErrorCode::refused);
  raise(false, "File[a]");
  world.run(StartDelivery{web, "i1"});
  CHECK(world.try_run(StartDelivery{web, ""}).error().code() == ErrorCode::conflict);
  raise(true, "File[b]");  // after the delivery began
  world.run(RecordDelivery{web, false, false, {}});
  REQUIRE(world.state.pending.contains(web));
  world.run(StartDelivery{web, "i2"});
  world.run(RecordDelivery{web, true, false, Error(ErrorCode::io_error, "unit failed")});
  REQUIRE(world.state.pending.contains(web));
  world.run(StartDelivery{web, "i3"});
  world.run(RecordDelivery{web, false, false, {}});
  CHECK(world.state.pending.contains(web));  // a reload does not serve a restart
  world.run(StartDelivery{web, "i4"});
  world.run(RecordDelivery{web, true, false, {}});
  CHECK_FALSE(world.state.pending.contains(web));
  raise(false, "File[a]");
  world.run(StartDelivery{web, "i5"});
  raise(false, "File[c]");  // the reload that runs may have read the old file
  world.run(RecordDelivery{web, false, false, {}});
  CHECK(world.state.pending.contains(web));
}

TEST_CASE("results: a delivery that was announced twice is told as repeated, once it ends") {
  World world;
  const model::Target web{model::TargetFamily::unit, "web.service"};
  world.append(NotificationRaised{1, web, ref("Service[web]"), ref("File[a]"), false});
  world.run(StartDelivery{web, "i1"});
  CHECK(world.state.pending.at(web).invocation == "i1");
  CHECK(world.state.pending.at(web).boot == world.boot);
  CHECK_FALSE(world.state.pending.at(web).repeated);
  world.run(StartDelivery{web, "i2", true});
  // The second one certainly failed; of the first nobody knows.
  world.run(RecordDelivery{web, false, false, Error(ErrorCode::io_error, "job failed")});
  CHECK(world.state.pending.at(web).invocation.empty());
  world.run(StartDelivery{web, "i3"});
  const auto events = world.run(RecordDelivery{web, false, false, {}});
  REQUIRE(all_of_kind<NotificationDelivered>(events).size() == 1);
  CHECK(all_of_kind<NotificationDelivered>(events).front().repeated);
  CHECK_FALSE(world.state.pending.contains(web));
}

TEST_CASE(
    "results: the announcement says which of the two was to be done, whatever is raised since") {
  World world;
  const model::Target web{model::TargetFamily::unit, "web.service"};
  world.append(NotificationRaised{1, web, ref("Service[web]"), ref("File[a]"), false});
  world.run(StartDelivery{web, "i1"});
  world.append(NotificationRaised{1, web, ref("Service[web]"), ref("File[b]"), true});
  CHECK(world.state.pending.at(web).restart);
  CHECK_FALSE(world.state.pending.at(web).started_restart);
}

TEST_CASE("results: removed targets end ownership, and an absent resource is converged at once") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  const auto events = world.pass(manifest_of({absent(file("a", "/a"))}));
  CHECK(all_of_kind<OwnershipRemoved>(events).size() == 1);
  CHECK(world.state.owned.empty());
  const auto& resource = world.state.resources.at(path("/a"));
  CHECK(resource.condition == Condition::converged);
  CHECK(resource.found == Found::absent);
}

TEST_CASE("results: an action that was not announced, or ends twice, is a conflict") {
  World world;
  auto [manifest, results] = announce_first(world, manifest_of({file("a", "/a"), file("b", "/b")}));
  ActionResult result;
  result.ordinal = 1;
  results.results = {result};
  CHECK(world.try_run(results).error().code() == ErrorCode::conflict);
  result.ordinal = 0;
  results.results = {result, result};
  CHECK(world.try_run(results).error().code() == ErrorCode::conflict);
  results.results = {result};
  CHECK(world.try_run(results));
  CHECK(world.try_run(results).error().code() == ErrorCode::conflict);
}

TEST_CASE("results: long messages and outputs are cut to what a record may hold") {
  World world;
  auto announced = announce_first(world, manifest_of({file("a", "/a")}));
  auto& result = announced.results.results.front();
  result.error = Error(ErrorCode::io_error, std::string(100'000, 'm'));
  result.output = std::string(100'000, 'o');
  const auto failed = all_of_kind<ActionFailed>(world.run(announced.results)).front();
  CHECK(failed.message.size() + failed.output.size() < 48 * 1024);
  CHECK(failed.message.ends_with("…"));
}

TEST_CASE("results: what a failed action made all the same is created by Datum, as it was left") {
  World world;
  auto announced = announce_first(world, manifest_of({file("a", "/a")}));
  auto& result = announced.results.results.front();
  result.changed = true;
  result.remains = Remains{{Found::file, 1, 77, digest_of("x")}, {}, true};
  const auto failed = all_of_kind<ActionFailed>(world.run(announced.results)).front();
  CHECK(failed.left == result.remains->left);
  const auto& owned = world.state.owned.at(path("/a"));
  CHECK(owned.created);
  CHECK(owned.left == result.remains->left);
}

TEST_CASE(
    "results: a failed action that changed nothing, or a thing that was there, owns nothing") {
  World world;
  auto nothing = announce_first(world, manifest_of({file("a", "/a")}));
  CHECK_FALSE(all_of_kind<ActionFailed>(world.run(nothing.results)).front().left);
  CHECK(world.state.owned.empty());
  world.finish(*nothing.results.plan);
  world.machine.put("/b", Found::file, "other");
  auto there = announce_first(world, manifest_of({file("b", "/b")}));
  there.results.results.front().changed = true;
  there.results.results.front().remains = Remains{{Found::file, 1, 78, digest_of("x")}, {}, true};
  world.run(there.results);
  CHECK_FALSE(world.state.owned.contains(path("/b")));
}

TEST_CASE("results: what appeared beside a failed action is told, and is nobody's made by Datum") {
  World world;
  auto announced = announce_first(world, manifest_of({file("a", "/a")}));
  auto& result = announced.results.results.front();
  result.changed = true;
  result.remains = Remains{{Found::file, 1, 77, digest_of("x")}, {}, false};
  const auto failed = all_of_kind<ActionFailed>(world.run(announced.results)).front();
  CHECK(failed.left == result.remains->left);
  CHECK(world.state.owned.empty());
}

TEST_CASE("results: a failed action after which nobody could look says nothing of what it left") {
  World world;
  auto announced = announce_first(world, manifest_of({file("a", "/a")}));
  announced.results.results.front().changed = true;
  const auto failed = all_of_kind<ActionFailed>(world.run(announced.results)).front();
  CHECK_FALSE(failed.left);
  CHECK_FALSE(failed.traces);
  CHECK(world.state.owned.empty());
}

TEST_CASE("recovery: a package that is there and does not look begun is not Datum's") {
  World world;
  const auto manifest = manifest_of({package("p")});
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, {0});
  const RecoveredAction seen{0, RecoveredOutcome::did_not, {Found::present, 0, 0, {}}};
  world.run(RecordRecovery{{seen}, manifest.get()});
  CHECK(world.state.owned.empty());
}
