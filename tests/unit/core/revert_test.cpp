// A pass is undone: what may be, what is refused, and what is true of the host afterwards.
#include <catch2/catch.hpp>

#include "datum/core/look_back.hpp"
#include "world.hpp"

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

namespace {

// What undoing needs of a pass, from its events and what there was before it.
struct Former {
  std::shared_ptr<Reversal> reversal = std::make_shared<Reversal>();
  std::vector<model::Resource> resources;  // that declare it
};

Former former_of(const std::vector<Event>& events, const World& world, const Machine& before) {
  Former former;
  former.reversal->pass = world.state.last_pass->id;
  former.reversal->manifest = world.state.last_declared;
  for (const auto& done : all_of_kind<ActionSucceeded>(events)) {
    Undo undo;
    undo.target = done.target;
    undo.origin = done.reference;
    undo.left = done.left;
    const auto* object = before.find(done.target);
    undo.restores = object != nullptr;
    auto resource = file(done.reference.name.str(), done.target.name.str(),
                         object == nullptr ? "" : object->content);
    if (object == nullptr) resource = absent(resource);
    undo.reference = resource.reference;
    for (const auto& created : all_of_kind<OwnershipCreated>(events))
      undo.disowns = undo.disowns || created.target == done.target;
    for (const auto& adopted : all_of_kind<OwnershipAdopted>(events))
      undo.disowns = undo.disowns || adopted.target == done.target;
    former.reversal->undos.push_back(undo);
    former.resources.push_back(std::move(resource));
  }
  std::sort(former.reversal->undos.begin(), former.reversal->undos.end(),
            [](const Undo& a, const Undo& b) { return a.target < b.target; });
  return former;
}

// A reverting pass as the engine runs it.
struct Reverting {
  World& world;
  Former former;
  RemovalLimits limits = {};
  Mode mode = Mode::enforce;
  std::shared_ptr<const Plan> plan = nullptr;

  model::ManifestPtr manifest() const { return manifest_of(former.resources); }

  void begin() {
    StartPass start;
    start.started.mode = {mode, ModeTerm::configuration, "test"};
    start.started.declaration.manifest = digest_of("revert");
    start.started.reverts = former.reversal->pass;
    start.manifest_empty = former.resources.empty();
    world.run(start);
    const auto declared = manifest();
    const auto seen = world.observe(declared);
    std::vector<LeavingObservation> looks;
    for (const auto& undo : former.reversal->undos)
      looks.push_back(world.machine.observe_leaving(undo.target));
    const auto contradicted = contradicted_by(world.state, *former.reversal, looks);
    if (!contradicted.empty()) world.run(RecordObservations{contradicted, true});
    PlanInput input;
    input.manifest = declared.get();
    input.observations = seen;
    input.leaving = looks;
    input.state = &world.state;
    input.limits = limits;
    input.reversal = former.reversal.get();
    plan = std::make_shared<const Plan>(compute_plan(input));
    world.run(RecordPlan{plan->empty() ? Digest{} : digest_of(text_of(*plan)), plan->counts,
                         plan->empty(), digest_of("all")});
  }
  void act(const std::function<void()>& before_results = {}) {
    const auto declared = manifest();
    world.run(RecordRefusals{plan, std::vector<Digest>(plan->actions.size())});
    for (;;) {
      const auto wave = next_wave(*plan, world.state.pass->phases);
      if (wave.empty()) return;
      world.announce(*plan, wave);
      RecordResults results{plan, declared.get(), {}, world.now, world.mono, former.reversal};
      for (const auto ordinal : wave)
        results.results.push_back(world.machine.act(plan->actions[ordinal], *declared));
      if (before_results) return before_results();
      world.run(results);
    }
  }
  std::vector<Event> run() {
    const auto from = world.journal.size();
    begin();
    if (mode == Mode::enforce) act();
    world.finish(*plan);
    std::vector<Event> events;
    for (auto i = from; i < world.journal.size(); ++i) events.push_back(world.journal[i].event);
    return events;
  }
};

}  // namespace

TEST_CASE("revert: what the pass made goes, what it changed comes back, and both are kept") {
  World world;
  world.machine.put("/a", Found::file, "old");
  const auto before = world.machine;
  const auto manifest = manifest_of({file("a", "/a", "new"), file("b", "/b", "made")});
  const auto events = world.pass(manifest);
  const auto pass = world.state.last_pass->id;
  Reverting reverting{world, former_of(events, world, before)};
  const auto undone = reverting.run();
  CHECK(world.machine.find("/a")->content == "old");
  CHECK(world.machine.find("/b") == nullptr);
  CHECK(world.state.owned.empty());
  CHECK(world.state.kept.size() == 2);
  REQUIRE(all_of_kind<PassReverted>(undone).size() == 1);
  CHECK(all_of_kind<PassReverted>(undone)[0].pass == pass);
  SECTION("the declared resources are drifted, and the last pass is the one over a declaration") {
    CHECK(world.status().condition == Condition::drifted);
    CHECK(world.status().counts.drifted == 2);
    CHECK(world.state.last_pass->id == pass);
  }
  SECTION("the next pass over the same manifest only observes them") {
    const auto again = world.pass(manifest);
    CHECK(all_of_kind<ActionSucceeded>(again).empty());
    CHECK(all_of_kind<ResourceObserved>(again).size() == 2);
    CHECK(world.machine.find("/a")->content == "old");
  }
}

TEST_CASE(
    "revert: what is kept ends with another manifest that is enforced, not with one observed") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest);
  const auto until = until_newer(world.state);
  world.run(KeepTarget{path("/a"), until.until_generation, until.manifest, {}});
  const auto other = manifest_of({file("a", "/a", "other")});
  World::PassOptions observing;
  observing.mode = Mode::observe;
  CHECK_FALSE(find_action(world.plan(other), path("/a"))->observe_only);
  world.pass(other, observing);
  CHECK(world.state.kept.size() == 1);
  CHECK(is_kept(world.state, path("/a"), manifest->digest));
  world.pass(manifest);
  CHECK(world.state.kept.size() == 1);
  world.pass(other);
  CHECK(world.state.kept.empty());
  CHECK(world.machine.find("/a")->content == "other");
}

TEST_CASE("revert: what is not as the pass left it stays, and the others are undone") {
  World world;
  const auto before = world.machine;
  const auto events =
      world.pass(manifest_of({file("a", "/a"), file("b", "/b"), file("c", "/c"), file("d", "/d")}));
  world.machine.edit("/a", "by hand");
  world.machine.put("/b", Found::file, "x");
  world.machine.put("/c", Found::symlink, "x");
  Reverting reverting{world, former_of(events, world, before)};
  const auto undone = reverting.run();
  CHECK(all_of_kind<ActionFailed>(undone).size() == 3);
  CHECK(world.machine.find("/a")->content == "by hand");
  CHECK(world.machine.find("/b") != nullptr);
  CHECK(world.machine.find("/c")->found == Found::symlink);
  CHECK(world.machine.find("/d") == nullptr);
  CHECK(world.state.kept.size() == 1);
  CHECK(find_action(*reverting.plan, path("/b"))->refusal.starts_with("conflict: changed since"));
}

TEST_CASE("revert: a declared resource that it finds changed is drifted, in observe too") {
  World world;
  const auto before = world.machine;
  const auto manifest = manifest_of({file("a", "/a"), file("b", "/b"), file("c", "/c")});
  const auto events = world.pass(manifest);
  world.machine.put("/b", Found::symlink, "x");
  Reverting observing{world, former_of(events, world, before), {}, Mode::observe};
  const auto seen = all_of_kind<ResourceObserved>(observing.run());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].condition == Condition::drifted);
  CHECK(seen[0].reference == file("b", "/b").reference);
  CHECK(seen[0].reason.starts_with("changed since Datum left it"));
  CHECK(world.status().condition == Condition::drifted);
  CHECK(world.status().counts.converged == 2);
  CHECK(all_of_kind<ResourceObserved>(Reverting{world, observing.former}.run()).empty());
  world.pass(manifest);
  CHECK(world.state.resources.at(path("/b")).condition == Condition::converged);
}

TEST_CASE("revert: a change that may be nobody's declaration is unknown, never drifted") {
  World world;
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a")}));
  const auto other = manifest_of({file("a", "/a", "declared now")});
  world.pass(other);
  world.machine.take("/a");
  Reverting reverting{world, former_of(events, world, before)};
  reverting.former.reversal->manifest = digest_of("what was declared then");
  reverting.run();
  CHECK(world.state.resources.at(path("/a")).condition == Condition::unknown);
}

TEST_CASE("revert: what a later pass changed is no contradiction of what it left") {
  World world;
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a"), file("b", "/b")}));
  auto former = former_of(events, world, before);
  world.pass(manifest_of({file("a", "/a", "newer"), absent(file("b", "/b"))}));
  const auto seen = Reverting{world, former}.run();
  CHECK(all_of_kind<ActionFailed>(seen).size() >= 1);
  CHECK(all_of_kind<ResourceObserved>(seen).empty());
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE("revert: what is as before already is kept, and the plan is empty") {
  World world;
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a")}));
  world.machine.take("/a");
  Reverting reverting{world, former_of(events, world, before)};
  reverting.begin();
  CHECK(reverting.plan->empty());
  world.run(RecordUndone{reverting.former.reversal, {path("/a")}});
  world.finish(*reverting.plan);
  CHECK(is_kept(world.state, path("/a"), world.state.last_declared));
}

TEST_CASE("revert: every removal counts for the brake") {
  World world;
  const auto before = world.machine;
  std::vector<model::Resource> files;
  for (int i = 10; i < 22; ++i) {
    const auto name = std::to_string(i);
    files.push_back(file(name, "/" + name));
  }
  const auto events = world.pass(manifest_of(files));
  Reverting braked{world, former_of(events, world, before)};
  braked.run();
  CHECK(braked.plan->brake.engaged);
  CHECK(world.machine.objects().size() == 12);
  CHECK(world.state.kept.empty());
  Reverting allowed{world, braked.former, {}};
  allowed.limits.allowed = 12;
  allowed.run();
  CHECK(world.machine.objects().empty());
}

TEST_CASE("revert: in observe the plan is the same and nothing is kept") {
  World world;
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a")}));
  Reverting observing{world, former_of(events, world, before), {}, Mode::observe};
  const auto seen = observing.run();
  CHECK(observing.plan->actions.size() == 1);
  CHECK(all_of_kind<PassReverted>(seen).empty());
  CHECK(world.state.kept.empty());
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE("revert: undoing a reverting pass lifts what that one kept") {
  World world;
  world.machine.put("/a", Found::file, "old");
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a", "new")}));
  const auto enforced = world.machine;
  Reverting first{world, former_of(events, world, before)};
  const auto undone = first.run();
  auto former = former_of(undone, world, enforced);
  former.reversal->pass = all_of_kind<PassReverted>(undone)[0].by;
  former.reversal->manifest = {};
  Reverting second{world, former};
  second.run();
  CHECK(world.machine.find("/a")->content == "new");
  CHECK(world.state.kept.empty());
  CHECK(world.status().condition == Condition::unknown);
}

TEST_CASE("revert: what was owned before the pass let it go is owned again") {
  World world;
  const auto a = file("a", "/a");
  world.pass(manifest_of({a, file("b", "/b")}));
  const auto before = world.machine;
  const auto owned = world.state.owned.at(path("/a"));
  const auto events = world.pass(manifest_of({file("b", "/b")}));
  REQUIRE(world.machine.find("/a") == nullptr);
  auto former = former_of(events, world, before);
  former.reversal->undos[0].owned = owned;
  Reverting reverting{world, former};
  reverting.run();
  CHECK(world.machine.find("/a")->content == "x");
  CHECK(world.state.owned.at(path("/a")).created);
  CHECK(find_action(world.plan(manifest_of({file("b", "/b")})), path("/a"))->observe_only);
}

TEST_CASE("revert: the units that a change was announced to are told again") {
  World world;
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a")}));
  auto former = former_of(events, world, before);
  const model::Target unit{model::TargetFamily::unit, "web.service"};
  former.reversal->undos[0].notifications.push_back({unit, ref("Service[web]"), true});
  Reverting reverting{world, former};
  reverting.run();
  REQUIRE(reverting.plan->notifications.size() == 1);
  CHECK(reverting.plan->counts.restarts == 1);
  REQUIRE(world.state.pending.contains(unit));
  CHECK(world.state.pending.at(unit).restart);
}

TEST_CASE("revert: what took effect in one that died is kept, and quarantine and last pass stay") {
  World world;
  world.machine.put("/a", Found::file, "old");
  const auto before = world.machine;
  const auto manifest = manifest_of({file("a", "/a", "new")});
  const auto events = world.pass(manifest);
  const auto last = world.state.last_pass->id;
  Reverting reverting{world, former_of(events, world, before)};
  reverting.begin();
  reverting.act([&] {
    RecordRecovery recovery;
    recovery.actions = {{0, RecoveredOutcome::took_effect, {}, false, {}}};
    recovery.reversal = reverting.former.reversal.get();
    world.run(recovery);
    world.run(InterruptPass{});
  });
  CHECK(is_kept(world.state, path("/a"), manifest->digest));
  CHECK(world.state.last_pass->id == last);
  CHECK(world.state.resources.at(path("/a")).condition == Condition::unknown);
  CHECK(world.state.owned.empty());
  world.pass(manifest);
  CHECK(world.machine.find("/a")->content == "old");
}

TEST_CASE("revert: a bound store undoes too, and keeps until the next generation") {
  World world;
  const auto before = world.machine;
  const auto manifest = manifest_of({file("a", "/a")});
  DeclarationId declaration;
  declaration.number = 4;
  declaration.manifest = manifest->digest;
  world.append(DeclarationAccepted{declaration, {}, {}});
  const auto events = world.pass(manifest);
  Reverting reverting{world, former_of(events, world, before)};
  reverting.run();
  CHECK(world.state.kept.at(path("/a")).until_generation == 5);
  CHECK(world.state.kept.at(path("/a")).manifest.empty());
  declaration.number = 5;
  world.append(DeclarationAccepted{declaration, {}, {}});
  CHECK(world.state.kept.empty());
}

TEST_CASE("revert: a reverting pass records no observation") {
  World world;
  const auto before = world.machine;
  const auto events = world.pass(manifest_of({file("a", "/a")}));
  Reverting reverting{world, former_of(events, world, before)};
  reverting.begin();
  CHECK(world.try_run(RecordObservations{}).error().code() == ErrorCode::refused);
}
