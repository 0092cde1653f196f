// The order of the steps of planning, and what they share.
#include "datum/core/plan.hpp"

#include <algorithm>

#include "datum/model/reserved.hpp"
#include "planning.hpp"

namespace datum::core {
namespace {

// References may come unsorted from a caller that built its manifest by hand: the plan must not
// depend on it.
std::vector<Subject> make_subjects(const model::Manifest& manifest) {
  std::vector<Subject> subjects;
  subjects.reserve(manifest.resources.size());
  for (const auto& resource : manifest.resources) {
    Subject subject;
    subject.resource = resource.get();
    subjects.push_back(std::move(subject));
  }
  const auto before = [](const Subject& a, const Subject& b) {
    return a.resource->reference < b.resource->reference;
  };
  if (!std::is_sorted(subjects.begin(), subjects.end(), before))
    std::sort(subjects.begin(), subjects.end(), before);
  return subjects;
}

}  // namespace

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

bool is_own_package(const model::Target& target) {
  return target.family == model::TargetFamily::package && model::is_own_package(target.name.view());
}

bool builds(ActionKind kind) {
  return kind == ActionKind::create || kind == ActionKind::update || kind == ActionKind::replace;
}

bool removes(ActionKind kind) {
  return kind == ActionKind::remove || kind == ActionKind::purge || kind == ActionKind::leave;
}

bool is_braked_removal(ActionKind kind) {
  return kind == ActionKind::purge || kind == ActionKind::leave;
}

bool is_mutating(ActionKind kind) {
  return builds(kind) || removes(kind);
}

Planning::Planning(const PlanInput& plan_input)
    : input(plan_input),
      state(*plan_input.state),
      observe_list(input.observe_list.begin(), input.observe_list.end()) {
  subjects = make_subjects(*input.manifest);
  auto next_owned = state.owned.begin();  // names often have the order of their targets
  for (auto& subject : subjects) {
    const auto& resource = *subject.resource;
    const bool is_next = next_owned != state.owned.end() && next_owned->first == resource.target;
    const auto owned = is_next ? next_owned : state.owned.find(resource.target);
    if (owned != state.owned.end()) {
      subject.owned = &owned->second;
      next_owned = std::next(owned);
    }
    subject.observe_only = resource.observe_only || observe_list.contains(resource.reference) ||
                           keeps(resource.target);
  }
  std::size_t next = 0;  // observations usually come in the order of the subjects
  for (const auto& observation : input.observations) {
    const bool is_next =
        next < subjects.size() && subjects[next].resource->reference == observation.reference;
    const auto index = is_next ? next : index_of(observation.reference);
    if (index >= subjects.size()) continue;
    subjects[index].observation = &observation;
    next = index + 1;
  }
}

bool Planning::keeps(const model::Target& target) const {
  return input.reversal == nullptr && is_kept(state, target, input.manifest->digest);
}

// With a path stand all of its ancestors: the first that is known ends the way up.
static void add_ancestors(std::unordered_set<std::string_view>& paths, std::string_view path) {
  bool known = false;
  for_each_ancestor(path,
                    [&](std::string_view above) { known = known || !paths.insert(above).second; });
}

const Planning::Places& Planning::places() const {
  if (places_) return *places_;
  auto& made = places_.emplace();
  made.declared.reserve(subjects.size());
  for (const auto& subject : subjects) {
    const auto& target = subject.resource->target;
    made.declared.insert(target);
    if (target.family != model::TargetFamily::path) continue;
    add_ancestors(made.above_any, target.name);
    if (!subject.resource->absent()) add_ancestors(made.above_present, target.name);
  }
  return made;
}

bool Planning::is_declared(const model::Target& target) const {
  return places().declared.contains(target);
}

bool Planning::is_above_any(std::string_view path) const {
  return places().above_any.contains(path);
}

bool Planning::is_above_present(std::string_view path) const {
  return places().above_present.contains(path);
}

std::size_t Planning::index_of(const model::Reference& reference) const {
  const auto at = std::lower_bound(subjects.begin(), subjects.end(), reference,
                                   [](const Subject& each, const model::Reference& wanted) {
                                     return each.resource->reference < wanted;
                                   });
  const bool found = at != subjects.end() && at->resource->reference == reference;
  return found ? static_cast<std::size_t>(at - subjects.begin()) : subjects.size();
}

const Subject* Planning::find(const model::Reference& reference) const {
  const auto index = index_of(reference);
  return index < subjects.size() ? &subjects[index] : nullptr;
}

Node Planning::add(Action action) {
  const auto node = static_cast<Node>(drafts.size());
  by_target.emplace(action.target, node);
  Draft draft;
  draft.action = std::move(action);
  drafts.push_back(std::move(draft));
  return node;
}

Plan compute_plan(const PlanInput& input) {
  Planning planning(input);
  if (input.reversal != nullptr) {
    draft_undone(planning);
  } else {
    draft_declared(planning);
    draft_purges(planning, false);
    draft_leaving(planning);
    draft_purges(planning, true);
  }
  settle_full_folders(planning);
  add_edges(planning);
  check_parents(planning);
  apply_brake(planning);
  block_on_observed(planning);
  Plan plan;
  plan.brake = planning.brake;
  plan.actions = order_actions(planning);
  count_and_notify(planning, plan);
  return plan;
}

}  // namespace datum::core
