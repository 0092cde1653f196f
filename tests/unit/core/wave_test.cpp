// Which actions may run together.
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

using Ordinals = std::vector<std::uint32_t>;

Plan plan_of(std::size_t count) {
  Plan plan;
  for (std::uint32_t i = 0; i < count; ++i) {
    Action action;
    action.ordinal = i;
    action.target = path("/f" + std::to_string(i));
    action.kind = ActionKind::create;
    plan.actions.push_back(action);
  }
  return plan;
}

}  // namespace

TEST_CASE("wave: independent repeatable actions go together, in order") {
  CHECK(next_wave(plan_of(3), {}) == Ordinals{0, 1, 2});
}

TEST_CASE("wave: what depends on an action waits until it succeeded") {
  auto plan = plan_of(3);
  plan.actions[1].after = {0};
  plan.actions[2].after = {1};
  CHECK(next_wave(plan, {}) == Ordinals{0});
  std::vector phases{Phase::succeeded, Phase::waiting, Phase::waiting};
  CHECK(next_wave(plan, phases) == Ordinals{1});
  phases[0] = Phase::failed;
  CHECK(next_wave(plan, phases).empty());
}

TEST_CASE("wave: refused, blocked, observed and harmless actions never run") {
  auto plan = plan_of(5);
  plan.actions[0].refusal = "no";
  plan.actions[1].blocked_on = {ref("File[x]")};
  plan.actions[2].observe_only = true;
  plan.actions[3].kind = ActionKind::adopt;
  CHECK(next_wave(plan, {}) == Ordinals{4});
}

TEST_CASE("wave: Datum's own package is alone, once nothing else can run [U01]") {
  auto plan = plan_of(5);
  for (std::uint32_t i : {0U, 1U, 3U, 4U}) plan.actions[i].repeatable = false;
  plan.actions[0].target = {model::TargetFamily::package, "datum-host"};
  plan.actions[1].target = {model::TargetFamily::package, "nginx"};
  plan.actions[3].target = {model::TargetFamily::package, "vim"};
  plan.actions[4].target = {model::TargetFamily::package, "datum-control"};
  std::vector phases(5, Phase::waiting);
  CHECK(next_wave(plan, phases) == Ordinals{1, 3});
  phases[1] = Phase::succeeded;
  phases[3] = Phase::failed;
  CHECK(next_wave(plan, phases) == Ordinals{2});
  phases[2] = Phase::succeeded;
  CHECK(next_wave(plan, phases) == Ordinals{0});
  phases[0] = Phase::succeeded;
  CHECK(next_wave(plan, phases) == Ordinals{4});
}

TEST_CASE("wave: an action that is not repeatable is alone") {
  auto plan = plan_of(3);
  plan.actions[1].repeatable = false;
  CHECK(next_wave(plan, {}) == Ordinals{0, 2});
  const std::vector phases{Phase::succeeded, Phase::waiting, Phase::succeeded};
  CHECK(next_wave(plan, phases) == Ordinals{1});
  plan.actions[0].repeatable = false;
  CHECK(next_wave(plan, {}) == Ordinals{0});
}

TEST_CASE("wave: all packages that can run go together and with nothing else") {
  auto plan = plan_of(3);
  for (const auto i : {0U, 2U}) {
    plan.actions[i].target = {model::TargetFamily::package, "p" + std::to_string(i)};
    plan.actions[i].repeatable = false;
  }
  CHECK(next_wave(plan, {}) == Ordinals{0, 2});
}

TEST_CASE("wave: the number of actions and the staged bytes are bounded, one action always runs") {
  auto plan = plan_of(5);
  CHECK(next_wave(plan, {}, {2, 1000}) == Ordinals{0, 1});
  for (auto& action : plan.actions) action.staged_bytes = 400;
  CHECK(next_wave(plan, {}, {10, 1000}) == Ordinals{0, 1});
  plan.actions[0].staged_bytes = 5000;
  CHECK(next_wave(plan, {}, {10, 1000}) == Ordinals{0});
}

TEST_CASE("wave: a folder and what lies in it never share a wave, even without an edge") {
  auto plan = plan_of(2);
  plan.actions[0].target = path("/d");
  plan.actions[1].target = path("/d/e/f");
  CHECK(next_wave(plan, {}) == Ordinals{0});
  std::swap(plan.actions[0].target, plan.actions[1].target);
  CHECK(next_wave(plan, {}) == Ordinals{0});
  plan.actions[1].kind = ActionKind::update;  // the folder stays: nothing is in the way
  CHECK(next_wave(plan, {}) == Ordinals{0, 1});
  plan.actions[1].target = path("/d/e/f2");
  plan.actions[1].kind = ActionKind::create;
  CHECK(next_wave(plan, {}) == Ordinals{0, 1});
}

TEST_CASE("wave: packages that can run go before everything else that can") {
  World world;
  const auto manifest = manifest_of({file("a", "/a"), package("p"), package("q")});
  const auto plan = world.plan(manifest);
  const auto wave = next_wave(plan, {});
  CHECK(wave.size() == 2);
  for (const auto ordinal : wave)
    CHECK(plan.actions[ordinal].target.family == model::TargetFamily::package);
}
