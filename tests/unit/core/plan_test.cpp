// What a plan says to do, and what it refuses, for each thing that may be found.
#include <algorithm>
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

ActionKind kind_at(const Plan& plan, const std::string& name) {
  const auto* action = find_action(plan, path(name));
  REQUIRE(action != nullptr);
  return action->kind;
}

std::string refusal_at(const Plan& plan, const std::string& name) {
  const auto* action = find_action(plan, path(name));
  REQUIRE(action != nullptr);
  return action->refusal;
}

bool comes_before(const Plan& plan, const std::string& first, const std::string& second) {
  const auto* a = find_action(plan, path(first));
  const auto* b = find_action(plan, path(second));
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  return std::find(b->after.begin(), b->after.end(), a->ordinal) != b->after.end();
}

}  // namespace

TEST_CASE("plan: a missing target is created and a differing one is updated") {
  World world;
  world.machine.put("/b", Found::file, "old");
  const auto plan = world.plan(manifest_of({file("a", "/a"), file("b", "/b", "new")}));
  CHECK(kind_at(plan, "/a") == ActionKind::create);
  CHECK(kind_at(plan, "/b") == ActionKind::update);
  CHECK(find_action(plan, path("/b"))->note.find("first contact") == 0);
  CHECK(find_action(plan, path("/b"))->staged_bytes == 3);
  CHECK(plan.counts.create == 1);
  CHECK(plan.counts.update == 1);
}

TEST_CASE("plan: what is as declared and not owned is adopted, what is owned needs nothing") {
  World world;
  world.machine.put("/a", Found::file, "x");
  const auto manifest = manifest_of({file("a", "/a")});
  CHECK(kind_at(world.plan(manifest), "/a") == ActionKind::adopt);
  world.pass(manifest);
  CHECK(world.plan(manifest).empty());
}

TEST_CASE("plan: a File takes the place of a symlink but of nothing else") {
  World world;
  world.machine.put("/a", Found::symlink, "/elsewhere");
  world.machine.put("/b", Found::directory);
  world.machine.put("/c", Found::special);
  const auto plan = world.plan(manifest_of({file("a", "/a"), file("b", "/b"), file("c", "/c")}));
  CHECK(kind_at(plan, "/a") == ActionKind::replace);
  CHECK(refusal_at(plan, "/a").empty());
  CHECK(refusal_at(plan, "/b").find("type conflict") == 0);
  CHECK(refusal_at(plan, "/c").find("type conflict") == 0);
}

TEST_CASE("plan: [F09] a Directory replaces nothing") {
  World world;
  world.machine.put("/a", Found::file, "x");
  world.machine.put("/b", Found::symlink, "/x");
  const auto plan = world.plan(manifest_of({folder("a", "/a"), folder("b", "/b")}));
  CHECK(refusal_at(plan, "/a").find("type conflict") == 0);
  CHECK(refusal_at(plan, "/b").find("type conflict") == 0);
}

TEST_CASE("plan: a Symlink does not take the place of a file that Datum did not make") {
  World world;
  world.machine.put("/a", Found::file, "precious");
  const auto plan = world.plan(manifest_of({link("a", "/a", "/x")}));
  CHECK(refusal_at(plan, "/a").find("type conflict") == 0);
}

TEST_CASE("plan: what Datum made and nobody changed may change its type in one pass") {
  World world;
  world.pass(manifest_of({file("a", "/a"), folder("d", "/d")}));
  const auto other = manifest_of({folder("a", "/a"), file("d", "/d")});
  CHECK(refusal_at(world.plan(other), "/a").empty());
  CHECK(kind_at(world.plan(other), "/d") == ActionKind::replace);
  world.pass(other);
  CHECK(world.status().condition == Condition::converged);
  CHECK(world.machine.find("/d")->found == Found::file);
}

TEST_CASE("plan: a type change is refused once somebody put another object there") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  world.machine.put("/a", Found::file, "x");  // the same bytes, another inode
  const auto refusal = refusal_at(world.plan(manifest_of({folder("a", "/a")})), "/a");
  CHECK(refusal.find("type conflict") == 0);
  CHECK(refusal.find("changed since Datum made it") != std::string::npos);
}

TEST_CASE("plan: a folder that Datum made becomes a file only when it is empty") {
  World world;
  world.pass(manifest_of({folder("d", "/d")}));
  world.machine.put("/d/foreign", Found::file, "x");
  const auto plan = world.plan(manifest_of({file("d", "/d")}));
  CHECK(refusal_at(plan, "/d").find("not empty") == 0);
}

TEST_CASE("plan: an absent File removes a file or a link and never a folder") {
  World world;
  world.machine.put("/a", Found::file, "x");
  world.machine.put("/b", Found::symlink, "/x");
  world.machine.put("/c", Found::directory);
  const auto plan = world.plan(
      manifest_of({absent(file("a", "/a")), absent(file("b", "/b")), absent(file("c", "/c"))}));
  CHECK(kind_at(plan, "/a") == ActionKind::remove);
  CHECK(refusal_at(plan, "/b").empty());
  CHECK(refusal_at(plan, "/c").find("type conflict") == 0);
}

TEST_CASE("plan: [N01] a file in a folder that the plan makes comes after it, without error") {
  World world;
  const auto plan =
      world.plan(manifest_of({file("a", "/d/e/a"), folder("z", "/d"), folder("y", "/d/e")}));
  CHECK(plan.counts.refused == 0);
  CHECK(comes_before(plan, "/d", "/d/e"));
  CHECK(comes_before(plan, "/d/e", "/d/e/a"));
}

TEST_CASE("plan: a file in a folder that nobody makes is refused in words that say what to do") {
  World world;
  const auto plan = world.plan(manifest_of({file("a", "/d/a")}));
  CHECK(refusal_at(plan, "/d/a").find("missing folder: /d") == 0);
  CHECK(refusal_at(plan, "/d/a").find("declare a Directory") != std::string::npos);
}

TEST_CASE("plan: what lies where a folder should be is named, and not said to be missing") {
  World world;
  world.machine.put("/d", Found::file);
  const auto plan = world.plan(manifest_of({file("a", "/d/a")}));
  const auto refusal = refusal_at(plan, "/d/a");
  CHECK(refusal.find("missing folder: /d (a file, no folder) and nothing") == 0);
  CHECK(refusal.find("does not exist") == std::string::npos);
}

TEST_CASE("plan: [F28] a folder whose name begins alike does not count as the parent") {
  World world;
  const auto plan = world.plan(manifest_of({folder("d", "/dir"), file("a", "/dir1/a")}));
  CHECK(refusal_at(plan, "/dir1/a").find("missing folder") == 0);
}

TEST_CASE("plan: requirements order what drifts and leave alone what is converged") {
  World world;
  world.machine.put("/c", Found::file, "x");
  auto a = file("a", "/a");
  a.requirements = {ref("File[b]"), ref("File[c]")};
  const auto plan = world.plan(manifest_of({a, file("b", "/b"), file("c", "/c")}));
  CHECK(comes_before(plan, "/b", "/a"));
  CHECK(find_action(plan, path("/a"))->after.size() == 1);
  CHECK(find_action(plan, path("/a"))->blocked_on.empty());
}

TEST_CASE(
    "plan: an enforced resource that requires a drifted one which is only observed is blocked") {
  World world;
  auto a = file("a", "/a");
  a.requirements = {ref("File[b]")};
  auto b = file("b", "/b");
  b.observe_only = true;
  const auto plan = world.plan(manifest_of({a, b}));
  CHECK(find_action(plan, path("/a"))->blocked_on == std::vector{ref("File[b]")});
  CHECK(find_action(plan, path("/b"))->observe_only);
  CHECK(plan.counts.blocked == 1);
}

TEST_CASE("plan: the local list holds a resource in observe, however it is sorted") {
  World world;
  World::PassOptions options;
  options.observe_list = {ref("File[b]"), ref("File[a]")};
  const auto plan = world.plan(manifest_of({file("a", "/a"), file("b", "/b")}), options);
  CHECK(find_action(plan, path("/a"))->observe_only);
  CHECK(find_action(plan, path("/b"))->observe_only);
}

TEST_CASE("plan: what requires a resource that could not be observed is blocked") {
  World world;
  world.machine.blind.insert(ref("File[b]"));
  auto a = file("a", "/a");
  a.requirements = {ref("File[b]")};
  const auto plan = world.plan(manifest_of({a, file("b", "/b")}));
  CHECK(find_action(plan, path("/a"))->blocked_on == std::vector{ref("File[b]")});
  CHECK(find_action(plan, path("/b")) == nullptr);
}

TEST_CASE("plan: a file below a folder that is only observed and missing is blocked on it") {
  World world;
  auto d = folder("d", "/d");
  d.observe_only = true;
  const auto plan = world.plan(manifest_of({d, file("a", "/d/a")}));
  CHECK(refusal_at(plan, "/d/a").empty());
  CHECK(find_action(plan, path("/d/a"))->blocked_on == std::vector{ref("Directory[d]")});
  CHECK(find_action(plan, path("/d"))->ordinal == 0);
  CHECK(find_action(plan, path("/d/a"))->after.empty());  // waits for no success of it
}

TEST_CASE("plan: targets that left go in reverse of what they required, children before folders") {
  World world;
  auto a = file("a", "/a");
  a.requirements = {ref("File[b]")};
  world.pass(
      manifest_of({a, file("b", "/b"), folder("d", "/d"), file("e", "/d/e"), file("z", "/z")}));
  const auto plan = world.plan(manifest_of({file("z", "/z")}));
  CHECK(plan.counts.leave == 4);
  CHECK(comes_before(plan, "/a", "/b"));
  CHECK(comes_before(plan, "/d/e", "/d"));
}

TEST_CASE(
    "plan: absent resources keep their required order, children before folders all the same") {
  World world;
  world.machine.put("/a", Found::file, "x");
  world.machine.put("/b", Found::file, "x");
  world.machine.put("/d", Found::directory);
  world.machine.put("/d/e", Found::file, "x");
  auto a = absent(file("a", "/a"));
  a.requirements = {ref("File[b]")};
  auto e = absent(file("e", "/d/e"));
  e.requirements = {ref("Directory[d]")};  // contradicts the folders, which win
  const auto plan =
      world.plan(manifest_of({a, absent(file("b", "/b")), absent(folder("d", "/d")), e}));
  CHECK(plan.counts.refused == 0);
  CHECK(comes_before(plan, "/b", "/a"));
  CHECK(comes_before(plan, "/d/e", "/d"));
  CHECK_FALSE(comes_before(plan, "/d", "/d/e"));
}

TEST_CASE("plan: Datum's own package comes after all that does not require it [U01]") {
  World world;
  auto z = file("z", "/z");
  z.requirements = {ref("Package[zsh]")};
  auto after = file("after", "/after");
  after.requirements = {ref("Package[datum-host]")};
  const auto plan =
      world.plan(manifest_of({package("datum-host"), after, package("zsh"), z, service("web")}));
  std::vector<std::string> order;
  for (const auto& action : plan.actions) order.push_back(action.reference.text());
  REQUIRE(order.size() == 5);
  CHECK(order[3] == "Package[datum-host]");
  CHECK(order[4] == "File[after]");
}

TEST_CASE("plan: an absent folder stays while resources are declared in it") {
  World world;
  world.machine.put("/d", Found::directory);
  world.machine.put("/d/e", Found::file, "x");
  const auto plan = world.plan(manifest_of({absent(folder("d", "/d")), file("e", "/d/e")}));
  CHECK_FALSE(refusal_at(plan, "/d").empty());
}

TEST_CASE("plan: a folder that left is let go while resources are declared in it") {
  World world;
  world.pass(manifest_of({folder("d", "/d")}));
  const auto plan = world.plan(manifest_of({file("e", "/d/e")}));
  CHECK(kind_at(plan, "/d") == ActionKind::release);
  CHECK(find_action(plan, path("/d"))->note.find("declared resources lie below") == 0);
}

TEST_CASE(
    "plan: a folder that left goes when its last entries leave with it, and stays for others'") {
  World world;
  world.pass(manifest_of({folder("d", "/d"), file("e", "/d/e"), file("z", "/z")}));
  const auto rest = manifest_of({file("z", "/z")});
  CHECK(kind_at(world.plan(rest), "/d") == ActionKind::leave);
  world.machine.put("/d/foreign", Found::file, "x");
  CHECK(kind_at(world.plan(rest), "/d") == ActionKind::release);
  CHECK(kind_at(world.plan(rest), "/d/e") == ActionKind::leave);
}

TEST_CASE("plan: what left the declaration is removed only if Datum made it and it is untouched") {
  World world;
  world.machine.put("/adopted", Found::file, "x");
  auto kept = file("p", "/protected");
  kept.protect = true;
  world.pass(manifest_of({file("a", "/adopted"), file("c", "/changed"), file("g", "/gone"),
                          file("m", "/made"), kept, file("z", "/z")}));
  world.machine.put("/changed", Found::file, "edited");
  world.machine.take("/gone");
  const auto plan = world.plan(manifest_of({file("z", "/z")}));
  CHECK(kind_at(plan, "/made") == ActionKind::leave);
  CHECK(find_action(plan, path("/adopted"))->note.find("adopted") == 0);
  CHECK(find_action(plan, path("/changed"))->note.find("changed since Datum made it") == 0);
  CHECK(find_action(plan, path("/gone"))->note == "already gone");
  CHECK(find_action(plan, path("/protected"))->note.find("protected") == 0);
  CHECK(plan.counts.leave == 1);
  CHECK(plan.counts.release == 4);
}

TEST_CASE("plan: what Datum left is known again when its disk has another number") {
  World world;
  world.pass(manifest_of({file("a", "/a"), folder("d", "/d"), file("b", "/b")}));
  world.machine.device = 2;
  const auto plan = world.plan(manifest_of({file("b", "/b")}));
  CHECK(kind_at(plan, "/a") == ActionKind::leave);
  CHECK(kind_at(plan, "/d") == ActionKind::leave);
}

TEST_CASE("plan: what was edited in its place, inode and all, is no longer what Datum left") {
  World world;
  world.pass(manifest_of({file("a", "/a"), link("l", "/l", "/x"), file("z", "/z")}));
  world.machine.edit("/a", "edited");
  world.machine.edit("/l", "/elsewhere");
  const auto plan = world.plan(manifest_of({file("z", "/z")}));
  CHECK(find_action(plan, path("/a"))->note.find("its content") != std::string::npos);
  CHECK(kind_at(plan, "/l") == ActionKind::release);
}

TEST_CASE("plan: a target that left and cannot be looked at stays owned and untouched") {
  World world;
  world.pass(manifest_of({file("a", "/a"), file("z", "/z")}));
  const auto manifest = manifest_of({file("z", "/z")});
  const auto observations = world.observe(manifest);
  LeavingObservation unseen;
  unseen.target = path("/a");
  const std::vector leaving{unseen};
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.leaving = leaving;
  input.state = &world.state;
  CHECK(compute_plan(input).empty());
}

TEST_CASE("plan: a target that is still declared under another path is let go, never removed") {
  World world;
  world.pass(manifest_of({file("a", "/a"), file("z", "/z")}));
  const auto manifest = manifest_of({file("z", "/z")});
  const auto observations = world.observe(manifest);
  auto leaving = world.observe_leaving(manifest);
  leaving.front().same_as_declared = true;
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.leaving = leaving;
  input.state = &world.state;
  CHECK(kind_at(compute_plan(input), "/a") == ActionKind::release);
}

TEST_CASE("plan: a changed document name is a rename and removes nothing") {
  World world;
  world.pass(manifest_of({file("old", "/a")}));
  const auto plan = world.plan(manifest_of({file("new", "/a")}));
  CHECK(plan.actions.size() == 1);
  CHECK(kind_at(plan, "/a") == ActionKind::rename);
  world.pass(manifest_of({file("new", "/a")}));
  CHECK(world.state.owned.at(path("/a")).reference == ref("File[new]"));
}

TEST_CASE("plan: protection that is declared later is recorded before the resource can leave") {
  World world;
  world.pass(manifest_of({file("a", "/a"), file("z", "/z")}));
  auto guarded = file("a", "/a");
  guarded.protect = true;
  guarded.observe_only = true;
  world.pass(manifest_of({guarded, file("z", "/z")}));
  CHECK(kind_at(world.plan(manifest_of({file("z", "/z")})), "/a") == ActionKind::release);
}

TEST_CASE("plan: [F27] a purge has one action per undeclared entry and spares what is declared") {
  World world;
  world.machine.put("/d", Found::directory);
  world.machine.put("/d/mine", Found::file, "x");
  world.machine.put("/d/stray", Found::file, "x");
  world.machine.put("/d/stray2", Found::symlink, "/x");
  const auto plan = world.plan(manifest_of({folder("d", "/d", true), file("m", "/d/mine")}));
  CHECK(plan.counts.purge == 2);
  CHECK(kind_at(plan, "/d/mine") == ActionKind::adopt);
  CHECK(find_action(plan, path("/d/stray"))->reference == ref("Directory[d]"));
  CHECK(kind_at(plan, "/d") == ActionKind::adopt);
}

TEST_CASE("plan: a purge spares declared entries even if the look at the folder named them") {
  World world;
  world.machine.put("/d", Found::directory);
  world.machine.put("/d/sub", Found::directory);
  world.machine.put("/d/mine", Found::file, "x");
  const auto manifest =
      manifest_of({folder("d", "/d", true), file("m", "/d/mine"), file("n", "/d/sub/n")});
  auto observations = world.observe(manifest);
  for (auto& seen : observations) {
    if (seen.target != path("/d")) continue;
    seen.condition = Condition::drifted;
    seen.drifts = {{"purge", "", ""}};
    seen.purge = {{"mine", Found::file, {}, true, true, ""},
                  {"sub", Found::directory, {}, true, true, ""}};
  }
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.state = &world.state;
  CHECK(compute_plan(input).counts.purge == 0);
}

TEST_CASE(
    "plan: an owned entry of a purged folder has one action, and a protected one refuses it") {
  World world;
  auto guarded = file("p", "/d/p");
  guarded.protect = true;
  world.pass(manifest_of({folder("d", "/d"), file("a", "/d/a"), guarded}));
  const auto plan = world.plan(manifest_of({folder("d", "/d", true)}));
  CHECK(kind_at(plan, "/d/a") == ActionKind::purge);
  CHECK(refusal_at(plan, "/d/a").empty());
  CHECK(refusal_at(plan, "/d/p").find("protected") == 0);
}

TEST_CASE("plan: entries that cannot be removed are refused and those only listed have no action") {
  World world;
  world.machine.put("/d", Found::directory);
  const auto manifest = manifest_of({folder("d", "/d", true)});
  auto observations = world.observe(manifest);
  auto& seen = observations.front();
  seen.condition = Condition::drifted;
  seen.drifts = {{"purge", "", ""}};
  seen.purge = {{"full", Found::directory, {}, false, true, "it is not empty"},
                {"listed", Found::directory, {}, false, false, ""}};
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.state = &world.state;
  const auto plan = compute_plan(input);
  CHECK(plan.counts.purge == 1);
  CHECK(refusal_at(plan, "/d/full").find("it is not empty") != std::string::npos);
}

TEST_CASE("plan: an obstacle refuses the action with its detail") {
  World world;
  world.machine.put("/a", Found::file, "old");
  const auto manifest = manifest_of({file("a", "/a", "new")});
  auto observations = world.observe(manifest);
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.state = &world.state;
  const auto refusal_for = [&](Obstacle obstacle) {
    observations.front().obstacle = obstacle;
    observations.front().obstacle_detail = "the detail";
    return compute_plan(input).actions.front().refusal;
  };
  CHECK(refusal_for(Obstacle::mount_point).find("inPlace (the detail)") != std::string::npos);
  CHECK(refusal_for(Obstacle::hard_links).find("hardLinks: break") != std::string::npos);
  CHECK(refusal_for(Obstacle::immutable).find("chattr") != std::string::npos);
  CHECK(refusal_for(Obstacle::unmanaged_content).find("onConflict") != std::string::npos);
  CHECK(refusal_for(Obstacle::not_corrected).empty());  // content can still be corrected
  CHECK(refusal_for(Obstacle::none).empty());
}

TEST_CASE("plan: foreign content stops only the first contact") {
  World world;
  world.pass(manifest_of({file("a", "/a", "x")}));
  world.machine.put("/a", Found::file, "edited");
  const auto manifest = manifest_of({file("a", "/a", "x")});
  auto observations = world.observe(manifest);
  observations.front().obstacle = Obstacle::unmanaged_content;
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.state = &world.state;
  CHECK(compute_plan(input).actions.front().refusal.empty());
}

TEST_CASE("plan: a number in use is not corrected, and says so when nothing else differs") {
  World world;
  auto user = model::Resource{};
  user.reference = ref("User[u]");
  user.fields = {{model::Field::state, std::string("present")},
                 {model::Field::uid, std::int64_t{7}}};
  const auto manifest = manifest_of({user});
  world.machine.put(manifest->resources.front()->target, Found::present, "present");
  auto observations = world.observe(manifest);
  auto& seen = observations.front();
  seen.condition = Condition::drifted;
  seen.obstacle = Obstacle::not_corrected;
  seen.drifts = {{"uid", "7", "8"}};
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.state = &world.state;
  CHECK(compute_plan(input).actions.front().refusal.find("not corrected") == 0);
  CHECK(compute_plan(input).actions.front().privileged);
  seen.drifts.push_back({"shell", "/bin/sh", "/bin/false"});
  CHECK(compute_plan(input).actions.front().refusal.empty());
}

TEST_CASE("plan: the brake refuses every removal above its number and says how to allow them") {
  World world;
  std::vector<model::Resource> many{file("z", "/z")};
  for (int i = 0; i < 11; ++i)
    many.push_back(file("f" + std::to_string(i), "/f" + std::to_string(i)));
  world.pass(manifest_of(many));
  const auto rest = manifest_of({file("z", "/z")});
  const auto plan = world.plan(rest);
  CHECK(plan.brake.engaged);
  CHECK(plan.brake.removals == 11);
  CHECK(plan.counts.refused == 11);
  CHECK(refusal_at(plan, "/f0").find("--allow-removals 11") != std::string::npos);
  World::PassOptions options;
  options.limits.allowed = 10;
  CHECK(world.plan(rest, options).brake.engaged);
  options.limits.allowed = 11;
  CHECK_FALSE(world.plan(rest, options).brake.engaged);
}

TEST_CASE("plan: the brake counts a share of what is owned from ten on") {
  World world;
  std::vector<model::Resource> many;
  for (int i = 0; i < 10; ++i)
    many.push_back(file("f" + std::to_string(i), "/f" + std::to_string(i)));
  world.pass(manifest_of(many));
  const auto without = [&](std::size_t count) {
    return world.plan(manifest_of({many.begin(), many.end() - static_cast<long>(count)}));
  };
  CHECK_FALSE(without(2).brake.engaged);  // 20 % exactly
  CHECK(without(3).brake.engaged);
}

TEST_CASE("plan: removals up to the number are done and one more is not") {
  World world;
  std::vector<model::Resource> many{file("z", "/z")};
  for (int i = 0; i < 3; ++i)
    many.push_back(file("f" + std::to_string(i), "/f" + std::to_string(i)));
  world.pass(manifest_of(many));
  World::PassOptions options;
  options.limits.max = 3;
  CHECK_FALSE(world.plan(manifest_of({file("z", "/z")}), options).brake.engaged);
  options.limits.max = 2;
  CHECK(world.plan(manifest_of({file("z", "/z")}), options).brake.engaged);
}

TEST_CASE("plan: below ten owned the share does not count, and absent is never braked") {
  World world;
  std::vector<model::Resource> many;
  for (int i = 0; i < 9; ++i)
    many.push_back(file("f" + std::to_string(i), "/f" + std::to_string(i)));
  world.pass(manifest_of(many));
  CHECK_FALSE(world.plan(manifest_of({many.front()})).brake.engaged);
  std::vector<model::Resource> gone;
  for (int i = 0; i < 12; ++i) {
    world.machine.put("/g" + std::to_string(i), Found::file, "x");
    gone.push_back(absent(file("g" + std::to_string(i), "/g" + std::to_string(i))));
  }
  gone.insert(gone.end(), many.begin(), many.end());
  const auto plan = world.plan(manifest_of(gone));
  CHECK(plan.counts.remove == 12);
  CHECK_FALSE(plan.brake.engaged);
}

TEST_CASE("plan: [N05] a service is told of what changes and comes after it") {
  World world;
  auto unit = service("web");
  unit.restart_on = {ref("File[a]")};
  unit.reload_on = {ref("File[b]"), ref("File[c]")};
  world.machine.put("/c", Found::file, "x");
  const auto manifest = manifest_of({unit, file("a", "/a"), file("b", "/b"), file("c", "/c")});
  const auto plan = world.plan(manifest);
  REQUIRE(plan.notifications.size() == 1);
  CHECK(plan.notifications.front().restart);
  CHECK(plan.notifications.front().by == std::vector{ref("File[a]"), ref("File[b]")});
  CHECK(plan.counts.restarts == 1);
  CHECK(plan.counts.reloads == 0);
  const auto* own = find_action(plan, manifest->find(ref("Service[web]"))->target);
  REQUIRE(own != nullptr);
  CHECK(own->kind == ActionKind::update);
  CHECK(own->after.size() == 2);
}

TEST_CASE("plan: nothing is told of actions that are refused, blocked or only observed") {
  World world;
  auto unit = service("web");
  unit.restart_on = {ref("File[a]"), ref("File[b]"), ref("File[c]")};
  auto observed = file("b", "/b");
  observed.observe_only = true;
  auto blocked = file("c", "/c");
  blocked.requirements = {ref("File[b]")};
  const auto plan = world.plan(manifest_of({unit, file("a", "/missing/a"), observed, blocked}));
  CHECK(plan.notifications.empty());
}

TEST_CASE("plan: a purge counts as a change of its folder for those that are told") {
  World world;
  world.machine.put("/d", Found::directory);
  world.machine.put("/d/stray", Found::file, "x");
  auto unit = service("web");
  unit.reload_on = {ref("Directory[d]")};
  const auto plan = world.plan(manifest_of({unit, folder("d", "/d", true)}));
  REQUIRE(plan.notifications.size() == 1);
  CHECK(plan.counts.reloads == 1);
}

TEST_CASE("plan: a target that leaves is no change of the document that now names another") {
  World world;
  auto unit = service("web");
  unit.restart_on = {ref("File[a]")};
  world.machine.put({model::TargetFamily::unit, "web.service"}, Found::present, "running");
  world.pass(manifest_of({unit, file("a", "/a")}));
  world.machine.put("/b", Found::file, "x");
  const auto plan = world.plan(manifest_of({unit, file("a", "/b")}));
  CHECK(kind_at(plan, "/a") == ActionKind::leave);
  CHECK(plan.notifications.empty());
}

TEST_CASE("plan: a service that is declared stopped is not restarted") {
  World world;
  auto unit = service("web", "stopped");
  unit.restart_on = {ref("File[a]")};
  CHECK(world.plan(manifest_of({unit, file("a", "/a")})).notifications.empty());
}

TEST_CASE("plan: a kept target is only observed") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  world.run(KeepTarget{path("/a"), 5});
  world.machine.put("/a", Found::file, "reverted");
  CHECK(find_action(world.plan(manifest_of({file("a", "/a")})), path("/a"))->observe_only);
}

TEST_CASE("plan: accounts, set-id bits and the files that rule privileges are marked") {
  World world;
  auto setuid = file("s", "/s");
  setuid.fields.push_back({model::Field::mode, std::string("4755")});
  const auto plan = world.plan(
      manifest_of({setuid, file("a", "/a"), folder("etc", "/etc"), folder("su", "/etc/sudoers.d"),
                   file("rule", "/etc/sudoers.d/rule")}));
  CHECK(find_action(plan, path("/s"))->privileged);
  CHECK(find_action(plan, path("/etc/sudoers.d/rule"))->privileged);
  CHECK_FALSE(find_action(plan, path("/a"))->privileged);
}

TEST_CASE("plan: [Y08] requirements in a circle do not stop planning") {
  World world;
  auto a = file("a", "/a");
  auto b = file("b", "/b");
  a.requirements = {ref("File[b]")};
  b.requirements = {ref("File[a]")};
  const auto plan = world.plan(manifest_of({a, b}));
  REQUIRE(plan.actions.size() == 2);
  CHECK(plan.actions[0].after.empty());
  CHECK(plan.actions[1].after == std::vector<std::uint32_t>{0});
}

TEST_CASE("plan: an owned target that is declared absent and already gone is no longer owned") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  world.machine.take("/a");
  const auto gone = manifest_of({absent(file("a", "/a"))});
  CHECK(kind_at(world.plan(gone), "/a") == ActionKind::release);
  world.pass(gone);
  CHECK(world.state.owned.empty());
}
