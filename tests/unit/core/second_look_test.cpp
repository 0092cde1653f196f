// What packages bring along: the plan counts on it, and looks again before each action.
#include "datum/core/second_look.hpp"

#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

model::Resource after(model::Resource resource, const std::string& required) {
  resource.requirements.push_back(ref(required));
  return resource;
}

const Action& action_of(const Plan& plan, const std::string& name) {
  const auto* action = find_action(plan, path(name));
  REQUIRE(action != nullptr);
  return *action;
}

Plan again(const World& world, const model::ManifestPtr& manifest, const Plan& plan,
           const std::string& name) {
  const auto observations = world.observe(manifest);
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.state = &world.state;
  const std::vector<std::uint32_t> ordinals{action_of(plan, name).ordinal};
  return plan_again(input, plan, ordinals);
}

}  // namespace

TEST_CASE("plan: a file in a folder that a required package may bring is planned, not refused") {
  World world;
  const auto manifest = manifest_of({package("p"), after(file("a", "/d/e/a"), "Package[p]"),
                                     after(file("b", "/d/b"), "File[a]")});
  const auto plan = world.plan(manifest);
  CHECK(plan.counts.refused == 0);
  CHECK(action_of(plan, "/d/e/a").note.find("Package[p]") != std::string::npos);
  CHECK(action_of(plan, "/d/b").note.find("Package[p]") != std::string::npos);
}

TEST_CASE("plan: a package that is there already, or is only observed, brings nothing any more") {
  World world;
  const auto manifest = manifest_of({package("p"), after(file("a", "/d/a"), "Package[p]")});
  World::PassOptions options;
  options.observe_list = {ref("Package[p]")};
  CHECK(action_of(world.plan(manifest, options), "/d/a").refusal.starts_with("missing folder: /d"));
  world.machine.put({model::TargetFamily::package, "p"}, Found::present, "present");
  CHECK(action_of(world.plan(manifest), "/d/a").refusal.starts_with("missing folder: /d"));
}

TEST_CASE(
    "plan: a folder is refused where the package that may bring its own folder comes after it") {
  World world;
  // The folder wants the package first, the package a file that can only be made in the folder.
  const auto manifest = manifest_of({after(folder("a", "/d/a"), "Package[p]"),
                                     after(package("p"), "File[y]"), file("y", "/d/a/y")});
  const auto plan = world.plan(manifest);
  CHECK(action_of(plan, "/d/a").refusal.starts_with("missing: Package[p]"));
  CHECK(action_of(plan, "/d/a").note.empty());
  CHECK(plan.counts.refused == 1);
  CHECK(plan.counts.blocked == 2);
  CHECK(next_wave(plan, {}).empty());
  world.pass(manifest);
  CHECK(next_wave(world.plan(manifest), {}).empty());
}

TEST_CASE(
    "second look: what a package brought is changed in place, with the object that is there") {
  World world;
  const auto manifest = manifest_of({package("p"), after(file("a", "/a", "new"), "Package[p]")});
  const auto plan = world.plan(manifest);
  CHECK(action_of(plan, "/a").kind == ActionKind::create);
  world.machine.put("/a", Found::file, "old");
  const auto second = again(world, manifest, plan, "/a");
  const auto& action = action_of(second, "/a");
  CHECK(action.kind == ActionKind::update);
  CHECK(action.found == Found::file);
  CHECK(action.identity.inode == world.machine.find("/a")->inode);
  CHECK(action.after == action_of(plan, "/a").after);
  CHECK(action.ordinal == action_of(plan, "/a").ordinal);
}

TEST_CASE("second look: what a package brought as declared is adopted, and nothing is done to it") {
  World world;
  const auto manifest = manifest_of({package("p"), after(file("a", "/a", "new"), "Package[p]")});
  const auto plan = world.plan(manifest);
  world.machine.put("/a", Found::file, "new");
  const auto second = again(world, manifest, plan, "/a");
  CHECK(action_of(second, "/a").kind == ActionKind::adopt);
  CHECK_FALSE(is_mutating(action_of(second, "/a").kind));
}

TEST_CASE("second look: a folder that the package did not bring after all is a refusal") {
  World world;
  const auto manifest = manifest_of({package("p"), after(file("a", "/d/a"), "Package[p]")});
  const auto plan = world.plan(manifest);
  REQUIRE(action_of(plan, "/d/a").refusal.empty());
  CHECK(action_of(again(world, manifest, plan, "/d/a"), "/d/a")
            .refusal.starts_with("missing folder: /d"));
}

TEST_CASE("second look: what cannot be looked at by then is refused, with the reason") {
  World world;
  const auto manifest = manifest_of({package("p"), after(file("a", "/a"), "Package[p]")});
  const auto plan = world.plan(manifest);
  world.machine.blind.insert(ref("File[a]"));
  CHECK(action_of(again(world, manifest, plan, "/a"), "/a").refusal.starts_with("unknown: "));
}

TEST_CASE("second look: packages have run once one of them succeeded or failed") {
  World world;
  const auto plan = world.plan(manifest_of({package("p"), file("a", "/a")}));
  std::vector<Phase> phases(plan.actions.size(), Phase::succeeded);
  const auto* action = find_action(plan, {model::TargetFamily::package, "p"});
  REQUIRE(action != nullptr);
  CHECK(has_run_packages(plan, phases));
  phases[action->ordinal] = Phase::waiting;
  CHECK_FALSE(has_run_packages(plan, phases));
  phases[action->ordinal] = Phase::failed;
  CHECK(has_run_packages(plan, phases));
}
