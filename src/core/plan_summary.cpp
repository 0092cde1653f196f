// What follows from the whole of a plan: the brake, the notifications it will raise, the counts.
#include <algorithm>
#include <map>

#include "planning.hpp"

namespace datum::core {
namespace {

using model::Reference;

// Undoing takes away what a pass made: nobody declared that it goes.
bool is_removal_to_do(const Planning& planning, const Action& action) {
  const bool braked =
      planning.input.reversal != nullptr ? removes(action.kind) : is_braked_removal(action.kind);
  return braked && action.refusal.empty() && !action.observe_only;
}

bool exceeds(const Brake& brake, const RemovalLimits& limits) {
  if (brake.removals > limits.max) return true;
  return brake.owned >= limits.share_from &&
         std::uint64_t{brake.removals} * 100 > std::uint64_t{brake.owned} * limits.share_percent;
}

std::string brake_words(const Brake& brake, const RemovalLimits& limits) {
  const auto count = std::to_string(brake.removals);
  return "brake: " + count + (brake.removals == 1 ? " removal" : " removals") +
         " in one pass, of " + std::to_string(brake.owned) + " owned; without leave at most " +
         std::to_string(limits.max) + ", and at most " + std::to_string(limits.share_percent) +
         " % from " + std::to_string(limits.share_from) +
         " owned on, are done; allow them with --allow-removals " + count;
}

// Actions of the plan that are known not to run: refused, blocked, or after one of these.
std::vector<bool> find_dead(const std::vector<Action>& actions) {
  std::vector<bool> dead(actions.size(), false);
  for (const auto& action : actions) {
    if (action.observe_only || !is_mutating(action.kind)) continue;
    dead[action.ordinal] = !action.refusal.empty() || !action.blocked_on.empty() ||
                           std::any_of(action.after.begin(), action.after.end(),
                                       [&](std::uint32_t before) { return dead[before]; });
  }
  return dead;
}

// References whose resources this plan changes, sorted.
std::vector<Reference> find_changing(const Plan& plan, const std::vector<bool>& dead) {
  std::vector<Reference> changing;
  for (const auto& action : plan.actions)
    if (is_mutating(action.kind) && action.kind != ActionKind::leave && !action.observe_only &&
        !dead[action.ordinal])
      changing.push_back(action.reference);
  std::sort(changing.begin(), changing.end());
  changing.erase(std::unique(changing.begin(), changing.end()), changing.end());
  return changing;
}

std::vector<Reference> intersection(const std::vector<Reference>& causes,
                                    const std::vector<Reference>& changing) {
  std::vector<Reference> both;
  for (const auto& reference : causes)
    if (std::binary_search(changing.begin(), changing.end(), reference)) both.push_back(reference);
  return both;
}

// A service that is declared stopped has nothing to restart, and one that is not managed here would
// stay pending for ever.
bool can_be_notified(const Subject& subject) {
  const bool skipped =
      subject.observation != nullptr && subject.observation->condition == Condition::skipped;
  return subject.resource->reference.type == model::ResourceType::service && !skipped &&
         subject.resource->text(model::Field::state) != "stopped";
}

void add_notification(const Subject& subject, const std::vector<Reference>& changing, Plan& plan) {
  PlannedNotification planned;
  planned.service = subject.resource->reference;
  planned.observe_only = subject.observe_only;
  planned.by = intersection(subject.resource->restart_on, changing);
  planned.restart = !planned.by.empty();
  const auto reloads = intersection(subject.resource->reload_on, changing);
  planned.by.insert(planned.by.end(), reloads.begin(), reloads.end());
  if (planned.by.empty()) return;
  std::sort(planned.by.begin(), planned.by.end());
  planned.by.erase(std::unique(planned.by.begin(), planned.by.end()), planned.by.end());
  plan.notifications.push_back(std::move(planned));
}

// The units that were told of what is undone now.
void notify_undone(const Reversal& reversal, const std::vector<Reference>& changing, Plan& plan) {
  std::map<Reference, PlannedNotification> planned;
  for (const auto& undo : reversal.undos) {
    if (!std::binary_search(changing.begin(), changing.end(), undo.reference)) continue;
    for (const auto& one : undo.notifications) {
      auto& each = planned[one.service];
      each.service = one.service;
      each.restart = each.restart || one.restart;
      each.by.push_back(undo.reference);
    }
  }
  for (auto& [service, each] : planned) {
    std::sort(each.by.begin(), each.by.end());
    plan.notifications.push_back(std::move(each));
  }
}

std::uint32_t* counter_of(PlanCounts& counts, ActionKind kind) {
  switch (kind) {
    case ActionKind::create:
      return &counts.create;
    case ActionKind::update:
      return &counts.update;
    case ActionKind::replace:
      return &counts.replace;
    case ActionKind::remove:
      return &counts.remove;
    case ActionKind::purge:
      return &counts.purge;
    case ActionKind::leave:
      return &counts.leave;
    case ActionKind::release:
      return &counts.release;
    case ActionKind::adopt:
      return &counts.adopt;
    case ActionKind::rename:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

void apply_brake(Planning& planning) {
  auto& brake = planning.brake;
  const auto& limits = planning.input.limits;
  brake.owned = static_cast<std::uint32_t>(planning.state.owned.size());
  brake.allowed = limits.allowed;
  for (const auto& draft : planning.drafts)
    if (is_removal_to_do(planning, draft.action)) ++brake.removals;
  brake.engaged = exceeds(brake, limits) && brake.removals > limits.allowed;
  if (!brake.engaged) return;
  const auto words = brake_words(brake, limits);
  for (auto& draft : planning.drafts)
    if (is_removal_to_do(planning, draft.action)) draft.action.refusal = words;
}

// Counts say what the plan holds; what of it is known not to run is counted beside, not taken off.
void count_and_notify(const Planning& planning, Plan& plan) {
  const auto dead = find_dead(plan.actions);
  const auto changing = find_changing(plan, dead);
  if (planning.input.reversal != nullptr)
    notify_undone(*planning.input.reversal, changing, plan);
  else
    for (const auto& subject : planning.subjects)
      if (can_be_notified(subject)) add_notification(subject, changing, plan);
  for (const auto& action : plan.actions) {
    if (auto* counter = counter_of(plan.counts, action.kind)) ++*counter;
    if (!action.refusal.empty())
      ++plan.counts.refused;
    else if (dead[action.ordinal])
      ++plan.counts.blocked;
  }
  for (const auto& planned : plan.notifications)
    if (!planned.observe_only) ++(planned.restart ? plan.counts.restarts : plan.counts.reloads);
}

}  // namespace datum::core
