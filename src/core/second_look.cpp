#include "datum/core/second_look.hpp"

#include <algorithm>

#include "planning.hpp"

namespace datum::core {
namespace {

// Nothing is left to do.
Action settled(const Subject& subject, Action action) {
  action.kind = subject.resource->absent() ? ActionKind::release : ActionKind::adopt;
  action.changes.clear();
  action.refusal.clear();
  action.note = "as declared once the packages were there";
  return action;
}

Action remake(const Planning& planning, const Subject& subject, const Action& planned) {
  const auto& now = *subject.observation;
  auto action = now.condition == Condition::drifted ? drifted_action(planning, subject) : planned;
  action.ordinal = planned.ordinal;
  action.after = planned.after;
  action.blocked_on = planned.blocked_on;
  action.repeatable = action.repeatable && planned.repeatable;
  action.found = now.found;
  action.identity = now.identity;
  if (now.condition == Condition::converged) return settled(subject, std::move(action));
  if (now.condition != Condition::drifted) {
    action.refusal = "unknown: " + now.reason.str();
    return action;
  }
  // Only entries of a purged folder differ; they have actions of their own, in the next pass.
  if (action.kind == ActionKind::update && action.changes.empty())
    return settled(subject, std::move(action));
  if (builds(action.kind) && action.refusal.empty() && !now.missing_parent.empty())
    action.refusal = missing_folder_words(now.missing_parent);
  return action;
}

}  // namespace

bool has_run_packages(const Plan& plan, std::span<const Phase> phases) {
  return std::any_of(plan.actions.begin(), plan.actions.end(), [phases](const Action& action) {
    if (action.target.family != model::TargetFamily::package || action.ordinal >= phases.size())
      return false;
    const auto phase = phases[action.ordinal];
    return phase == Phase::succeeded || phase == Phase::failed;
  });
}

Plan plan_again(const PlanInput& input, const Plan& plan, std::span<const std::uint32_t> ordinals) {
  const Planning planning(input);
  auto again = plan;
  for (const auto ordinal : ordinals) {
    auto& action = again.actions[ordinal];
    if (action.kind == ActionKind::purge || action.kind == ActionKind::leave) continue;
    const auto* subject = planning.find(action.reference);
    if (subject == nullptr || subject->observation == nullptr) continue;
    action = remake(planning, *subject, action);
  }
  return again;
}

}  // namespace datum::core
