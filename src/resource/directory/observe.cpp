// Looking at a Directory: its own metadata, and under `purge` the entries that nothing declares.
#include <algorithm>

#include "../path_facts.hpp"
#include "directory_provider.hpp"

namespace datum::resource {

namespace {

using model::Field;

// A folder that is purged has configuration in it, not data; more entries than this are a mistake
// in the declaration, and each would be an action of the plan.
constexpr std::size_t kMaxPurgeEntries = 65'536;

// Whether a declared path runs through this entry, by its spelling below the declared folder.
bool is_spelled(const Declared& declared, const std::string& folder, const std::string& name) {
  const auto path = (folder == "/" ? std::string() : folder) + "/" + name;
  return declared.paths().contains(path);
}

// A folder is never entered, only asked whether it is empty.
std::string find_contents(Sight& sight, const os::Location& where) {
  auto folder = sight.files().open_directory(where.folder->handle, where.name, os::Follow::no);
  if (!folder) return folder.error().message();
  const auto inside = sight.files().list(*folder);
  if (!inside) return inside.error().message();
  return inside->empty() ? "" : "a folder that is not empty";
}

Status add_entry(Sight& sight, const os::Location& where, bool purge_directories,
                 core::Observation& seen) {
  DATUM_ASSIGN(const auto stat, sight.find(where));
  if (!stat) return {};
  core::PurgeEntry entry{where.name, found_of(stat->type), identity_of(*stat), true, true, {}};
  const bool folder = stat->type == os::FileType::directory;
  if (sight.is_own(where, stat)) {
    entry.is_drift = false;
    entry.reason = "it belongs to Datum itself";
  } else if (folder && !purge_directories) {
    entry.is_drift = false;
    entry.reason = "a folder, and purgeDirectories is not set";
  } else if (stat->mount_root) {
    entry.reason = "a mount point";
  } else if (stat->immutable) {
    entry.reason = "immutable (chattr +i or +a)";
  } else if (folder) {
    entry.reason = find_contents(sight, where);
  }
  entry.removable = entry.reason.empty();
  seen.purge.push_back(std::move(entry));
  return {};
}

Status list_undeclared(Sight& sight, const model::Resource& resource, const os::Location& where,
                       core::Observation& seen) {
  // The walk opens the folder itself as the folder of a name below it.
  DATUM_ASSIGN(auto inside, sight.walker().locate(resource.target.name + "/entry"));
  DATUM_ASSIGN(const auto here, sight.files().stat(inside.folder->handle));
  if (here.device != seen.identity.device || here.inode != seen.identity.inode)
    return fail(ErrorCode::conflict, where.name + ": changed while it was looked at");
  DATUM_ASSIGN(auto entries, sight.files().list(inside.folder->handle));
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (auto& one : entries) {
    if (is_spelled(sight.declared(), resource.target.name, one.name)) continue;
    inside.name = std::move(one.name);
    if (sight.is_declared(inside, true)) continue;
    if (seen.purge.size() == kMaxPurgeEntries)
      return fail(ErrorCode::limit_exceeded, "more than 65,536 undeclared entries");
    DATUM_TRY(add_entry(sight, inside, resource.flag(Field::purge_directories), seen));
  }
  return {};
}

void observe_absent(Sight& sight, const os::Location& where, const os::FileStat& stat,
                    core::Observation& seen) {
  add_state_drift(seen, true);
  add_immutable_obstacle(stat, seen);
  if (stat.type != os::FileType::directory)
    return add_type_drift(seen, os::FileType::directory, stat.type);
  if (stat.mount_root)
    return add_obstacle(seen, core::Obstacle::mount_point, "target is a mount point");
  const auto names = count_entries(sight, where);
  if (!names) return set_unknown(seen, "cannot be listed", names.error());
  seen.entries = *names;
  if (*names > 0)
    add_obstacle(
        seen, core::Obstacle::not_empty,
        "the folder has " + std::to_string(*names) + (*names == 1 ? " entry" : " entries"));
}

// Of a reverting pass only.
void compare_attributes(Sight& sight, const os::Location& where, core::Observation& seen) {
  if (sight.declared().find_former(seen.target) == nullptr) return;
  auto folder = sight.files().open_directory(where.folder->handle, where.name, os::Follow::no);
  if (!folder) return set_unknown(seen, "cannot be opened", folder.error());
  add_attributes_drift(sight, *folder, seen);
}

}  // namespace

void DirectoryProvider::observe(Sight& sight, const model::Resource& resource,
                                core::Observation& seen) const {
  const auto where = reach(sight, resource, seen);
  if (!where) return;
  const auto stat = sight.find(*where);
  if (!stat) return set_unknown(seen, "cannot be looked at", stat.error());
  if (!accept(sight, *where, *stat, seen)) return;
  if (!*stat) {
    if (!resource.absent()) add_state_drift(seen, false);
    return;
  }
  if (resource.absent()) return observe_absent(sight, *where, **stat, seen);
  if ((*stat)->type != os::FileType::directory) {
    add_type_drift(seen, os::FileType::directory, (*stat)->type);
    return record_owned_content(sight, *where, **stat, seen);
  }
  add_metadata_drifts(sight, resource, **stat, seen);
  if (seen.found == core::Found::unseen) return;
  compare_attributes(sight, *where, seen);
  add_immutable_obstacle(**stat, seen);
  if (!resource.flag(Field::purge)) return;
  const auto listed = list_undeclared(sight, resource, *where, seen);
  if (!listed) set_unknown(seen, "cannot be purged", listed.error());
}

}  // namespace datum::resource
