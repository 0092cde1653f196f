// The machine in memory: what a resource would see and what an action would do.
#include <algorithm>

#include "datum/crypto/digest.hpp"
#include "world.hpp"

namespace datum::core::test {
namespace {

using model::Field;
using model::ResourceType;
using model::Target;
using model::TargetFamily;

std::string parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_path(const Target& target) {
  return target.family == TargetFamily::path;
}

std::string desired_content(const model::Resource& resource) {
  switch (resource.reference.type) {
    case ResourceType::file:
      return resource.content() ? resource.content()->bytes : "";
    case ResourceType::symlink:
      return std::string(resource.text(Field::target));
    case ResourceType::directory:
      return {};
    default:
      return std::string(resource.text(Field::state));
  }
}

Found form_of(ResourceType type) {
  switch (type) {
    case ResourceType::file:
      return Found::file;
    case ResourceType::directory:
      return Found::directory;
    case ResourceType::symlink:
      return Found::symlink;
    default:
      return Found::present;
  }
}

void seal(Observation& seen) {
  std::string all = seen.reference.text() + '\n' + seen.target.text() + '\n';
  all += std::string(to_string(seen.condition)) + std::string(to_string(seen.found));
  all += std::string(to_string(seen.obstacle)) + seen.missing_parent + seen.content.hex();
  for (const auto& drift : seen.drifts) all += '\n' + drift.field + drift.desired + drift.observed;
  for (const auto& entry : seen.purge) all += '\n' + entry.name + (entry.is_drift ? "+" : "-");
  seen.digest = digest_of(all);
}

}  // namespace

Digest digest_of(std::string_view text) {
  return crypto::sha256(as_bytes(text));
}

void Machine::put(const std::string& name, Found found, const std::string& content) {
  put(Target{TargetFamily::path, name}, found, content);
}

void Machine::put(const Target& target, Found found, const std::string& content) {
  objects_[target] = Object{found, is_path(target) ? next_inode_++ : 0, content};
}

void Machine::take(const std::string& name) {
  std::erase_if(objects_, [&](const auto& entry) {
    return entry.first.name == name || entry.first.name.starts_with(name + "/");
  });
}

void Machine::edit(const std::string& name, const std::string& content) {
  objects_.at(Target{TargetFamily::path, name}).content = content;
}

const Object* Machine::find(const Target& target) const {
  const auto found = objects_.find(target);
  return found == objects_.end() ? nullptr : &found->second;
}

const Object* Machine::find(const std::string& name) const {
  return find(Target{TargetFamily::path, name});
}

std::vector<std::string> Machine::names_in(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [target, object] : objects_)
    if (is_path(target) && target.name != "/" && parent(target.name) == name)
      names.push_back(target.name.substr(name == "/" ? 1 : name.size() + 1));
  return names;
}

std::string Machine::missing_parent(const std::string& name) const {
  std::string missing;
  for (auto at = parent(name); at != "/"; at = parent(at)) {
    const auto* object = find(at);
    if (object == nullptr) missing = at;
    if (object != nullptr && object->found != Found::directory)
      missing = at + " (a " + std::string(to_string(object->found)) + std::string(kNoFolder);
  }
  return missing;
}

void Machine::observe_entries(const model::Resource& resource, const model::Manifest& manifest,
                              Observation& seen) const {
  const auto declared = [&](const std::string& name) {
    return std::any_of(manifest.resources.begin(), manifest.resources.end(), [&](const auto& each) {
      return each->target.name == name || each->target.name.starts_with(name + "/");
    });
  };
  for (const auto& name : names_in(resource.target.name)) {
    const auto full = resource.target.name + "/" + name;
    if (declared(full)) continue;
    const auto& object = *find(full);
    PurgeEntry entry{name, object.found, {1, object.inode, 0, 0}, true, true, ""};
    if (object.found == Found::directory) entry.is_drift = false;
    seen.purge.push_back(entry);
  }
  const bool drifts = std::any_of(seen.purge.begin(), seen.purge.end(),
                                  [](const PurgeEntry& entry) { return entry.is_drift; });
  if (drifts) seen.drifts.push_back({"purge", "no undeclared entries", "some"});
}

void Machine::observe_path(const model::Resource& resource, const model::Manifest& manifest,
                           Observation& seen) const {
  const auto& name = resource.target.name;
  seen.missing_parent = missing_parent(name);
  const auto* object = find(resource.target);
  if (object == nullptr) return;
  seen.identity = {device, object->inode, object->content.size(), 0};
  if (object->found != Found::directory) seen.content = digest_of(object->content);
  const auto entries = names_in(name);
  seen.entries = static_cast<std::uint32_t>(entries.size());
  const bool is_full = object->found == Found::directory && !entries.empty();
  const bool replaced = form_of(resource.reference.type) != object->found;
  if (is_full && (resource.absent() || replaced)) seen.obstacle = Obstacle::not_empty;
  const bool purges = resource.flag(Field::purge) && object->found == Found::directory;
  if (purges && !resource.absent()) observe_entries(resource, manifest, seen);
}

Observation Machine::observe(const model::Resource& resource,
                             const model::Manifest& manifest) const {
  Observation seen;
  seen.reference = resource.reference;
  seen.target = resource.target;
  if (blind.contains(resource.reference)) {
    seen.reason = "cannot be looked at";
    seal(seen);
    return seen;
  }
  const auto* object = find(resource.target);
  seen.found = object ? object->found : Found::absent;
  if (is_path(resource.target)) observe_path(resource, manifest, seen);
  const bool is_unit = resource.reference.type == ResourceType::service;
  const auto wanted = form_of(resource.reference.type);
  if (resource.absent()) {
    if (object) seen.drifts.push_back({"state", "absent", "present"});
  } else if (object == nullptr) {
    seen.drifts.insert(seen.drifts.begin(), {"state", is_unit ? "running" : "present", "absent"});
  } else if (object->found != wanted) {
    seen.drifts.insert(seen.drifts.begin(), {"type", "", std::string(to_string(object->found))});
  } else if (object->content != desired_content(resource)) {
    seen.drifts.push_back({"content", desired_content(resource), object->content});
    seen.conflicting_content = true;
  }
  seen.condition = seen.drifts.empty() ? Condition::converged : Condition::drifted;
  seal(seen);
  return seen;
}

LeavingObservation Machine::observe_leaving(const Target& target) const {
  LeavingObservation seen;
  seen.target = target;
  const auto* object = find(target);
  seen.found = object ? object->found : Found::absent;
  if (object == nullptr || !is_path(target)) return seen;
  seen.identity = {device, object->inode, object->content.size(), 0};
  if (object->found != Found::directory) seen.content = digest_of(object->content);
  seen.entries = static_cast<std::uint32_t>(names_in(target.name).size());
  seen.empty = seen.entries == 0;
  return seen;
}

Left Machine::left_at(const Target& target) const {
  const auto seen = observe_leaving(target);
  return {seen.found, seen.identity.device, seen.identity.inode, seen.content};
}

std::string Machine::remove(const Target& target) {
  const auto* object = find(target);
  if (object == nullptr) return "it is gone";
  if (object->found == Found::directory && !names_in(target.name).empty()) return "not empty";
  objects_.erase(target);
  return {};
}

std::string Machine::build(const model::Resource& resource) {
  const auto& target = resource.target;
  const auto wanted = form_of(resource.reference.type);
  if (is_path(target)) {
    const auto* above = find(parent(target.name));
    if (parent(target.name) != "/" && (above == nullptr || above->found != Found::directory))
      return "no such folder";
    const auto* object = find(target);
    const bool is_folder = object && object->found == Found::directory;
    if (is_folder && wanted != Found::directory && !names_in(target.name).empty())
      return "not empty";
  }
  put(target, wanted, desired_content(resource));
  return {};
}

ActionResult Machine::act(const Action& action, const model::Manifest& manifest) {
  ActionResult result;
  result.ordinal = action.ordinal;
  const auto* resource = manifest.find(action.reference);
  const bool builds = action.kind == ActionKind::create || action.kind == ActionKind::update ||
                      action.kind == ActionKind::replace;
  const auto problem = builds ? build(*resource) : remove(action.target);
  if (!problem.empty()) {
    result.error = Error(ErrorCode::io_error, problem);
    result.failure = digest_of(problem);
    return result;
  }
  result.left = left_at(action.target);
  const bool declared = builds || action.kind == ActionKind::remove;
  if (declared) result.after = observe(*resource, manifest);
  return result;
}

}  // namespace datum::core::test
