// Making a Directory: finished under a temp name, then renamed, so that it is never seen with
// another owner or mode. An existing one is changed through its descriptor.
#include "../metadata.hpp"
#include "directory_provider.hpp"

namespace datum::resource {

namespace {

constexpr std::uint32_t kDefaultFolderMode = 0755;

bool is_there(const Work& work) {
  return work.before && work.before->type == os::FileType::directory;
}

// Between making a folder and opening it, whoever may rename in its parent could have put another
// one in its place, which would then be given away. A new one is empty, and an empty one is worth
// nothing.
Status check_new(Bench& bench, const Work& work) {
  if (work.where.folder->untrusted.empty()) return {};
  DATUM_ASSIGN(const auto inside, bench.files().list(work.handle));
  if (inside.empty()) return {};
  return fail(ErrorCode::conflict, "another folder took the new one's place; not touched");
}

Status change_folder_metadata(Bench& bench, Work& work) {
  auto& files = bench.files();
  DATUM_ASSIGN(auto folder,
               files.open_directory(work.where.folder->handle, work.where.name, os::Follow::no));
  DATUM_ASSIGN(const auto now, files.stat(folder));
  if (!is_same_object(now, core::Found::directory, work.action->identity))
    return changed_meanwhile(work);
  DATUM_ASSIGN(const auto wanted, wanted_metadata(bench.sight, work, true, kDefaultFolderMode));
  work.handle = std::move(folder);
  work.live = true;
  work.object_changed = true;
  DATUM_TRY(apply_metadata(files, work.handle, now, wanted));
  return restore_attributes(bench, work, work.handle, wanted);
}

}  // namespace

Status DirectoryProvider::stage(Bench& bench, Work& work) const {
  if (is_there(work)) return {};
  auto& files = bench.files();
  const auto& parent = work.where.folder->handle;
  DATUM_ASSIGN(const auto wanted, wanted_metadata(bench.sight, work, false, kDefaultFolderMode));
  const auto name = bench.temp_name_of(work);
  DATUM_TRY(remove_beside(files, work.where, name));
  DATUM_TRY(files.make_directory(parent, name, 0700));
  work.temp = name;
  work.temp_is_folder = true;
  DATUM_ASSIGN(work.handle, files.open_directory(parent, name, os::Follow::no));
  DATUM_TRY(check_new(bench, work));
  DATUM_ASSIGN(const auto now, files.stat(work.handle));
  DATUM_TRY(apply_metadata(files, work.handle, now, wanted));
  DATUM_TRY(restore_attributes(bench, work, work.handle, wanted));
  work.staged = true;
  return {};
}

Status DirectoryProvider::commit(Bench& bench, Work& work) const {
  return is_there(work) ? change_folder_metadata(bench, work) : put_in_place(bench, work);
}

Status DirectoryProvider::remove(Bench& bench, Work& work) const {
  return remove_observed(bench, work);
}

}  // namespace datum::resource
