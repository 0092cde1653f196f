// How announced actions ended. Each action's records stand together, ownership and notifications
// before the success that they belong to: a journal that ends between them shows an action without
// an end, which recovery looks at, and never a success whose ownership was forgotten.
#include <algorithm>
#include <optional>

#include "bounds.hpp"
#include "decisions.hpp"
#include "judgement.hpp"
#include "ownership.hpp"
#include "planning.hpp"
#include "reverting.hpp"

namespace datum::core {
namespace {

// A resource that is gone as wished is as declared, whatever the look at nothing was called.
Condition condition_after(const Action& action, const ActionResult& result) {
  if (removes(action.kind) && result.left.found == Found::absent) return Condition::converged;
  return result.after.condition;
}

class Ending {
 public:
  Ending(const State& state, const RecordResults& command)
      : state_(state), command_(command), plan_(*command.plan), raiser_(state) {}

  Events run() {
    std::vector<const ActionResult*> results;
    for (const auto& result : command_.results) results.push_back(&result);
    std::sort(results.begin(), results.end(),
              [](const ActionResult* a, const ActionResult* b) { return a->ordinal < b->ordinal; });
    phases_ = state_.pass->phases;
    phases_.resize(std::max(phases_.size(), plan_.actions.size()), Phase::waiting);
    for (const auto* result : results) end(plan_.actions[result->ordinal], *result);
    append_blocked(state_, plan_, phases_, messages_, events_);
    return std::move(events_);
  }

 private:
  void end(const Action& action, const ActionResult& result) {
    if (result.error)
      end_failed(action, result);
    else if (result.skipped)
      end_skipped(action, result);
    else
      end_succeeded(action, result);
    if (result.temporary_left) append_leftover(action);
  }

  void end_failed(const Action& action, const ActionResult& result) {
    phases_[action.ordinal] = Phase::failed;
    messages_[action.ordinal] = result.error->message();
    if (result.changed) append_notifications(action);
    const bool seen = result.changed && result.remains.has_value();
    if (seen) append_made(action, *result.remains);
    if (!result.still_running.empty())
      events_.push_back(
          ActionStillRunning{state_.pass->id, action.ordinal, action.target, result.still_running});
    append_failure(state_, action,
                   {result.error->code(), result.error->message(), result.output, result.failure,
                    seen ? std::optional(result.remains->left) : std::nullopt,
                    seen ? result.remains->traces : std::nullopt},
                   events_);
  }

  void end_skipped(const Action& action, const ActionResult& result) {
    phases_[action.ordinal] = Phase::skipped;
    messages_[action.ordinal] = result.message;
    events_.push_back(ActionSkipped{state_.pass->id, action.ordinal, action.target,
                                    action.reference, bounded(result.message)});
  }

  void end_succeeded(const Action& action, const ActionResult& result) {
    phases_[action.ordinal] = Phase::succeeded;
    if (result.old_content_not_kept)
      events_.push_back(OldContentNotKept{state_.pass->id, action.target, result.old_size,
                                          bounded(result.message)});
    const auto* undo = command_.reversal ? command_.reversal->find(action.target) : nullptr;
    if (undo != nullptr) {
      append_undone(state_, *command_.reversal, *undo, raiser_, events_);
    } else {
      append_ownership(action, result.left);
      append_notifications(action);
    }
    ActionSucceeded event;
    event.pass = state_.pass->id;
    event.ordinal = action.ordinal;
    event.kind = action.kind;
    event.target = action.target;
    event.reference = action.reference;
    event.condition = undo == nullptr ? condition_after(action, result)
                                      : condition_undone(state_, *command_.reversal, action.target);
    event.observation = result.after.digest;
    event.left = result.left;
    event.atomic = result.atomic;
    event.duration_ns = result.duration_ns;
    event.traces = result.traces;
    events_.push_back(std::move(event));
    append_contest(action);
  }

  // How the action ended has been told; this says that there is something to clean up.
  void append_leftover(const Action& action) {
    ActionRecovered event;
    event.pass = state_.pass->id;
    event.ordinal = action.ordinal;
    event.target = action.target;
    event.temporary_left = true;
    events_.push_back(std::move(event));
  }

  void append_ownership(const Action& action, const Left& left) {
    const auto owned = state_.owned.find(action.target);
    const bool is_owned = owned != state_.owned.end();
    const auto pass = state_.pass->id;
    if (removes(action.kind)) {
      if (is_owned)
        events_.push_back(OwnershipRemoved{pass, action.target, owned->second.reference});
      return;
    }
    const auto* resource = command_.manifest->find(action.reference);
    if (resource == nullptr) return;
    auto requirements = requirement_targets(*command_.manifest, *resource);
    if (is_owned) {
      if (record_differs(owned->second, *resource, requirements))
        events_.push_back(OwnershipRenamed{pass, action.target, owned->second.reference,
                                           action.reference, resource->protect,
                                           std::move(requirements)});
    } else if (action.kind == ActionKind::create && was_absent(action.ordinal)) {
      events_.push_back(OwnershipCreated{pass, action.target, action.reference, resource->protect,
                                         std::move(requirements)});
    } else {
      events_.push_back(OwnershipAdopted{pass, action.target, action.reference, resource->protect,
                                         std::move(requirements), left});
    }
  }

  // What the action made and what is there now is Datum's, however the action ended.
  void append_made(const Action& action, const Remains& remains) {
    const bool there = remains.left.found != Found::absent && remains.left.found != Found::unseen;
    const bool makes = action.kind == ActionKind::create && was_absent(action.ordinal);
    if (there && makes && remains.made && command_.reversal == nullptr)
      append_ownership(action, remains.left);
  }

  // What was seen last before the action counts, not what the plan expected.
  [[nodiscard]] bool was_absent(std::uint32_t ordinal) const {
    const auto open = state_.pass->open.find(ordinal);
    return open != state_.pass->open.end() && open->second.before == Found::absent;
  }

  void append_notifications(const Action& action) {
    for (const auto& planned : plan_.notifications) {
      if (!std::binary_search(planned.by.begin(), planned.by.end(), action.reference)) continue;
      const auto* service = command_.manifest->find(planned.service);
      if (service == nullptr) continue;
      const auto& restarts = service->restart_on;
      const bool restart = std::binary_search(restarts.begin(), restarts.end(), action.reference);
      raiser_.raise(service->target, service->reference, restart, action.reference, events_);
    }
  }

  // Said once, with the correction that makes it so.
  void append_contest(const Action& action) {
    if (!is_correction(state_, action.kind)) return;
    Contest contest;
    if (const auto found = state_.contests.find(action.target); found != state_.contests.end())
      contest = found->second;
    const bool said = contest.contested;
    contest.corrections.push_back({command_.now, command_.mono, state_.boot});
    if (!within_contest(contest.corrections) || said) return;
    const auto since = contest.corrections[contest.corrections.size() - kContestedAfter].wall;
    events_.push_back(TargetContested{action.target, kContestedAfter, since});
  }

  const State& state_;
  const RecordResults& command_;
  const Plan& plan_;
  Raiser raiser_;
  std::vector<Phase> phases_;
  std::map<std::uint32_t, std::string> messages_;
  Events events_;
};

}  // namespace

void Raiser::raise(const model::Target& unit, const model::Reference& service, bool restart,
                   const model::Reference& by, Events& events) {
  auto known = pending_.find(unit);
  if (known == pending_.end()) {
    const auto standing = state_.pending.find(unit);
    if (standing != state_.pending.end()) known = pending_.emplace(unit, standing->second).first;
  }
  if (!adds_notification(known == pending_.end() ? nullptr : &known->second, restart, by)) return;
  auto& pending = pending_[unit];
  pending.restart = pending.restart || restart;
  pending.again = pending.started;
  pending.by.push_back(by);
  events.push_back(NotificationRaised{state_.pass->id, unit, service, by, restart});
}

Result<Events> Decider::operator()(const RecordResults& command) const {
  DATUM_TRY(need_pass());
  std::vector<std::uint32_t> ordinals;
  for (const auto& result : command.results) {
    if (!state_.pass->open.contains(result.ordinal) ||
        result.ordinal >= command.plan->actions.size())
      return fail(ErrorCode::conflict,
                  "action " + std::to_string(result.ordinal) + " was not announced, or has ended");
    ordinals.push_back(result.ordinal);
  }
  std::sort(ordinals.begin(), ordinals.end());
  if (std::adjacent_find(ordinals.begin(), ordinals.end()) != ordinals.end())
    return fail(ErrorCode::conflict, "an action ended twice");
  return Ending(state_, command).run();
}

}  // namespace datum::core
