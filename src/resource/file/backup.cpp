// `onConflict: backup`: the unmanaged file of the first contact keeps a name of its own.
#include "../metadata.hpp"
#include "../transfer.hpp"
#include "route.hpp"

namespace datum::resource {

namespace {

constexpr std::string_view kSuffix = ".datum-orig";
constexpr std::size_t kMaxName = 255;  // NAME_MAX of every file system in use
constexpr int kMaxTries = 100;         // nobody keeps more backups of one file in sight

std::string backup_name(const std::string& target, int number) {
  auto suffix = std::string(kSuffix);
  if (number > 0) suffix += "." + std::to_string(number);
  return target.substr(0, kMaxName - suffix.size()) + suffix;
}

bool wants_backup(const Bench& bench, const Work& work) {
  return work.before && work.resource->text(model::Field::on_conflict) == "backup" &&
         writes_content(work) &&
         bench.sight.declared().find_owned(work.resource->target) == nullptr &&
         (work.before->type == os::FileType::regular || work.before->type == os::FileType::symlink);
}

Status copy_old(Bench& bench, Work& work) {
  auto& files = bench.files();
  DATUM_ASSIGN(const auto old, files.open_file_with_stat(work.where.folder->handle, work.where.name,
                                                         os::Access::read));
  DATUM_ASSIGN(const auto copy, create_temp(bench, work, kBackupSuffix));
  work.backup = bench.temp_name_of(work).append(kBackupSuffix);
  DATUM_TRY(copy_file(bench.sight, old.handle, old.stat, copy));
  DATUM_ASSIGN(const auto now, files.stat(copy));
  // What lends an identity does so under its own name only: a replaced program must not stay
  // runnable as root beside the new one.
  constexpr std::uint32_t kSetIdBits = 06000;
  const Metadata same{old.stat.uid, old.stat.gid, old.stat.mode & ~kSetIdBits, true, false, true};
  DATUM_TRY(apply_metadata(files, copy, now, same));
  DATUM_TRY(carry_attributes(files, old.handle, copy, false, same));
  return files.sync(copy);
}

}  // namespace

Status stage_backup(Bench& bench, Work& work) {
  if (!wants_backup(bench, work)) return {};
  if (work.before->type == os::FileType::regular) return copy_old(bench, work);
  auto& files = bench.files();
  const auto& folder = work.where.folder->handle;
  DATUM_ASSIGN(const auto text, files.read_symlink(folder, work.where.name));
  const auto name = bench.temp_name_of(work).append(kBackupSuffix);
  DATUM_TRY(remove_beside(files, work.where, name));
  DATUM_TRY(files.make_symlink(folder, name, text));
  work.backup = name;
  return {};
}

Status name_backup(Bench& bench, Work& work) {
  if (work.backup.empty()) return {};
  const auto& folder = work.where.folder->handle;
  for (int number = 0; number < kMaxTries; ++number) {
    auto renamed = bench.files().rename(folder, work.backup, folder,
                                        backup_name(work.where.name, number), true);
    if (!renamed && renamed.error().code() == ErrorCode::already_exists) continue;
    if (!renamed) return fail(std::move(renamed).error().context("backup"));
    work.backup.clear();
    work.folder_changed = true;
    return {};
  }
  return fail(ErrorCode::already_exists, "all names for a backup are taken. Not touched");
}

}  // namespace datum::resource
