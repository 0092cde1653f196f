// From what was done to what is reported: every success is looked at once more.
#include "action_wave.hpp"
#include "datum/crypto/digest.hpp"
#include "observation_digest.hpp"
#include "wave_run.hpp"

namespace datum::resource {

Digest digest_failure(const Error& error) {
  auto text = std::string(to_string(error.code()));
  text.push_back('\0');
  return crypto::sha256(as_bytes(text.append(error.message())));
}

const core::Observation& WaveRun::observe(const model::Resource& resource, bool made) {
  const auto [at, fresh] = observed_.try_emplace(resource.reference);
  if (fresh) at->second = made ? observer_->observe_made(resource) : observer_->observe(resource);
  return at->second;
}

namespace {

core::Left left_of(const core::Observation& seen) {
  return {seen.found, seen.identity.device, seen.identity.inode, seen.content};
}

// The field that still differs as it did before; empty if none does.
std::string find_unchanged(const core::Action& action, const core::Observation& after) {
  for (const auto& change : action.changes)
    for (const auto& drift : after.drifts)
      if (drift == change) return drift.field + " is still " + drift.observed;
  return {};
}

// What was to be made is there, and the rest is not in this action's hands: the next plan refuses
// it with its reason.
bool is_half_outside(const Work& work, const core::Observation& after) {
  return work.folder_changed && (after.obstacle == core::Obstacle::no_such_key ||
                                 after.obstacle == core::Obstacle::overridden);
}

core::Observation gone(const core::Action& action) {
  core::Observation seen;
  seen.reference = action.reference;
  seen.target = action.target;
  seen.condition = core::Condition::converged;
  seen.found = core::Found::absent;
  seen.digest = digest_observation(seen);
  return seen;
}

}  // namespace

void WaveRun::describe_success(Work& work, core::ActionResult& result) {
  const auto& action = *work.action;
  result.left.found = core::Found::absent;
  if (action.kind == core::ActionKind::leave) {
    result.after = gone(action);
    return;
  }
  const auto* resource =
      work.resource != nullptr ? work.resource : declared_->manifest->find(action.reference);
  if (resource == nullptr) {
    result.after = gone(action);
    return;
  }
  const bool made = work.live && !work.removes();
  result.after = observe(*resource, made);
  // What cannot be seen is not claimed, and what was left there is not known.
  if (result.after.found == core::Found::unseen) {
    work.error = Error(ErrorCode::io_error,
                       "done, and it cannot be seen that it is: " + result.after.reason);
    return;
  }
  if (action.kind == core::ActionKind::purge) return;
  result.left = left_of(result.after);
  result.traces = result.after.traces;
  if (is_half_outside(work, result.after)) return;
  // Its file is only half of it: the wave that mounts, or starts, looks once more.
  if (action.target.family == model::TargetFamily::mount ||
      action.target.family == model::TargetFamily::timer)
    return;
  const auto unchanged = find_unchanged(action, result.after);
  if (!unchanged.empty())
    work.error = Error(ErrorCode::conflict, "it did not take effect: " + unchanged);
}

// Of an action that failed after its target had been changed.
void WaveRun::describe_change(const Work& work, core::ActionResult& result) {
  if (work.resource == nullptr) {
    result.remains = remains_of(observer_->observe_leaving(work.action->target, {}));
    return;
  }
  result.remains = remains_of(observe(*work.resource, false));
  if (result.remains) result.remains->made = work.creates() && work.live && work.folder_changed;
}

core::ActionResult WaveRun::finish(Work& work) {
  core::ActionResult result;
  result.ordinal = work.action->ordinal;
  bench_.crash_point("observe", work);
  if (work.going()) describe_success(work, result);
  result.atomic = work.atomic;
  result.temporary_left = work.left_behind;
  result.duration_ns = work.spent_ns;
  result.output = std::move(work.output);
  if (!work.skipped.empty()) {
    result.skipped = true;
    result.message = work.skipped;
  } else if (work.error) {
    result.failure = digest_failure(*work.error);
    result.message = work.error->message();
    result.error = std::move(work.error);
    result.changed = work.live || work.object_changed;
    if (result.changed) describe_change(work, result);
  }
  return result;
}

}  // namespace datum::resource
