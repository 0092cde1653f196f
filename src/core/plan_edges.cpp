// What must come before what. Folders rule (strong): a folder is made before what lies in it and
// removed after it. Documents come second (weak): requirements, notifications, the reverse of what
// leaving targets required. Where the two contradict each other, documents give way.
#include <algorithm>
#include <optional>

#include "planning.hpp"
#include "refusal.hpp"

namespace datum::core {
namespace {

using model::Reference;
using model::TargetFamily;

// All nodes of a resource that change the machine.
std::vector<Node> mutating_nodes(const Planning& planning, const Subject& subject) {
  std::vector<Node> nodes = subject.purging;
  if (subject.own && is_mutating(planning.drafts[*subject.own].action.kind))
    nodes.push_back(*subject.own);
  return nodes;
}

bool is_unsettled(const Subject& subject) {
  const auto* observation = subject.observation;
  if (observation == nullptr || observation->condition == Condition::unknown) return true;
  return observation->condition == Condition::drifted && subject.observe_only;
}

void add_blocker(Action& action, const Reference& reference) {
  auto& list = action.blocked_on;
  const auto at = std::lower_bound(list.begin(), list.end(), reference);
  if (at == list.end() || *at != reference) list.insert(at, reference);
}

void add_requirements(Planning& planning, const Subject& subject) {
  const auto nodes = mutating_nodes(planning, subject);
  if (nodes.empty()) return;
  for (const auto& reference : subject.resource->requirements) {
    const auto* required = planning.find(reference);
    if (required == nullptr || required == &subject) continue;
    const bool unsettled = is_unsettled(*required);
    const auto before = mutating_nodes(planning, *required);
    for (const auto node : nodes) {
      auto& draft = planning.drafts[node];
      if (unsettled && !draft.action.observe_only) add_blocker(draft.action, reference);
      draft.weak.insert(draft.weak.end(), before.begin(), before.end());
    }
  }
}

// A Service comes after what it must be told of, so that one restart serves all.
void add_notification_order(Planning& planning, const Subject& subject) {
  if (!subject.own || !is_mutating(planning.drafts[*subject.own].action.kind)) return;
  auto& weak = planning.drafts[*subject.own].weak;
  const auto add = [&](const std::vector<Reference>& causes) {
    for (const auto& reference : causes) {
      const auto* cause = planning.find(reference);
      if (cause == nullptr || cause == &subject || cause->observe_only) continue;
      const auto before = mutating_nodes(planning, *cause);
      weak.insert(weak.end(), before.begin(), before.end());
    }
  };
  add(subject.resource->restart_on);
  add(subject.resource->reload_on);
}

// What a leaving target required goes after it.
void add_leaving_order(Planning& planning, Node node) {
  const auto& action = planning.drafts[node].action;
  if (action.kind != ActionKind::leave && action.kind != ActionKind::purge) return;
  const auto owned = planning.state.owned.find(action.target);
  if (owned == planning.state.owned.end()) return;
  for (const auto& target : owned->second.requirements) {
    const auto required = planning.by_target.find(target);
    if (required == planning.by_target.end() || required->second == node) continue;
    auto& draft = planning.drafts[required->second];
    if (removes(draft.action.kind)) draft.weak.push_back(node);
  }
}

void tie_to_folder(Planning& planning, Node inner, Node folder) {
  auto& below = planning.drafts[inner];
  auto& above = planning.drafts[folder];
  const auto kind = above.action.kind;
  const bool unmakes =
      removes(kind) || (kind == ActionKind::replace && above.action.found == Found::directory);
  if (removes(below.action.kind)) {
    if (unmakes) above.strong.push_back(inner);
    return;
  }
  if (removes(kind))
    above.strong.push_back(inner);
  else if (kind == ActionKind::create || kind == ActionKind::replace)
    below.strong.push_back(folder);
}

void add_folder_order(Planning& planning, Node node) {
  const auto target = planning.drafts[node].action.target;
  if (target.family != TargetFamily::path || !is_mutating(planning.drafts[node].action.kind))
    return;
  for_each_ancestor(target.name, [&](std::string_view path) {
    const auto folder =
        planning.by_target.find(model::Target{TargetFamily::path, std::string(path)});
    if (folder != planning.by_target.end() &&
        is_mutating(planning.drafts[folder->second].action.kind))
      tie_to_folder(planning, node, folder->second);
  });
}

bool provides_folder(const Planning& planning, const std::string& path) {
  const auto found = planning.by_target.find(model::Target{TargetFamily::path, path});
  if (found == planning.by_target.end()) return false;
  const auto& action = planning.drafts[found->second].action;
  const bool is_folder = action.reference.type == model::ResourceType::directory ||
                         action.reference.type == model::ResourceType::symlink;
  return is_folder && (action.kind == ActionKind::create || action.kind == ActionKind::replace);
}

// The package that this plan installs or changes and that the resource requires, itself or by way
// of others. Requirements have no circles.
std::optional<Node> find_bringer(const Planning& planning, const Subject& subject) {
  for (const auto& reference : subject.resource->requirements) {
    const auto* required = planning.find(reference);
    if (required == nullptr || required == &subject) continue;
    if (required->own && required->resource->target.family == TargetFamily::package) {
      const auto& action = planning.drafts[*required->own].action;
      if (builds(action.kind) && action.refusal.empty() && !action.observe_only)
        return *required->own;
    }
    if (const auto further = find_bringer(planning, *required)) return further;
  }
  return std::nullopt;
}

// A user comes after the groups that the plan makes and that the document names.
void add_account_order(Planning& planning, const Subject& subject) {
  const auto& resource = *subject.resource;
  if (resource.target.family != TargetFamily::user || !subject.own) return;
  std::vector<std::string> names{std::string(resource.text(model::Field::primary_group)),
                                 resource.target.name};
  if (const auto* groups = resource.find(model::Field::groups)) {
    const auto& listed = std::get<std::vector<std::string>>(*groups);
    names.insert(names.end(), listed.begin(), listed.end());
  }
  auto& draft = planning.drafts[*subject.own];
  for (const auto& name : names) {
    const auto group = planning.by_target.find(model::Target{TargetFamily::group, name});
    if (group != planning.by_target.end() && builds(draft.action.kind) &&
        builds(planning.drafts[group->second].action.kind))
      draft.weak.push_back(group->second);
  }
}

// A key comes after the user that the plan makes.
void add_key_order(Planning& planning, const Subject& subject) {
  const auto& resource = *subject.resource;
  if (resource.target.family != TargetFamily::authorized_key || !subject.own) return;
  const auto user = planning.by_target.find(
      model::Target{TargetFamily::user, std::string(resource.text(model::Field::user))});
  auto& draft = planning.drafts[*subject.own];
  if (user != planning.by_target.end() && builds(draft.action.kind) &&
      builds(planning.drafts[user->second].action.kind))
    draft.weak.push_back(user->second);
}

// A mount comes after the folders on its way and the mounts above it, and before what is made below
// it, which would lie hidden otherwise.
void add_mount_order(Planning& planning, Node node) {
  const auto builds_at = [&](TargetFamily family, std::string_view path) -> std::optional<Node> {
    const auto found = planning.by_target.find(model::Target{family, std::string(path)});
    if (found == planning.by_target.end()) return std::nullopt;
    return builds(planning.drafts[found->second].action.kind) ? std::optional(found->second)
                                                              : std::nullopt;
  };
  auto& draft = planning.drafts[node];
  const auto target = draft.action.target;
  const bool mount = target.family == TargetFamily::mount;
  if ((!mount && target.family != TargetFamily::path) || !builds(draft.action.kind)) return;
  for_each_ancestor(target.name, [&](std::string_view path) {
    if (const auto above = builds_at(TargetFamily::mount, path)) draft.weak.push_back(*above);
    if (!mount) return;
    if (const auto folder = builds_at(TargetFamily::path, path)) draft.weak.push_back(*folder);
  });
  if (!mount) return;
  if (const auto point = builds_at(TargetFamily::path, target.name.view()))
    draft.weak.push_back(*point);
}

void set_order_class(const Planning& planning, Draft& draft) {
  const auto& action = draft.action;
  if (is_own_package(action.target)) draft.order_class = kOwnPackage;
  const bool user = action.target.family == TargetFamily::user;
  if (!user && action.target.family != TargetFamily::group) return;
  if (removes(action.kind)) {
    draft.order_class = user ? kUserLeaves : kGroupLeaves;
    return;
  }
  const auto* subject = planning.find(action.reference);
  const auto number = user ? model::Field::uid : model::Field::gid;
  if (subject != nullptr && subject->resource->find(number) != nullptr)
    draft.order_class = kNumberedAccount;
}

void unique_nodes(std::vector<Node>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

void add_edges(Planning& planning) {
  for (const auto& subject : planning.subjects) {
    add_requirements(planning, subject);
    add_notification_order(planning, subject);
    add_account_order(planning, subject);
    add_key_order(planning, subject);
  }
  const bool mounts = std::any_of(
      planning.drafts.begin(), planning.drafts.end(),
      [](const Draft& draft) { return draft.action.target.family == TargetFamily::mount; });
  for (Node node = 0; node < planning.drafts.size(); ++node) {
    add_leaving_order(planning, node);
    add_folder_order(planning, node);
    if (mounts) add_mount_order(planning, node);
    set_order_class(planning, planning.drafts[node]);
  }
  for (auto& draft : planning.drafts) {
    unique_nodes(draft.strong);
    unique_nodes(draft.weak);
  }
}

namespace {

// What is missing may come with a package; whether it did is looked at again before the action,
// which therefore comes after the package, also where nothing is to be done in between.
bool wait_for_bringer(Planning& planning, const Subject& subject) {
  const auto package = find_bringer(planning, subject);
  if (!package) return false;
  auto& draft = planning.drafts[*subject.own];
  draft.weak.push_back(*package);
  draft.bringer = package;
  draft.action.refusal.clear();
  draft.action.note =
      "looked at again once " + planning.drafts[*package].action.reference.text() + " is there";
  return true;
}

}  // namespace

std::string missing_folder_words(std::string_view parent) {
  const auto words = std::string("missing folder: ").append(parent);
  return parent.ends_with(kNoFolder) ? words : words + " does not exist";
}

// What an earlier action provides counts as provided; parents are never invented.
void check_parents(Planning& planning) {
  for (const auto& subject : planning.subjects) {
    if (!subject.own) continue;
    auto& action = planning.drafts[*subject.own].action;
    if (!builds(action.kind) || action.target.family != TargetFamily::path) continue;
    if (action.refusal == kNoContent) {
      wait_for_bringer(planning, subject);
      continue;
    }
    if (!action.refusal.empty() || subject.observation->missing_parent.empty()) continue;
    const std::string parent(parent_of(action.target.name));
    if (provides_folder(planning, parent) || wait_for_bringer(planning, subject)) continue;
    action.refusal =
        missing_folder_words(subject.observation->missing_parent) +
        " and nothing in the plan makes it; declare a Directory for it, or require the "
        "Package that brings it";
  }
}

void block_on_observed(Planning& planning) {
  for (auto& draft : planning.drafts) {
    if (draft.action.observe_only || !is_mutating(draft.action.kind)) continue;
    for (const auto* edges : {&draft.strong, &draft.weak})
      for (const auto node : *edges) {
        const auto& before = planning.drafts[node].action;
        if (before.observe_only) add_blocker(draft.action, before.reference);
      }
  }
}

}  // namespace datum::core
