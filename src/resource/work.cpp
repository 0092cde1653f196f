// Temp files, the check that a target is still the observed one, renames and removals.
#include "work.hpp"

namespace datum::resource {

std::string temp_name(const Id128& store, PassId pass, std::uint32_t ordinal) {
  // 7 + 16 + 1 + 20 + 1 + 10 = 55 bytes at most. Half of a random id tells stores apart.
  return ".datum-" + store.hex().substr(0, 16) + "-" + std::to_string(pass) + "-" +
         std::to_string(ordinal);
}

Status remove_beside(os::Files& files, const os::Location& where, const std::string& name) {
  auto removed = files.remove_file(where.folder->handle, name);
  if (!removed && removed.error().code() == ErrorCode::is_directory)
    removed = files.remove_directory(where.folder->handle, name);
  if (!removed && removed.error().code() == ErrorCode::not_found) return {};
  return removed;
}

Result<os::Handle> create_temp(Bench& bench, const Work& work, std::string_view suffix) {
  const auto name = bench.temp_name_of(work).append(suffix);
  auto created = bench.files().create_file(work.where.folder->handle, name);
  if (!created && created.error().code() == ErrorCode::already_exists) {
    DATUM_TRY(remove_beside(bench.files(), work.where, name));
    created = bench.files().create_file(work.where.folder->handle, name);
  }
  if (!created) return fail(std::move(created).error().context("temp file"));
  return created;
}

bool is_beside(Sight& sight, os::Location where, const std::string& name) {
  where.name = name;
  const auto found = sight.find(where);
  return !found || found->has_value();
}

bool is_trusted(const os::Location& where) {
  return where.folder->untrusted.empty();
}

bool anything_left(Sight& sight, const os::Location& where, const std::string& temp) {
  for (const auto suffix : {std::string_view(), kAsideSuffix, kBackupSuffix})
    if (is_beside(sight, where, temp + std::string(suffix))) return true;
  return is_trusted(where) && is_beside(sight, where, temp + std::string(kValidateSuffix));
}

void discard(Bench& bench, Work& work) {
  work.handle = {};
  for (auto* name : {&work.temp, &work.backup}) {
    if (name->empty()) continue;
    const auto removed = remove_beside(bench.files(), work.where, *name);
    if (!removed && work.error)
      work.error = Error(
          work.error->code(),
          work.error->message() + "; " + *name + " is left beside it: " + removed.error().message(),
          work.error->sys_errno());
    work.folder_changed = true;
    name->clear();
  }
  work.staged = false;
}

std::optional<std::string> find_change(const Work& work, const std::optional<os::FileStat>& now) {
  const auto expected = work.action->found;
  if (!now && expected == core::Found::absent) return std::nullopt;
  if (!now) return "it is gone since it was observed";
  if (expected == core::Found::absent)
    return "a " + std::string(to_string(now->type)) + " is there since it was observed";
  if (is_same_object(*now, expected, work.action->identity)) return std::nullopt;
  return "it was changed since it was observed";
}

tl::unexpected<Error> changed_meanwhile(Work& work) {
  work.skipped = "it was changed since it was observed";
  return fail(ErrorCode::conflict, work.skipped);
}

namespace {

Status rename_here(Bench& bench, const Work& work, const std::string& from, const std::string& to,
                   bool no_replace) {
  const auto& folder = work.where.folder->handle;
  return bench.files().rename(folder, from, folder, to, no_replace);
}

// Some file systems know no rename that replaces nothing, and folders cannot be linked instead.
Status rename_folder(Bench& bench, Work& work) {
  auto renamed = rename_here(bench, work, work.temp, work.where.name, true);
  if (renamed || (renamed.error().code() != ErrorCode::invalid_argument &&
                  renamed.error().code() != ErrorCode::unsupported))
    return renamed;
  DATUM_ASSIGN(const auto now, bench.sight.find(work.where));
  if (now) return fail(ErrorCode::already_exists, "something is there since it was observed");
  return rename_here(bench, work, work.temp, work.where.name, false);
}

// Moves the old thing aside, puts the new one there, removes the old one. Whatever fails in
// between, the old thing gets its name back.
Status exchange(Bench& bench, Work& work) {
  const auto aside = bench.temp_name_of(work).append(kAsideSuffix);
  const auto& target = work.where.name;
  work.atomic = false;
  DATUM_TRY(rename_here(bench, work, target, aside, true));
  work.folder_changed = true;
  bench.crash_point("aside", work);
  auto placed = rename_here(bench, work, work.temp, target, true);
  if (!placed) {
    DATUM_TRY(rename_here(bench, work, aside, target, true));
    return placed;
  }
  auto removed = remove_beside(bench.files(), work.where, aside);
  if (!removed) {
    DATUM_TRY(rename_here(bench, work, target, work.temp, true));
    DATUM_TRY(rename_here(bench, work, aside, target, true));
  }
  return removed;
}

bool is_folder(const std::optional<os::FileStat>& stat) {
  return stat && stat->type == os::FileType::directory;
}

}  // namespace

Status put_in_place(Bench& bench, Work& work) {
  Status placed;
  if (is_folder(work.before) || (work.before && work.temp_is_folder))
    placed = exchange(bench, work);
  else if (work.temp_is_folder)
    placed = rename_folder(bench, work);
  else
    placed = rename_here(bench, work, work.temp, work.where.name, !work.before);
  if (!placed && placed.error().code() == ErrorCode::busy)
    return fail(std::move(placed).error().context("target is a mount point or in use"));
  if (!placed) return placed;
  work.temp.clear();
  work.live = true;
  work.folder_changed = true;
  return {};
}

Status remove_observed(Bench& bench, Work& work) {
  const auto& folder = work.where.folder->handle;
  auto removed = work.action->found == core::Found::directory
                     ? bench.files().remove_directory(folder, work.where.name)
                     : bench.files().remove_file(folder, work.where.name);
  if (!removed) return removed;
  work.live = true;
  work.folder_changed = true;
  return {};
}

}  // namespace datum::resource
