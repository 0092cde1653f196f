// Drafts for what the manifest declares: at most one action on the target of each resource, and one
// on each entry that a purged Directory must lose.
#include <algorithm>
#include <array>

#include "ownership.hpp"
#include "planning.hpp"
#include "refusal.hpp"

namespace datum::core {
namespace {

bool is_purge_field(const FieldDrift& drift) {
  return drift.field == "purge" || drift.field == "purgeDirectories";
}

bool has_purge_drift(const Observation& observation) {
  return std::any_of(observation.purge.begin(), observation.purge.end(),
                     [](const PurgeEntry& entry) { return entry.is_drift; });
}

// What differs on the target itself: entries to purge have actions of their own.
std::vector<FieldDrift> own_drifts(const Observation& observation) {
  std::vector<FieldDrift> drifts;
  std::copy_if(observation.drifts.begin(), observation.drifts.end(), std::back_inserter(drifts),
               [](const FieldDrift& drift) { return !is_purge_field(drift); });
  return drifts;
}

// Accounts and what decides who may become whom.
bool is_privileged(const model::Resource& resource) {
  using model::Field;
  using model::ResourceType;
  const auto type = resource.reference.type;
  if (type == ResourceType::user || type == ResourceType::group ||
      type == ResourceType::authorized_key)
    return true;
  if (resource.flag(Field::allow_privileged)) return true;
  constexpr std::uint32_t kSetIdBits = 06000;
  const auto mode = resource.text(Field::mode);
  if (!mode.empty() && (model::mode_bits(mode) & kSetIdBits) != 0) return true;
  if (resource.target.family != model::TargetFamily::path) return false;
  static constexpr std::array<std::string_view, 4> kFolders{"/etc/sudoers.d", "/etc/pam.d",
                                                            "/etc/security", "/etc/polkit-1"};
  const std::string_view path = resource.target.name;
  if (path == "/etc/sudoers") return true;
  return std::any_of(kFolders.begin(), kFolders.end(), [path](std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  });
}

bool type_matches(const Subject& subject) {
  return own_form(subject.resource->reference.type) == subject.observation->found;
}

ActionKind drifted_kind(const Subject& subject) {
  const auto& resource = *subject.resource;
  const auto found = subject.observation->found;
  if (resource.absent()) return ActionKind::remove;
  // A unit is brought along by a package or a file: starting and enabling it never creates it.
  if (found == Found::absent && resource.reference.type != model::ResourceType::service)
    return ActionKind::create;
  if (found == Found::absent || found == Found::unseen || type_matches(subject))
    return ActionKind::update;
  return ActionKind::replace;
}

std::uint64_t staged_bytes(const Subject& subject, const Action& action) {
  const auto* content = subject.resource->content();
  if (content == nullptr || !builds(action.kind)) return 0;
  const bool writes = action.kind != ActionKind::update ||
                      std::any_of(action.changes.begin(), action.changes.end(),
                                  [](const FieldDrift& drift) { return drift.field == "content"; });
  return writes ? content->size : 0;
}

std::string first_contact_note(const Subject& subject, ActionKind kind) {
  const auto& observation = *subject.observation;
  if (subject.owned != nullptr || observation.found == Found::absent || !builds(kind)) return {};
  if (kind == ActionKind::replace)
    return std::string("first contact: a ").append(to_string(observation.found)) + " is replaced";
  if (observation.conflicting_content)
    return "first contact: it has other content, which is kept as old content";
  return "first contact: taken over with this change";
}

// What a correction brings with it beside the declared change: other names, lost capabilities.
std::string with_side_effects(std::string note, const Observation& observation, ActionKind kind) {
  const bool tells = builds(kind) || observation.target.family == model::TargetFamily::sysctl;
  if (!tells || observation.obstacle != Obstacle::none) return note;
  for (const auto* words : {&observation.obstacle_detail, &observation.warning}) {
    if (!note.empty() && !words->empty()) note.append("; ");
    note.append(*words);
  }
  return note;
}

Action start_action(const Planning& planning, const Subject& subject, ActionKind kind) {
  const auto& resource = *subject.resource;
  Action action;
  action.kind = kind;
  action.target = resource.target;
  action.reference = resource.reference;
  action.observe_only = subject.observe_only;
  action.repeatable = model::describe(resource.reference.type).repeatable &&
                      !planning.state.suspects.contains(resource.target);
  action.found = subject.observation->found;
  action.identity = subject.observation->identity;
  return action;
}

}  // namespace

Action drifted_action(const Planning& planning, const Subject& subject) {
  const auto& observation = *subject.observation;
  auto action = start_action(planning, subject, drifted_kind(subject));
  action.changes = own_drifts(observation);
  action.privileged = is_privileged(*subject.resource);
  action.staged_bytes = staged_bytes(subject, action);
  const bool undoes = planning.input.reversal != nullptr;
  action.note = with_side_effects(undoes ? "" : first_contact_note(subject, action.kind),
                                  observation, action.kind);
  if (planning.keeps(action.target))
    action.note = "kept until something else is declared; `datum keep --lift` ends it";
  action.refusal = find_refusal(planning, subject, action);
  return action;
}

namespace {

// Nothing on the machine has to change, but perhaps what is recorded of the target.
std::optional<Action> record_action(const Planning& planning, const Subject& subject) {
  const auto& resource = *subject.resource;
  if (resource.absent()) {
    if (subject.owned == nullptr || subject.observation->found != Found::absent) return {};
    auto action = start_action(planning, subject, ActionKind::release);
    action.observe_only = false;
    action.note = "already gone";
    return action;
  }
  if (subject.owned == nullptr) {
    const auto found = subject.observation->found;
    const bool nothing_there = found == Found::absent || found == Found::unseen;
    if (nothing_there || subject.observe_only) return {};
    return start_action(planning, subject, ActionKind::adopt);
  }
  const auto requirements = requirement_targets(*planning.input.manifest, resource);
  if (!record_differs(*subject.owned, resource, requirements)) return {};
  auto action = start_action(planning, subject, ActionKind::rename);
  // Protection must be recorded before the resource can leave, whatever its policy.
  action.observe_only = false;
  action.note = subject.owned->reference == resource.reference
                    ? std::string("its protection or requirements changed")
                    : "was " + subject.owned->reference.text();
  return action;
}

}  // namespace

void draft_declared(Planning& planning) {
  for (auto& subject : planning.subjects) {
    const auto* observation = subject.observation;
    if (observation == nullptr || observation->condition == Condition::unknown ||
        observation->condition == Condition::skipped)
      continue;
    const bool only_entries = has_purge_drift(*observation) && own_drifts(*observation).empty();
    std::optional<Action> action;
    if (observation->condition == Condition::converged || only_entries)
      action = record_action(planning, subject);
    else
      action = drifted_action(planning, subject);
    if (!action) continue;
    subject.own = planning.add(std::move(*action));
    auto& draft = planning.drafts[*subject.own];
    draft.entries = observation->entries;
    draft.needs_empty = observation->obstacle == Obstacle::not_empty &&
                        is_mutating(draft.action.kind) && draft.action.refusal.empty();
  }
}

static Action purge_action(const Planning& planning, const Subject& subject,
                           const PurgeEntry& entry, model::Target target) {
  Action action;
  action.kind = ActionKind::purge;
  action.reference = subject.resource->reference;
  action.observe_only = subject.observe_only || planning.keeps(target);
  action.found = entry.found;
  action.identity = entry.identity;
  action.repeatable = !planning.state.suspects.contains(target);
  if (!entry.removable)
    action.refusal = "not removable: " + (entry.reason.empty() ? "it stays" : entry.reason) +
                     "; remove it by hand or declare it";
  const auto owned = planning.state.owned.find(target);
  if (owned != planning.state.owned.end() && owned->second.protect)
    action.refusal = "protected: " + owned->second.reference.text() +
                     " was declared with protect: true; remove it by hand or declare it again";
  if (action.refusal.empty()) action.refusal = quarantine_refusal(planning, target);
  action.target = std::move(target);
  return action;
}

// Entries that any resource declares, or that lie above one, are never purged, whatever was said of
// them when the folder was read.
void draft_purges(Planning& planning, bool observe_only) {
  for (auto& subject : planning.subjects) {
    const auto* observation = subject.observation;
    if (subject.observe_only != observe_only || observation == nullptr ||
        observation->condition != Condition::drifted || subject.resource->absent())
      continue;
    for (const auto& entry : observation->purge) {
      if (!entry.is_drift) continue;
      auto path = subject.resource->target.name.str();
      if (path.back() != '/') path.push_back('/');
      model::Target target{model::TargetFamily::path, path + entry.name};
      if (planning.is_declared(target) || planning.is_above_any(target.name) ||
          planning.by_target.contains(target))
        continue;
      subject.purging.push_back(
          planning.add(purge_action(planning, subject, entry, std::move(target))));
    }
  }
}

}  // namespace datum::core
