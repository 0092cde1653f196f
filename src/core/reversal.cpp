// Looking up what is undone, what keeps a target, and the records that stand with an undone action.
#include "datum/core/reversal.hpp"

#include <algorithm>

#include "reverting.hpp"

namespace datum::core {

const Undo* Reversal::find(const model::Target& target) const {
  const auto at = std::lower_bound(
      undos.begin(), undos.end(), target,
      [](const Undo& undo, const model::Target& wanted) { return undo.target < wanted; });
  return at != undos.end() && at->target == target ? &*at : nullptr;
}

bool is_kept(const State& state, const model::Target& target, const Digest& manifest) {
  const auto kept = state.kept.find(target);
  return kept != state.kept.end() &&
         (kept->second.manifest.empty() || kept->second.manifest == manifest);
}

// A local declaration has no generations: another manifest is the newer one.
Kept until_newer(const State& state) {
  if (state.accepted) return {state.accepted->number + 1, {}, 0};
  return {1, state.last_declared, 0};
}

namespace {

// Ownership as it was before the pass that is undone.
void append_ownership(const State& state, const Undo& undo, PassId reverted, Events& events) {
  const auto owned = state.owned.find(undo.target);
  const bool is_owned = owned != state.owned.end();
  const auto pass = state.pass->id;
  if (is_owned && !undo.restores) {
    events.push_back(OwnershipRemoved{pass, undo.target, owned->second.reference});
  } else if (is_owned && undo.disowns) {
    events.push_back(OwnershipReleased{pass, undo.target, owned->second.reference,
                                       "as before pass " + std::to_string(reverted)});
  } else if (!is_owned && undo.owned && undo.owned->created) {
    events.push_back(OwnershipCreated{pass, undo.target, undo.owned->reference, undo.owned->protect,
                                      undo.owned->requirements});
  } else if (!is_owned && undo.owned) {
    events.push_back(OwnershipAdopted{pass, undo.target, undo.owned->reference, undo.owned->protect,
                                      undo.owned->requirements, undo.owned->left});
  }
}

// What a reverting pass kept is let go again by undoing it; everything else is kept.
void append_kept(const State& state, const Undo& undo, PassId reverted, Events& events) {
  const auto& started = state.pass->started;
  const auto standing = state.kept.find(undo.target);
  if (standing != state.kept.end() && standing->second.pass == reverted) {
    events.push_back(TargetKept{undo.target, 0, {}, state.pass->id, started.actor});
    return;
  }
  const auto until = until_newer(state);
  const bool stands = standing != state.kept.end() &&
                      standing->second.until_generation == until.until_generation &&
                      standing->second.manifest == until.manifest;
  if (stands) return;
  events.push_back(TargetKept{undo.target, until.until_generation, until.manifest, state.pass->id,
                              started.actor});
}

}  // namespace

void append_undone_already(const State& state, const Reversal& reversal, const Undo& undo,
                           Events& events) {
  append_ownership(state, undo, reversal.pass, events);
  append_kept(state, undo, reversal.pass, events);
}

void append_undone(const State& state, const Reversal& reversal, const Undo& undo, Raiser& raiser,
                   Events& events) {
  append_ownership(state, undo, reversal.pass, events);
  for (const auto& one : undo.notifications)
    raiser.raise(one.unit, one.service, one.restart, undo.reference, events);
  append_kept(state, undo, reversal.pass, events);
}

// What the pass had changed differs from what it enforced, as it did before; under another
// declaration only a look can tell.
Condition condition_undone(const State& state, const Reversal& reversal,
                           const model::Target& target) {
  if (!state.resources.contains(target)) return Condition::converged;
  const bool same = !reversal.manifest.empty() && reversal.manifest == state.last_declared;
  return same ? Condition::drifted : Condition::unknown;
}

}  // namespace datum::core
