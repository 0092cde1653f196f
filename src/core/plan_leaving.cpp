// Drafts for targets that Datum owns and no resource declares any more, and the judgement of
// folders that are not empty. What could not be looked at stays owned and is looked at again in the
// next pass: nothing is claimed of it, nothing is done to it.
#include <algorithm>

#include "ownership.hpp"
#include "planning.hpp"
#include "refusal.hpp"

namespace datum::core {
namespace {

using model::ResourceType;
using model::TargetFamily;

// Why the target is let go and not removed; empty if it is to be removed.
std::string reason_to_release(const Planning& planning, const LeavingObservation& seen,
                              const Owned& owned) {
  if (seen.found == Found::absent) return "already gone";
  if (seen.same_as_declared) return "still declared under another path";
  if (seen.target.family == TargetFamily::unit) return "a service is never removed";
  if (seen.target.family == TargetFamily::hostname || seen.target.family == TargetFamily::timezone)
    return "a machine keeps its name and its zone";
  if (!owned.created) return "adopted and not made by Datum: it stays";
  const auto& listed = planning.input.protect_list;
  if (owned.protect || std::binary_search(listed.begin(), listed.end(), owned.reference))
    return "protected: it is never removed";
  const auto change = describe_change(owned.left, seen.found, seen.identity, seen.content);
  if (!change.empty()) return "changed since Datum made it (" + change + "): it stays";
  const bool above = planning.is_above_present(seen.target.name);
  if (seen.target.family == TargetFamily::path && above)
    return "declared resources lie below it: it stays";
  return {};
}

Action leaving_action(const Planning& planning, const LeavingObservation& seen,
                      const Owned& owned) {
  Action action;
  action.target = seen.target;
  action.reference = owned.reference;
  action.found = seen.found;
  action.identity = seen.identity;
  action.repeatable = model::describe(owned.reference.type).repeatable &&
                      !planning.state.suspects.contains(seen.target);
  action.note = reason_to_release(planning, seen, owned);
  action.kind = action.note.empty() ? ActionKind::leave : ActionKind::release;
  if (action.kind == ActionKind::release) return action;
  action.observe_only =
      planning.observe_list.contains(owned.reference) || planning.keeps(seen.target);
  action.privileged = seen.target.family == TargetFamily::user ||
                      seen.target.family == TargetFamily::group ||
                      seen.target.family == TargetFamily::authorized_key;
  action.note = "left the declaration";
  if (!seen.note.empty()) action.note.append("; ").append(seen.note);
  action.refusal = quarantine_refusal(planning, seen.target);
  return action;
}

// Number of names that the plan removes from each folder.
using Removed = std::map<std::string_view, std::uint32_t>;

void count_removal(Removed& removed, const Action& action) {
  if (action.target.family == TargetFamily::path && removes(action.kind) &&
      action.refusal.empty() && !action.observe_only)
    ++removed[parent_of(action.target.name)];
}

bool becomes_empty(const Draft& draft, const Removed& removed) {
  const auto found = removed.find(draft.action.target.name);
  if (found == removed.end()) return false;
  return draft.entries == 0 || draft.entries == found->second;
}

void keep_full_folder(Action& action) {
  if (action.kind == ActionKind::leave) {
    action.kind = ActionKind::release;
    action.observe_only = false;
    action.refusal.clear();
    action.note = "it is not empty: it stays";
    return;
  }
  action.refusal =
      "not empty: a folder is removed only when nothing is in it; remove its entries, "
      "or declare them absent";
}

}  // namespace

void draft_leaving(Planning& planning) {
  for (const auto& seen : planning.input.leaving) {
    const auto owned = planning.state.owned.find(seen.target);
    if (seen.found == Found::unseen || owned == planning.state.owned.end() ||
        planning.is_declared(seen.target) || planning.by_target.contains(seen.target))
      continue;
    const auto node = planning.add(leaving_action(planning, seen, owned->second));
    auto& draft = planning.drafts[node];
    draft.entries = seen.entries;
    draft.needs_empty =
        draft.action.kind == ActionKind::leave && seen.found == Found::directory && !seen.empty;
  }
}

// Deepest first, so that a folder which becomes empty counts as removed for the one above it.
void settle_full_folders(Planning& planning) {
  Removed removed;
  std::vector<Node> full;
  for (Node node = 0; node < planning.drafts.size(); ++node) {
    const auto& draft = planning.drafts[node];
    if (draft.needs_empty)
      full.push_back(node);
    else
      count_removal(removed, draft.action);
  }
  std::sort(full.begin(), full.end(), [&](Node a, Node b) {
    return planning.drafts[a].action.target.name > planning.drafts[b].action.target.name;
  });
  for (const auto node : full) {
    auto& draft = planning.drafts[node];
    if (becomes_empty(draft, removed))
      count_removal(removed, draft.action);
    else
      keep_full_folder(draft.action);
  }
  for (auto& draft : planning.drafts) {
    auto& action = draft.action;
    const bool unmakes_folder =
        action.kind == ActionKind::remove || action.kind == ActionKind::replace;
    if (unmakes_folder && action.found == Found::directory && action.refusal.empty() &&
        action.target.family == TargetFamily::path && planning.is_above_present(action.target.name))
      action.refusal =
          "declared below: resources are declared in this folder; declare them absent "
          "too, or keep it";
  }
}

}  // namespace datum::core
