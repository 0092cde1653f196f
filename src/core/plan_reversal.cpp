// Drafts of a reverting pass: for each target that the pass to be undone had changed, the action
// that puts back what was there before, or why there is none. What somebody changed since stays as
// it is; what nobody can put back is named.
#include <algorithm>

#include "ownership.hpp"
#include "planning.hpp"
#include "refusal.hpp"

namespace datum::core {
namespace {

const LeavingObservation* find_seen(const Planning& planning, const model::Target& target) {
  const auto& looks = planning.input.leaving;
  const auto at = std::lower_bound(
      looks.begin(), looks.end(), target,
      [](const auto& seen, const model::Target& wanted) { return seen.target < wanted; });
  return at != looks.end() && at->target == target ? &*at : nullptr;
}

// What differs of what the inode says: empty if nothing does, or nothing was recorded.
std::string describe_traces(const Undo& undo, const LeavingObservation& seen,
                            const Observation& now) {
  if (!undo.traces || !seen.traces) return {};
  const auto& then = *undo.traces;
  if (then.uid != seen.traces->uid) return "its owner";
  if (then.gid != seen.traces->gid) return "its group";
  if (then.mode != seen.traces->mode) return "its mode";
  // Attributes were not recorded; the inode was touched, and they are not what they were before.
  const bool touched = then.ctime != seen.traces->ctime && seen.found != Found::directory;
  const bool differ = std::any_of(now.drifts.begin(), now.drifts.end(), [](const auto& drift) {
    return drift.field == kAttributesField;
  });
  return touched && differ ? "its attributes" : "";
}

bool is_same_sight(const LeavingObservation& seen, const Observation& now) {
  if (seen.found != now.found) return false;
  if (seen.found == Found::directory)
    return seen.identity.device == now.identity.device && seen.identity.inode == now.identity.inode;
  return seen.identity == now.identity;
}

std::string find_conflict(const Undo& undo, const LeavingObservation& seen,
                          const Observation& now) {
  if (seen.found == Found::unseen) return "unknown: " + seen.reason;
  if (!is_same_sight(seen, now)) return "conflict: it was changed while it was looked at";
  // The content last: how it is compared hangs on the mode.
  auto left = undo.left;
  left.content = seen.content;
  auto change = describe_change(left, seen.found, seen.identity, seen.content);
  if (change.empty()) change = describe_traces(undo, seen, now);
  const bool compared = !undo.left.content.empty();  // by the pass itself
  if (change.empty() && compared)
    change = describe_change(undo.left, seen.found, seen.identity, seen.content);
  return change.empty() ? change : "conflict: changed since (" + change + "); it stays as it is";
}

bool is_protected(const Planning& planning, const model::Target& target) {
  const auto owned = planning.state.owned.find(target);
  if (owned == planning.state.owned.end()) return false;
  const auto& listed = planning.input.protect_list;
  return owned->second.protect ||
         std::binary_search(listed.begin(), listed.end(), owned->second.reference);
}

ActionKind kind_without_look(const Undo& undo) {
  if (!undo.restores) return ActionKind::remove;
  return undo.left.found == Found::absent ? ActionKind::create : ActionKind::update;
}

Action refused_action(const Planning& planning, const Undo& undo, std::string refusal) {
  Action action;
  action.kind = kind_without_look(undo);
  action.target = undo.target;
  action.reference = undo.reference;
  if (const auto* seen = find_seen(planning, undo.target)) {
    action.found = seen->found;
    action.identity = seen->identity;
  }
  action.refusal = std::move(refusal);
  return action;
}

void draft_subject(Planning& planning, Subject& subject, const Undo& undo) {
  const auto& now = *subject.observation;
  if (now.condition == Condition::converged) return;
  auto action = now.condition == Condition::drifted
                    ? drifted_action(planning, subject)
                    : refused_action(planning, undo, "cannot be undone: " + now.reason.str());
  subject.own = planning.add(std::move(action));
  auto& draft = planning.drafts[*subject.own];
  draft.entries = now.entries;
  draft.needs_empty = now.obstacle == Obstacle::not_empty && draft.action.refusal.empty();
}

}  // namespace

std::string undo_refusal(const Planning& planning, const Subject& subject, const Action& action) {
  const auto* undo = planning.input.reversal->find(action.target);
  const auto* seen = find_seen(planning, action.target);
  if (undo == nullptr || seen == nullptr) return "cannot be undone: it was not looked at";
  if (removes(action.kind) && is_protected(planning, action.target))
    return "protected: it is never removed";
  return find_conflict(*undo, *seen, *subject.observation);
}

void draft_undone(Planning& planning) {
  for (const auto& undo : planning.input.reversal->undos) {
    if (!undo.refusal.empty()) {
      planning.add(refused_action(planning, undo, "cannot be undone: " + undo.refusal));
      continue;
    }
    const auto index = planning.index_of(undo.reference);
    if (index >= planning.subjects.size() || planning.subjects[index].observation == nullptr)
      planning.add(refused_action(planning, undo, "cannot be undone: it was not looked at"));
    else
      draft_subject(planning, planning.subjects[index], undo);
  }
}

}  // namespace datum::core
