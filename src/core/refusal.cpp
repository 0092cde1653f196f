// Type conflicts (documents.md "What may stand in a target's place"), obstacles and quarantine.
#include "refusal.hpp"

#include <algorithm>

#include "ownership.hpp"

namespace datum::core {
namespace {

using model::ResourceType;

// What a resource of this type may take the place of, or remove, whoever made it.
bool may_replace(ResourceType type, Found found) {
  switch (type) {
    case ResourceType::file:
    case ResourceType::repository:
    case ResourceType::sysctl:
    case ResourceType::hostname:
    case ResourceType::timezone:
      return found == Found::file || found == Found::symlink;
    case ResourceType::timer:
      return found == Found::file;
    case ResourceType::symlink:
      return found == Found::symlink;
    case ResourceType::directory:
      return found == Found::directory;
    default:
      return true;
  }
}

std::string type_conflict(const Subject& subject) {
  const auto& observation = *subject.observation;
  const auto type = subject.resource->reference.type;
  const auto found = observation.found;
  if (found == Found::absent || found == Found::unseen || may_replace(type, found)) return {};
  std::string text("type conflict: a ");
  text.append(to_string(found)).append(" is where a ").append(model::to_string(type));
  text.append(" is declared, ");
  if (subject.owned == nullptr || !subject.owned->created) {
    text.append("and Datum did not make it");
  } else {
    const auto change =
        describe_change(subject.owned->left, found, observation.identity, observation.content);
    if (change.empty()) return {};
    text.append("and it was changed since Datum made it (").append(change).append(")");
  }
  return text.append("; move it away, or declare it as it is");
}

// Differences that are reported and never corrected refuse an action only when nothing else is left
// to correct.
bool only_uncorrected(const Action& action) {
  return std::all_of(action.changes.begin(), action.changes.end(), [](const FieldDrift& drift) {
    return drift.field == "uid" || drift.field == "gid";
  });
}

std::string_view obstacle_words(const Subject& subject, const Action& action) {
  switch (subject.observation->obstacle) {
    case Obstacle::none:
    case Obstacle::not_empty:
      return {};
    case Obstacle::mount_point:
      return "mount point: nothing can be renamed onto it and it cannot be removed; unmount it, or "
             "declare replace: inPlace";
    case Obstacle::hard_links:
      return "hard links: other names share this file; declare hardLinks: break or inPlace";
    case Obstacle::no_content:
      return kNoContent;
    case Obstacle::not_corrected:
      return only_uncorrected(action)
                 ? "not corrected: a number in use is never changed; change it by hand, or declare "
                   "the one that is there"
                 : "";
    case Obstacle::immutable:
      return "immutable: the file has an attribute that forbids changes; remove it with chattr";
    case Obstacle::unresolved_secret:
      return "unresolved secret: its value is not known here; provide it to the secret backend";
    case Obstacle::overridden:
      return "overridden: another file sets it after ours; remove it there, or declare the same "
             "value";
    case Obstacle::no_such_key:
      return "no such key: the kernel does not know it; load its module, or correct the key";
    case Obstacle::no_password:
      return "no password: without its lock anybody could log in; declare passwordRef, or set a "
             "password by hand";
    case Obstacle::unmanaged_content:
      return subject.owned == nullptr
                 ? "unmanaged content: the file has other content and onConflict is fail; move it "
                   "away, or declare onConflict: adopt or backup"
                 : "";
  }
  return {};
}

}  // namespace

Found own_form(ResourceType type) {
  switch (type) {
    case ResourceType::file:
    case ResourceType::repository:  // its list
    case ResourceType::sysctl:      // its drop-in
    case ResourceType::hostname:
    case ResourceType::timer:
      return Found::file;
    case ResourceType::timezone:  // its link
      return Found::symlink;
    case ResourceType::directory:
      return Found::directory;
    case ResourceType::symlink:
      return Found::symlink;
    default:
      return Found::present;
  }
}

std::string quarantine_refusal(const Planning& planning, const model::Target& target) {
  const auto found = planning.state.quarantined.find(target);
  if (found == planning.state.quarantined.end()) return {};
  return "quarantined: the host died " + std::to_string(found->second) +
         " times while this ran alone; reconcile --retry, a newer declaration or another version "
         "of the host lifts it";
}

std::string running_refusal(const Planning& planning, const model::Target& target) {
  const auto& running = planning.state.running_tools;
  const auto words = [](const RunningTool& tool) {
    return "still running: " + tool.unit + " was begun by pass " + std::to_string(tool.pass) +
           ", is past its limit and is not killed; wait for its end";
  };
  if (const auto own = running.find(target); own != running.end()) return words(own->second);
  // There is one package manager, and a second run of it would only wait for the first.
  if (target.family != model::TargetFamily::package) return {};
  for (const auto& [other, tool] : running)
    if (other.family == target.family) return words(tool);
  return {};
}

std::string find_refusal(const Planning& planning, const Subject& subject, const Action& action) {
  if (auto text = quarantine_refusal(planning, action.target); !text.empty()) return text;
  if (auto text = running_refusal(planning, action.target); !text.empty()) return text;
  auto conflict = planning.input.reversal != nullptr ? undo_refusal(planning, subject, action)
                                                     : type_conflict(subject);
  if (!conflict.empty()) return conflict;
  std::string text(obstacle_words(subject, action));
  const auto& detail = subject.observation->obstacle_detail;
  // Of these two the words above say all that there is.
  const auto obstacle = subject.observation->obstacle;
  const bool says_more = obstacle != Obstacle::no_content && obstacle != Obstacle::immutable;
  if (says_more && !text.empty() && !detail.empty()) text.append(" (").append(detail).append(")");
  return text;
}

}  // namespace datum::core
