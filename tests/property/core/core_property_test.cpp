// What holds for every host, manifest and course of a pass.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "scenario.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

// Enough for three manifests with machine and faults.
constexpr std::size_t kBytes = 600;

// Runs the property on random dice; Catch sees one assertion. (RC_ASSERT takes its expression
// apart, so that `||` in one needs parentheses of its own to keep its order.)
void check_all(const char* what, const std::function<void(Dice&)>& property) {
  CHECK(rc::check(what, [&property] {
    Dice dice(
        *rc::gen::container<std::vector<std::uint8_t>>(kBytes, rc::gen::arbitrary<std::uint8_t>()));
    property(dice);
  }));
}

// A host with some history: passes over earlier manifests, faults and meddling between them.
void draw_history(Dice& dice, World& world) {
  draw_foreign(dice, world.machine);
  for (auto count = dice.roll(3); count > 0; --count) {
    auto options = draw_options(dice);
    world.pass(manifest_of(draw_resources(dice)), options);
    world.advance(600);
    meddle(dice, world.machine);
  }
}

Plan plan_shuffled(Dice& dice, const World& world, const model::ManifestPtr& manifest) {
  auto mixed = std::make_shared<model::Manifest>(*manifest);
  auto observations = world.observe(manifest);
  auto leaving = world.observe_leaving(manifest);
  dice.shuffle(observations);
  dice.shuffle(leaving);
  PlanInput input;
  input.manifest = mixed.get();
  input.observations = observations;
  input.leaving = leaving;
  input.state = &world.state;
  return compute_plan(input);
}

// Everything that the action comes after, directly or not.
std::set<std::uint32_t> all_before(const Plan& plan, std::uint32_t ordinal) {
  std::set<std::uint32_t> before;
  std::vector<std::uint32_t> open{ordinal};
  while (!open.empty()) {
    const auto at = open.back();
    open.pop_back();
    for (const auto each : plan.actions[at].after)
      if (before.insert(each).second) open.push_back(each);
  }
  return before;
}

bool lies_below(const model::Target& inner, const model::Target& folder) {
  return inner.family == model::TargetFamily::path && folder.family == inner.family &&
         inner.name.starts_with(folder.name + "/");
}

void check_wave(const Plan& plan, const std::vector<std::uint32_t>& wave,
                const WaveLimits& limits) {
  RC_ASSERT(!wave.empty());
  RC_ASSERT(wave.size() <= limits.actions);
  for (const auto a : wave) {
    RC_ASSERT(is_mutating(plan.actions[a].kind));
    RC_ASSERT(!plan.actions[a].observe_only);
    const auto before = all_before(plan, a);
    for (const auto b : wave) {
      if (a == b) continue;
      RC_ASSERT(!before.contains(b));
      const auto& folder = plan.actions[b];
      if (folder.kind != ActionKind::update)
        RC_ASSERT(!lies_below(plan.actions[a].target, folder.target));
    }
  }
}

// How often each action of the pass ended.
std::map<std::uint32_t, int> count_ends(const std::vector<Event>& events) {
  std::map<std::uint32_t, int> ends;
  for (const auto& event : all_of_kind<ActionSucceeded>(events)) ++ends[event.ordinal];
  for (const auto& event : all_of_kind<ActionFailed>(events)) ++ends[event.ordinal];
  for (const auto& event : all_of_kind<ActionBlocked>(events)) ++ends[event.ordinal];
  for (const auto& event : all_of_kind<ActionSkipped>(events)) ++ends[event.ordinal];
  return ends;
}

// Objects that this pass has no business with: not declared, not made by Datum and untouched, not
// in a purged folder.
std::map<model::Target, Object> find_bystanders(const World& world,
                                                const model::ManifestPtr& manifest) {
  std::map<model::Target, Object> bystanders;
  for (const auto& [target, object] : world.machine.objects()) {
    bool concerned = false;
    for (const auto& resource : manifest->resources) {
      const auto& name = resource->target.name;
      const bool purges = resource->flag(model::Field::purge) &&
                          lies_below(target, resource->target) &&
                          target.name.find("/", name.size() + 1) == std::string::npos;
      concerned = concerned || resource->target == target || purges;
    }
    const auto owned = world.state.owned.find(target);
    const auto seen = world.machine.observe_leaving(target);
    const Left left{seen.found, seen.identity.device, seen.identity.inode, seen.content};
    const bool made = owned != world.state.owned.end() && owned->second.created &&
                      !owned->second.protect && owned->second.left == left;
    if (!concerned && !made) bystanders.emplace(target, object);
  }
  return bystanders;
}

}  // namespace

TEST_CASE("property: the plan does not depend on the order in which its input comes") {
  check_all("order", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto manifest = manifest_of(draw_resources(dice));
    const auto once = text_of(world.plan(manifest));
    RC_ASSERT(once == text_of(plan_shuffled(dice, world, manifest)));
  });
}

TEST_CASE("property: a plan has one action per target, in an order that its edges allow") {
  check_all("one action per target", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto plan = world.plan(manifest_of(draw_resources(dice)));
    std::set<model::Target> targets;
    for (std::uint32_t i = 0; i < plan.actions.size(); ++i) {
      const auto& action = plan.actions[i];
      RC_ASSERT(action.ordinal == i);
      RC_ASSERT(targets.insert(action.target).second);
      RC_ASSERT(std::is_sorted(action.after.begin(), action.after.end()));
      RC_ASSERT((action.after.empty() || action.after.back() < i));
      for (const auto before : action.after)
        RC_ASSERT((action.observe_only || !plan.actions[before].observe_only));
    }
  });
}

TEST_CASE("property: folders are made before and removed after what lies in them") {
  check_all("folders", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto plan = world.plan(manifest_of(draw_resources(dice)));
    RC_LOG() << text_of(plan);
    for (const auto& folder : plan.actions) {
      // A refused one changes nothing: what contradicts itself (a File where resources are declared
      // below) has no order that would be right.
      if (!is_mutating(folder.kind) || folder.kind == ActionKind::update || !folder.refusal.empty())
        continue;
      for (const auto& inner : plan.actions) {
        if (!is_mutating(inner.kind) || !lies_below(inner.target, folder.target)) continue;
        const bool inner_goes = inner.kind == ActionKind::remove ||
                                inner.kind == ActionKind::leave || inner.kind == ActionKind::purge;
        const bool folder_comes =
            folder.kind == ActionKind::create || folder.kind == ActionKind::replace;
        if (!inner_goes && folder_comes) RC_ASSERT(folder.ordinal < inner.ordinal);
        if (inner_goes && !folder_comes) RC_ASSERT(inner.ordinal < folder.ordinal);
      }
    }
  });
}

TEST_CASE("property: the same observations give the same plan in observe and in enforce") {
  check_all("modes", [](Dice& dice) {
    World observe;
    draw_history(dice, observe);
    const auto manifest = manifest_of(draw_resources(dice));
    World enforce = observe;
    World::PassOptions options;
    options.mode = Mode::observe;
    observe.start(manifest, options);
    const auto seen = observe.observe_and_plan(manifest, options);
    options.mode = Mode::enforce;
    enforce.start(manifest, options);
    RC_ASSERT(text_of(*seen) == text_of(*enforce.observe_and_plan(manifest, options)));
    RC_ASSERT(observe.journal.size() == enforce.journal.size());
    for (std::size_t i = 0; i < observe.journal.size(); ++i)
      if (kind_of(observe.journal[i].event) != EventKind::pass_started)
        RC_ASSERT(observe.journal[i].event == enforce.journal[i].event);
  });
}

TEST_CASE("property: waves hold nothing that depends on each other, and every action ends once") {
  check_all("waves", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    auto options = draw_options(dice);
    options.mode = Mode::enforce;
    Plan plan;
    options.on_wave = [&](const Plan& running, const std::vector<std::uint32_t>& wave) {
      plan = running;
      check_wave(running, wave, options.waves);
    };
    const auto manifest = manifest_of(draw_resources(dice));
    const auto events = world.pass(manifest, options);
    const auto ends = count_ends(events);
    for (const auto& [ordinal, count] : ends) RC_ASSERT(count == 1);
    for (const auto& action : plan.actions)
      RC_ASSERT(ends.contains(action.ordinal) ==
                (is_mutating(action.kind) && !action.observe_only));
  });
}

TEST_CASE("property: what is only observed never runs") {
  check_all("observe", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto manifest = manifest_of(draw_resources(dice));
    World::PassOptions options;
    for (const auto& resource : manifest->resources)
      options.observe_list.push_back(resource->reference);
    for (const auto& [target, owned] : world.state.owned)
      options.observe_list.push_back(owned.reference);
    RC_ASSERT(next_wave(world.plan(manifest, options), {}).empty());
  });
}

TEST_CASE("property: a pass in observe changes nothing on the machine and owns nothing new") {
  check_all("observe pass", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    auto options = draw_options(dice);
    options.mode = Mode::observe;
    const auto owned = world.state.owned;
    const auto inodes = [&] {
      std::map<model::Target, std::uint64_t> all;
      for (const auto& [target, object] : world.machine.objects()) all[target] = object.inode;
      return all;
    };
    const auto before = inodes();
    world.pass(manifest_of(draw_resources(dice)), options);
    RC_ASSERT(before == inodes());
    RC_ASSERT(owned == world.state.owned);
  });
}

TEST_CASE("property: folding the whole journal gives the running state, from whatever checkpoint") {
  check_all("fold", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto cut = dice.roll(255) * world.journal.size() / 255;
    State whole;
    State prefix;
    for (std::size_t i = 0; i < world.journal.size(); ++i) {
      if (i == cut) prefix = whole;
      evolve(whole, world.journal[i].event, world.journal[i].place);
    }
    for (auto i = cut; i < world.journal.size(); ++i)
      evolve(prefix, world.journal[i].event, world.journal[i].place);
    RC_ASSERT(whole == world.state);
    RC_ASSERT((prefix == world.state || cut == world.journal.size()));
  });
}

TEST_CASE("property: documents that only change their names change nothing on the machine") {
  check_all("rename", [](Dice& dice) {
    World world;
    draw_foreign(dice, world.machine);
    auto resources = draw_resources(dice, {false, true, true});
    world.pass(manifest_of(resources));
    world.pass(manifest_of(resources));
    for (auto& resource : resources) {
      const auto rename = [](model::Reference& reference) {
        if (reference.type <= model::ResourceType::symlink)
          reference.name = "new-" + reference.name;
      };
      rename(resource.reference);
      for (auto* list : {&resource.requirements, &resource.restart_on, &resource.reload_on})
        std::for_each(list->begin(), list->end(), rename);
    }
    const auto manifest = manifest_of(resources);
    const auto plan = world.plan(manifest);
    RC_ASSERT(next_wave(plan, {}).empty());
    RC_ASSERT(plan.counts.leave == 0);
    RC_ASSERT(plan.counts.release == 0);
    const auto owned = world.state.owned.size();
    world.pass(manifest);
    RC_ASSERT(world.state.owned.size() == owned);
  });
}

TEST_CASE("property: above its number, or its share, the brake lets no removal through") {
  check_all("brake", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    auto options = draw_options(dice);
    options.mode = Mode::enforce;
    const auto owned = world.state.owned.size();
    std::size_t removals = 0;
    options.on_wave = [&](const Plan& plan, const std::vector<std::uint32_t>& wave) {
      for (const auto ordinal : wave) removals += is_braked_removal(plan.actions[ordinal].kind);
    };
    world.pass(manifest_of(draw_resources(dice)), options);
    const auto& limits = options.limits;
    RC_ASSERT(removals <= std::max(limits.max, limits.allowed));
    const bool by_share =
        owned >= limits.share_from && removals * 100 > owned * limits.share_percent;
    RC_ASSERT((!by_share || removals <= limits.allowed));
  });
}

TEST_CASE(
    "property: what Datum did not make, or was changed since, survives unless it is declared") {
  check_all("bystanders", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto manifest = manifest_of(draw_resources(dice));
    auto options = draw_options(dice);
    options.mode = Mode::enforce;
    options.limits = {1000, 100, 1, 1000};
    const auto bystanders = find_bystanders(world, manifest);
    RC_LOG() << text_of(world.plan(manifest, options));
    world.pass(manifest, options);
    for (const auto& [target, object] : bystanders) {
      const auto* now = world.machine.find(target);
      RC_LOG() << target.text() << " " << to_string(object.found) << " " << object.content << "\n";
      RC_ASSERT((now != nullptr));
      RC_ASSERT(now->inode == object.inode);
      RC_ASSERT(now->content == object.content);
    }
  });
}

TEST_CASE("property: without faults a second pass finds nothing more that it could do") {
  check_all("convergence", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    const auto manifest = manifest_of(draw_resources(dice));
    World::PassOptions options;
    options.limits = {1000, 100, 1, 1000};
    world.pass(manifest, options);
    world.pass(manifest, options);
    const auto plan = world.plan(manifest, options);
    RC_ASSERT(next_wave(plan, {}).empty());
    const auto changes = world.pass(manifest, options);
    RC_ASSERT(all_of_kind<ActionSucceeded>(changes).empty());
    RC_ASSERT(all_of_kind<ResourceObserved>(changes).empty());
    RC_ASSERT(all_of_kind<PlanComputed>(changes).size() <= 1);
  });
}

TEST_CASE(
    "property: a pass that dies in a wave is recovered, and what it made is owned as created") {
  check_all("recovery", [](Dice& dice) {
    World world;
    const auto manifest = manifest_of(draw_resources(dice, {false, false, true}));
    world.start(manifest, {});
    const auto plan = world.observe_and_plan(manifest, {});
    world.run(RecordRefusals{plan, {}});
    auto wave = next_wave(*plan, world.state.pass->phases);
    RC_PRE(!wave.empty());
    world.announce(*plan, wave);
    RecordRecovery recovery;
    recovery.manifest = dice.one_in(2) ? manifest.get() : nullptr;
    for (const auto ordinal : wave) {
      RecoveredAction seen{ordinal, RecoveredOutcome::did_not, {}};
      if (dice.one_in(2) && !world.machine.act(plan->actions[ordinal], *manifest).error) {
        const auto now = world.machine.observe_leaving(plan->actions[ordinal].target);
        seen.outcome = RecoveredOutcome::took_effect;
        seen.left = {now.found, now.identity.device, now.identity.inode, now.content};
      }
      recovery.actions.push_back(seen);
    }
    world.run(OpenStore{world.boot, "1.0", "/", "h"});
    world.run(recovery);
    world.run(InterruptPass{});
    RC_ASSERT(!world.state.pass.has_value());
    World::PassOptions options;
    options.limits = {1000, 100, 1, 1000};
    world.pass(manifest, options);
    RC_ASSERT(next_wave(world.plan(manifest, options), {}).empty());
    for (const auto& [target, object] : world.machine.objects()) {
      RC_ASSERT(world.state.owned.contains(target));
      RC_ASSERT(world.state.owned.at(target).created ==
                (target.family != model::TargetFamily::unit));
    }
    for (const auto& resource : manifest->resources) {
      const auto owned = world.state.owned.find(resource->target);
      if (owned != world.state.owned.end()) RC_ASSERT(owned->second.protect == resource->protect);
    }
  });
}

TEST_CASE("property: the host's word does not depend on any mode") {
  check_all("word", [](Dice& dice) {
    World world;
    draw_history(dice, world);
    auto options = draw_options(dice);
    world.pass(manifest_of(draw_resources(dice)), options);
    auto other = world.state;
    auto& mode = other.last_pass->mode.mode;
    mode = mode == Mode::observe ? Mode::enforce : Mode::observe;
    other.local_hold = Hold{};
    StatusInput input;
    input.now = world.now;
    RC_ASSERT(compute_status(world.state, input).condition ==
              compute_status(other, input).condition);
  });
}

TEST_CASE("property: a term more never raises a mode") {
  check_all("mode", [](Dice& dice) {
    ModeTerms terms;
    const auto draw_mode = [&dice]() -> std::optional<Mode> {
      const auto roll = dice.roll(3);
      if (roll == 0) return {};
      return roll == 1 ? Mode::observe : Mode::enforce;
    };
    terms.configured = draw_mode();
    terms.argument = draw_mode();
    terms.held = dice.one_in(2);
    terms.outside_window = dice.one_in(2);
    const auto before = host_mode(terms);
    auto more = terms;
    (dice.one_in(2) ? more.held : more.outside_window) = true;
    const auto after = host_mode(more);
    RC_ASSERT(after.mode <= before.mode);
    const auto resource = resource_mode(before, dice.one_in(2), dice.one_in(2));
    RC_ASSERT(resource.mode <= before.mode);
    RC_ASSERT(!after.reason.empty());
  });
}
