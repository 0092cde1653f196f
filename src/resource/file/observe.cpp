// Looking at a File: its content is hashed while it is read, once, through one descriptor.
#include "../path_facts.hpp"
#include "../show.hpp"
#include "../transfer.hpp"
#include "file_facts.hpp"
#include "file_provider.hpp"

namespace datum::resource {

namespace {

using model::Field;

struct Look {
  std::optional<os::FileStat> stat;
  os::Handle handle;  // of a regular file whose content matters
};

bool is_other_type(ErrorCode code) {
  return code == ErrorCode::symlink || code == ErrorCode::is_directory ||
         code == ErrorCode::invalid_argument;
}

Result<Look> look_at(Sight& sight, const os::Location& where, const model::Target& target,
                     bool wants_content) {
  Look look;
  if (wants_content) {
    auto opened = sight.files().open_file_with_stat(where.folder->handle, where.name,
                                                    sight.read_access(target, where));
    if (opened) {
      look.stat = opened->stat;
      look.handle = std::move(opened->handle);
      return look;
    }
    if (opened.error().code() == ErrorCode::not_found) return look;
    if (!is_other_type(opened.error().code())) return fail(std::move(opened).error());
  }
  DATUM_ASSIGN(look.stat, sight.find(where));
  return look;
}

struct Wanted {
  Digest digest;
  std::uint64_t size = 0;
};

// Secrets are looked up in both modes, so that both see the same drift. Nothing if one of them
// cannot be.
std::optional<Wanted> find_wanted(const Sight& sight, const model::Content& content,
                                  core::Observation& seen) {
  if (!has_secrets(content)) return Wanted{content.digest, content.size};
  const auto resolved = open_content(sight, content);
  if (resolved) return Wanted{resolved->digest, resolved->size};
  set_unknown(seen, resolved.error().message());
  add_obstacle(seen, core::Obstacle::unresolved_secret, seen.reason);
  return std::nullopt;
}

void compare_content(Sight& sight, const Wanted& declared, const Look& look,
                     core::Observation& seen) {
  const auto size = look.stat->size;
  const bool worth_it =
      size == declared.size || size <= kMaxHashedForDrift ||
      (sight.declared().find_owned(seen.target) != nullptr && !is_mostly_holes(*look.stat));
  Sight::Hashed hashed{{}, size};
  if (worth_it) {
    auto read = sight.hash(look.handle, size);
    if (!read) return set_unknown(seen, "cannot be read", read.error());
    hashed = *read;
  }
  if (seen.sensitive) {
    seen.content = worth_it ? sight.keyed(hashed.plain) : Digest{};
  } else {
    seen.content = hashed.plain;
    seen.content_size = hashed.size;
  }
  if (worth_it && hashed.plain == declared.digest) return;
  seen.conflicting_content = true;
  if (seen.sensitive)
    add_drift(seen, "content", std::string(kRedacted), std::string(kRedacted));
  else
    add_drift(seen, "content", shown_content(declared.digest, declared.size),
              shown_content(hashed.plain, hashed.size));
}

bool has_drift(const core::Observation& seen, std::string_view field) {
  for (const auto& drift : seen.drifts)
    if (drift.field == field) return true;
  return false;
}

// A new owner takes capabilities away; where no content is declared, the file is not open yet.
void open_for_attributes(Sight& sight, const os::Location& where, Look& look,
                         const core::Observation& seen) {
  if (look.handle || !(has_drift(seen, "owner") || has_drift(seen, "group"))) return;
  auto opened =
      sight.files().open_file_with_stat(where.folder->handle, where.name, os::Access::read);
  if (opened) look.handle = std::move(opened->handle);
}

// Of a reverting pass only.
void compare_attributes(Sight& sight, const os::Location& where, Look& look,
                        core::Observation& seen) {
  if (sight.declared().find_former(seen.target) == nullptr) return;
  if (!look.handle) {
    auto opened =
        sight.files().open_file_with_stat(where.folder->handle, where.name, os::Access::read);
    if (!opened) return set_unknown(seen, "cannot be opened", opened.error());
    look.handle = std::move(opened->handle);
  }
  add_attributes_drift(sight, look.handle, seen);
}

// What will stand in the way of correcting a regular file that drifts.
void add_obstacles(Sight& sight, const model::Resource& resource, const Look& look,
                   core::Observation& seen) {
  const auto& stat = *look.stat;
  add_immutable_obstacle(stat, seen);
  const bool in_place = resource.text(Field::replace) == "inPlace";
  const bool content = has_drift(seen, "content");
  const auto policy = resource.text(Field::hard_links, "fail");
  const bool renames = (content && !in_place && policy != "inPlace") ||
                       (stat.links > 1 && policy == "break" && !in_place);
  if (stat.mount_root && renames)
    add_obstacle(seen, core::Obstacle::mount_point,
                 "target is a mount point; replace: inPlace writes into it");
  if (stat.links > 1) {
    auto detail =
        std::to_string(stat.links) + " names share this file; hardLinks: " + std::string(policy);
    if (policy == "fail") add_obstacle(seen, core::Obstacle::hard_links, std::move(detail));
    if (seen.obstacle == core::Obstacle::none) seen.obstacle_detail = std::move(detail);
  }
  if (content && resource.text(Field::on_conflict) == "fail" &&
      sight.declared().find_owned(seen.target) == nullptr)
    add_obstacle(seen, core::Obstacle::unmanaged_content,
                 "an unmanaged file with other content is there; onConflict: fail");
  const bool reverts = sight.declared().find_former(seen.target) != nullptr;
  if (seen.obstacle == core::Obstacle::none && !reverts &&
      loses_capability(sight.files(), look.handle, seen))
    seen.obstacle_detail = "file capabilities (security.capability) are lost by this change";
}

void observe_absent(Sight& sight, const os::Location& where, core::Observation& seen) {
  const auto stat = sight.find(where);
  if (!stat) return set_unknown(seen, "cannot be looked at", stat.error());
  if (!accept(sight, where, *stat, seen) || !*stat) return;
  add_state_drift(seen, true);
  add_immutable_obstacle(**stat, seen);
  const auto type = (*stat)->type;
  if (type != os::FileType::regular && type != os::FileType::symlink)
    add_type_drift(seen, os::FileType::regular, type);
  if ((*stat)->mount_root)
    add_obstacle(seen, core::Obstacle::mount_point, "target is a mount point");
}

void observe_other_type(Sight& sight, const os::Location& where, const os::FileStat& stat,
                        core::Observation& seen) {
  add_type_drift(seen, os::FileType::regular, stat.type);
  add_immutable_obstacle(stat, seen);
  record_owned_content(sight, where, stat, seen);
  if (stat.mount_root) add_obstacle(seen, core::Obstacle::mount_point, "target is a mount point");
}

}  // namespace

void FileProvider::observe(Sight& sight, const model::Resource& resource,
                           core::Observation& seen) const {
  seen.sensitive = resource.sensitive();
  const auto* content = resource.content();
  Wanted wanted;
  if (content != nullptr) {
    const auto found = find_wanted(sight, *content, seen);
    if (!found) return;
    wanted = *found;
  }
  const auto where = reach(sight, resource, seen);
  if (!where) {
    if (content == nullptr && !seen.missing_parent.empty())
      add_obstacle(seen, core::Obstacle::no_content, "the file is missing and has no content");
    return;
  }
  if (resource.absent()) return observe_absent(sight, *where, seen);
  auto look = look_at(sight, *where, resource.target, content != nullptr);
  if (!look) return set_unknown(seen, "cannot be looked at", look.error());
  if (!accept(sight, *where, look->stat, seen)) return;
  if (!look->stat) {
    add_state_drift(seen, false);
    if (content == nullptr)
      add_obstacle(seen, core::Obstacle::no_content, "the file is missing and has no content");
    return;
  }
  if (look->stat->type != os::FileType::regular)
    return observe_other_type(sight, *where, *look->stat, seen);
  seen.sensitive = seen.sensitive || denies_others(look->stat->mode);
  if (content != nullptr) compare_content(sight, wanted, *look, seen);
  if (seen.found == core::Found::unseen) return;
  add_metadata_drifts(sight, resource, *look->stat, seen);
  if (seen.found == core::Found::unseen) return;
  compare_attributes(sight, *where, *look, seen);
  if (seen.drifts.empty() || seen.found == core::Found::unseen) return;
  open_for_attributes(sight, *where, *look, seen);
  add_obstacles(sight, resource, *look, seen);
}

}  // namespace datum::resource
