// After a death: what a look at the machine says of each action without an end becomes history,
// with the ownership and the notifications that the dead process could not record any more.
#include <algorithm>

#include "decisions.hpp"
#include "judgement.hpp"
#include "ownership.hpp"
#include "planning.hpp"
#include "reverting.hpp"

namespace datum::core {
namespace {

class Recovery {
 public:
  Recovery(const State& state, const RecordRecovery& command)
      : state_(state),
        manifest_(command.manifest),
        reversal_(command.reversal),
        plan_(command.plan),
        raiser_(state) {}

  void record(const AnnouncedState& action, const RecoveredAction& seen) {
    const bool took_effect = seen.outcome == RecoveredOutcome::took_effect;
    const auto* undo = reversal_ == nullptr ? nullptr : reversal_->find(action.target);
    if (took_effect && undo != nullptr) {
      append_undone(state_, *reversal_, *undo, raiser_, events_);
    } else {
      if (took_effect || has_made(action, seen)) append_ownership(action, seen);
      // What cannot be told may have changed what a unit reads, and may look converged to the next
      // pass: told once too often is harmless, lost is not.
      if (seen.outcome != RecoveredOutcome::did_not) {
        append_planned(action);
        append_notifications(action);
      }
    }
    ActionRecovered event;
    event.pass = state_.pass->id;
    event.ordinal = action.ordinal;
    event.target = action.target;
    event.outcome = seen.outcome;
    event.left = seen.left;
    event.temporary_left = seen.temporary_left;
    event.traces = seen.traces;
    events_.push_back(std::move(event));
    // After it: that an action has ended takes its tool off the list.
    if (!seen.still_running.empty())
      events_.push_back(
          ActionStillRunning{state_.pass->id, action.ordinal, action.target, seen.still_running});
    if (seen.outcome != RecoveredOutcome::took_effect) append_quarantine(action);
  }

  Events take() { return std::move(events_); }

 private:
  // Announced as not there, there now, and what the first tool makes of it: as sure as what is
  // taken for a success. What is there and looks otherwise may be anybody's, and is adopted later.
  static bool has_made(const AnnouncedState& action, const RecoveredAction& seen) {
    const auto family = action.target.family;
    const bool by_tool = family == model::TargetFamily::user ||
                         family == model::TargetFamily::group ||
                         family == model::TargetFamily::package;
    return by_tool && seen.begun && action.kind == ActionKind::create &&
           action.before == Found::absent && seen.left.found == Found::present;
  }

  // The resource that the action was about: of a purge, the Directory.
  [[nodiscard]] const model::Resource* find_resource(const AnnouncedState& action) const {
    if (manifest_ == nullptr) return nullptr;
    auto target = action.target;
    if (action.kind == ActionKind::purge) target.name = parent_of(action.target.name);
    for (const auto& resource : manifest_->resources)
      if (resource->target == target) return resource.get();
    return nullptr;
  }

  // Without the manifest, the state still knows the document's name; protection and requirements
  // follow with the next pass.
  void append_ownership(const AnnouncedState& action, const RecoveredAction& seen) {
    const auto pass = state_.pass->id;
    const auto owned = state_.owned.find(action.target);
    if (removes(action.kind)) {
      if (owned != state_.owned.end())
        events_.push_back(OwnershipRemoved{pass, action.target, owned->second.reference});
      return;
    }
    if (owned != state_.owned.end()) return;
    const auto* resource = find_resource(action);
    const auto known = state_.resources.find(action.target);
    model::Reference reference;
    if (resource != nullptr)
      reference = resource->reference;
    else if (known != state_.resources.end())
      reference = known->second.reference;
    else
      return;
    const bool protect = resource != nullptr && resource->protect;
    std::vector<model::Target> requirements;
    if (resource != nullptr) requirements = requirement_targets(*manifest_, *resource);
    if (action.kind == ActionKind::create && action.before == Found::absent)
      events_.push_back(
          OwnershipCreated{pass, action.target, reference, protect, std::move(requirements)});
    else
      events_.push_back(OwnershipAdopted{pass, action.target, reference, protect,
                                         std::move(requirements), seen.left});
  }

  // By the plan alone, which knows a service's document and not its unit, nor which of the causes
  // asked for the restart: a restart serves a reload too.
  void append_planned(const AnnouncedState& action) {
    if (plan_ == nullptr || action.kind == ActionKind::leave ||
        action.ordinal >= plan_->actions.size())
      return;
    const auto& cause = plan_->actions[action.ordinal].reference;
    for (const auto& planned : plan_->notifications) {
      if (!std::binary_search(planned.by.begin(), planned.by.end(), cause)) continue;
      for (const auto& [target, known] : state_.resources)
        if (target.family == model::TargetFamily::unit && known.reference == planned.service)
          raiser_.raise(target, planned.service, planned.restart, cause, events_);
    }
  }

  void append_notifications(const AnnouncedState& action) {
    if (action.kind == ActionKind::leave) return;
    const auto* cause = find_resource(action);
    if (cause == nullptr) return;
    const auto names = [cause](const std::vector<model::Reference>& list) {
      return std::find(list.begin(), list.end(), cause->reference) != list.end();
    };
    for (const auto& service : manifest_->resources) {
      const bool restart = names(service->restart_on);
      if (!restart && !names(service->reload_on)) continue;
      if (service->text(model::Field::state) == "stopped" || is_skipped(service->target)) continue;
      raiser_.raise(service->target, service->reference, restart, cause->reference, events_);
    }
  }

  [[nodiscard]] bool is_skipped(const model::Target& target) const {
    const auto known = state_.resources.find(target);
    return known != state_.resources.end() && known->second.condition == Condition::skipped;
  }

  // Only deaths in a wave of one are held against an action: in a larger one it may be innocent.
  void append_quarantine(const AnnouncedState& action) {
    if (state_.pass->wave_size != 1) return;
    const auto suspect = state_.suspects.find(action.target);
    const auto deaths = (suspect == state_.suspects.end() ? 0 : suspect->second) + 1;
    if (deaths >= kQuarantineAfter)
      events_.push_back(ActionQuarantined{state_.pass->id, action.ordinal, action.target, deaths});
  }

  const State& state_;
  const model::Manifest* manifest_;
  const Reversal* reversal_;
  const Plan* plan_;
  Raiser raiser_;
  Events events_;
};

}  // namespace

Result<Events> Decider::operator()(const RecordRecovery& command) const {
  DATUM_TRY(need_pass());
  std::vector<std::uint32_t> ordinals;
  Recovery recovery(state_, command);
  for (const auto& seen : command.actions) {
    const auto open = state_.pass->open.find(seen.ordinal);
    if (open == state_.pass->open.end())
      return fail(ErrorCode::conflict,
                  "action " + std::to_string(seen.ordinal) + " was not announced, or has ended");
    recovery.record(open->second, seen);
    ordinals.push_back(seen.ordinal);
  }
  std::sort(ordinals.begin(), ordinals.end());
  if (std::adjacent_find(ordinals.begin(), ordinals.end()) != ordinals.end())
    return fail(ErrorCode::conflict, "an action was looked at twice");
  return recovery.take();
}

Result<Events> Decider::operator()(const RecordToolAdopted& command) const {
  DATUM_TRY(need_pass());
  if (!state_.pass->open.contains(command.ordinal))
    return fail(ErrorCode::conflict,
                "action " + std::to_string(command.ordinal) + " was not announced, or has ended");
  return Events{ActionToolAdopted{state_.pass->id, command.ordinal, command.unit}};
}

Result<Events> Decider::operator()(const RecordToolEnded& command) const {
  const auto running = state_.running_tools.find(command.target);
  if (running == state_.running_tools.end())
    return fail(ErrorCode::refused, "nothing was left running for " + command.target.text());
  const auto& tool = running->second;
  return Events{
      ActionRecovered{tool.pass, tool.ordinal, command.target, command.outcome, {}, false, {}}};
}

Result<Events> Decider::operator()(const RecordCleaned& command) const {
  Events events;
  for (const auto& gone : command.gone) {
    const bool known =
        std::find(state_.leftovers.begin(), state_.leftovers.end(), gone) != state_.leftovers.end();
    if (!known)
      return fail(ErrorCode::conflict, gone.target.text() + ": no file of a dead action was left");
    // What it did was told when it was left; with its file gone, it did nothing that stayed.
    events.push_back(ActionRecovered{
        gone.pass, gone.ordinal, gone.target, RecoveredOutcome::did_not, {}, false, {}});
  }
  return events;
}

}  // namespace datum::core
