// Drafts of a reverting pass: for each target that the pass to be undone had changed, the action
// that puts back what was there before, or why there is none. What somebody changed since stays as
// it is; what nobody can put back is named.
#include <algorithm>
#include <optional>

#include "datum/core/look_back.hpp"
#include "ownership.hpp"
#include "planning.hpp"
#include "refusal.hpp"

namespace datum::core {
namespace {

const LeavingObservation* find_look(std::span<const LeavingObservation> looks,
                                    const model::Target& target) {
  const auto at = std::lower_bound(
      looks.begin(), looks.end(), target,
      [](const auto& seen, const model::Target& wanted) { return seen.target < wanted; });
  return at != looks.end() && at->target == target ? &*at : nullptr;
}

const LeavingObservation* find_seen(const Planning& planning, const model::Target& target) {
  return find_look(planning.input.leaving, target);
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

// What Datum left there last: by the pass that is undone, or by a later one.
const Left& newest_left(const Owned& owned, const Undo& undo) {
  return owned.left == Left{} ? undo.left : owned.left;
}

// Whether what differs is what that declaration asked for: what lies there, or its content where
// the pass compared it. An owner or a mode may have been nobody's declaration.
bool is_declared_change(const State& state, const Reversal& reversal, const Undo& undo,
                        const LeavingObservation& seen) {
  if (reversal.manifest.empty() || reversal.manifest != state.last_declared) return false;
  if (seen.found != undo.left.found) return true;
  // How content is compared hangs on the mode.
  const bool same_mode = undo.traces && seen.traces && undo.traces->mode == seen.traces->mode;
  return same_mode && !undo.left.content.empty() && !seen.content.empty() &&
         undo.left.content != seen.content;
}

// What differs of what Datum left there last; `undo` where the pass that is undone left it. Content
// counts only where it was compared then, and last: how it is compared hangs on the mode.
std::string describe_since(const Left& newest, const Undo* undo, const LeavingObservation& seen) {
  auto left = newest;
  left.content = seen.content;
  auto change = describe_change(left, seen.found, seen.identity, seen.content);
  if (change.empty() && undo != nullptr) change = describe_traces(*undo, seen, {});
  if (change.empty() && !newest.content.empty())
    change = describe_change(newest, seen.found, seen.identity, seen.content);
  return change;
}

// What is true of a resource that was as declared until this look; nothing if nothing speaks
// against it.
std::optional<Observation> contradiction(const State& state, const Reversal& reversal,
                                         const Undo& undo, const LeavingObservation& seen) {
  const auto known = state.resources.find(undo.target);
  if (known == state.resources.end() || known->second.condition != Condition::converged) return {};
  Observation said;
  said.reference = known->second.reference;
  said.target = undo.target;
  said.found = seen.found;
  said.traces = seen.traces;
  if (seen.found == Found::unseen) {
    said.reason = seen.reason;
    return said;
  }
  const auto owned = state.owned.find(undo.target);
  std::string change;
  bool is_newest = false;
  if (owned == state.owned.end()) {
    // Nothing was recorded of it but what it is.
    if (known->second.found != seen.found) change = "what lies there";
    is_newest = known->second.found == undo.left.found;
  } else {
    const auto& newest = newest_left(owned->second, undo);
    is_newest = newest == undo.left;
    change = describe_since(newest, is_newest ? &undo : nullptr, seen);
  }
  if (change.empty()) return {};
  if (is_newest && is_declared_change(state, reversal, undo, seen))
    said.condition = Condition::drifted;
  said.reason = "changed since Datum left it (" + change + ")";
  return said;
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

std::vector<Observation> contradicted_by(const State& state, const Reversal& reversal,
                                         std::span<const LeavingObservation> looks) {
  std::vector<Observation> contradicted;
  for (const auto& undo : reversal.undos) {
    const auto* seen = undo.refusal.empty() ? find_look(looks, undo.target) : nullptr;
    if (seen == nullptr) continue;
    if (auto said = contradiction(state, reversal, undo, *seen))
      contradicted.push_back(std::move(*said));
  }
  return contradicted;
}

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
