// Actions that change nothing on the machine, and the delivery of notifications.
#include <algorithm>

#include "bounds.hpp"
#include "decisions.hpp"
#include "ownership.hpp"
#include "reverting.hpp"

namespace datum::core {

namespace {

using ByReference = std::map<model::Reference, const Observation*>;

ByReference index_observations(std::span<const Observation> observations) {
  ByReference index;
  for (const auto& observation : observations) index.emplace(observation.reference, &observation);
  return index;
}

class OwnershipRecorder {
 public:
  OwnershipRecorder(const State& state, const RecordOwnership& command)
      : state_(state), command_(command) {}

  Events run() {
    const auto adopts = [](const Action& action) { return action.kind == ActionKind::adopt; };
    const auto& actions = command_.plan->actions;
    if (std::any_of(actions.begin(), actions.end(), adopts))
      observed_ = index_observations(command_.observations);
    for (const auto& action : command_.plan->actions) {
      if (action.observe_only || !action.refusal.empty()) continue;
      if (action.kind == ActionKind::adopt) adopt(action);
      if (action.kind == ActionKind::release) release(action);
      if (action.kind == ActionKind::rename) rename(action);
    }
    return std::move(events_);
  }

 private:
  [[nodiscard]] const Owned* find_owned(const model::Target& target) const {
    const auto owned = state_.owned.find(target);
    return owned == state_.owned.end() ? nullptr : &owned->second;
  }

  void adopt(const Action& action) {
    const auto* resource = command_.manifest->find(action.reference);
    const auto observation = observed_.find(action.reference);
    if (resource == nullptr || observation == observed_.end() ||
        find_owned(action.target) != nullptr)
      return;
    events_.push_back(OwnershipAdopted{
        state_.pass->id, action.target, action.reference, resource->protect,
        requirement_targets(*command_.manifest, *resource), left_of(*observation->second)});
  }

  void release(const Action& action) {
    if (find_owned(action.target) == nullptr) return;
    events_.push_back(
        OwnershipReleased{state_.pass->id, action.target, action.reference, bounded(action.note)});
  }

  void rename(const Action& action) {
    const auto* resource = command_.manifest->find(action.reference);
    const auto* owned = find_owned(action.target);
    if (resource == nullptr || owned == nullptr) return;
    auto requirements = requirement_targets(*command_.manifest, *resource);
    if (!record_differs(*owned, *resource, requirements)) return;
    events_.push_back(OwnershipRenamed{state_.pass->id, action.target, owned->reference,
                                       action.reference, resource->protect,
                                       std::move(requirements)});
  }

  const State& state_;
  const RecordOwnership& command_;
  ByReference observed_;
  Events events_;
};

Error nothing_pending(const model::Target& unit) {
  return {ErrorCode::refused, "nothing is pending for " + unit.name};
}

}  // namespace

Result<Events> Decider::operator()(const RecordOwnership& command) const {
  DATUM_TRY(need_enforcing());
  return OwnershipRecorder(state_, command).run();
}

Result<Events> Decider::operator()(const RecordUndone& command) const {
  DATUM_TRY(need_enforcing());
  Events events;
  for (const auto& target : command.targets)
    if (const auto* undo = command.reversal->find(target))
      append_undone_already(state_, *command.reversal, *undo, events);
  return events;
}

Result<Events> Decider::operator()(const StartDelivery& command) const {
  const auto pending = state_.pending.find(command.unit);
  if (pending == state_.pending.end()) return fail(nothing_pending(command.unit));
  if (pending->second.started && !command.repeats)
    return fail(ErrorCode::conflict, "a delivery to " + command.unit.name + " has no end yet");
  return Events{DeliveryStarted{command.unit, pending->second.restart, command.invocation}};
}

Result<Events> Decider::operator()(const RecordDelivery& command) const {
  const auto pending = state_.pending.find(command.unit);
  if (pending == state_.pending.end()) return fail(nothing_pending(command.unit));
  if (!pending->second.started)
    return fail(ErrorCode::conflict, "no delivery to " + command.unit.name + " was announced");
  if (command.error)
    return Events{DeliveryFailed{command.unit, command.restart, bounded(command.error->message())}};
  const bool repeated = command.repeated || pending->second.repeated;
  return Events{NotificationDelivered{command.unit, command.restart, repeated}};
}

Result<Events> Decider::operator()(const DropNotification& command) const {
  if (!state_.pending.contains(command.unit)) return fail(nothing_pending(command.unit));
  return Events{NotificationDropped{command.unit, bounded(command.reason)}};
}

}  // namespace datum::core
