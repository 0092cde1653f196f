// The order of the steps of planning, and what they share.
#include "datum/core/plan.hpp"

#include <algorithm>

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

void remember_ancestors(Planning& planning, const model::Resource& resource) {
  if (resource.target.family != model::TargetFamily::path) return;
  for_each_ancestor(resource.target.name, [&](std::string_view path) {
    planning.above_any.insert(path);
    if (!resource.absent()) planning.above_present.insert(path);
  });
}

}  // namespace

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
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
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    auto& subject = subjects[i];
    const auto& resource = *subject.resource;
    declared.emplace(resource.target, i);
    remember_ancestors(*this, resource);
    const auto owned = state.owned.find(resource.target);
    if (owned != state.owned.end()) subject.owned = &owned->second;
    subject.observe_only = resource.observe_only || observe_list.contains(resource.reference) ||
                           state.kept.contains(resource.target);
  }
  for (const auto& observation : input.observations) {
    const auto index = index_of(observation.reference);
    if (index < subjects.size()) subjects[index].observation = &observation;
  }
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
  draft_declared(planning);
  draft_purges(planning, false);
  draft_leaving(planning);
  draft_purges(planning, true);
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
