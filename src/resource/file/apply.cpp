// Making a File as declared: staged beside its target and renamed, or written in place, or only
// given another owner and mode.
#include "../metadata.hpp"
#include "../transfer.hpp"
#include "../validate.hpp"
#include "file_facts.hpp"
#include "file_provider.hpp"
#include "route.hpp"

namespace datum::resource {

namespace {

// A new file without a declared mode, as an editor of root's would leave it.
constexpr std::uint32_t kDefaultFileMode = 0644;

bool is_sensitive(const Work& work) {
  return work.resource->sensitive() || (inherits(work) && denies_others(work.before->mode));
}

bool has_validator(const Work& work) {
  return work.resource->text(model::Field::validate, "none") != "none";
}

Result<os::OpenedFile> open_target(Bench& bench, Work& work, os::Access access) {
  DATUM_ASSIGN(auto opened, bench.files().open_file_with_stat(work.where.folder->handle,
                                                              work.where.name, access));
  if (identity_of(opened.stat) != work.action->identity) return changed_meanwhile(work);
  return opened;
}

Status write_declared(Bench& bench, const Work& work, const os::Handle& file) {
  DATUM_ASSIGN(const auto content, open_content(bench.sight, *work.resource->content()));
  std::uint64_t size = 0;
  return write_content(bench.sight, *content.source, content.digest, file, Into::empty_file, size);
}

// A file of the same type was there: what nobody declared is taken over from it.
Status take_over(Bench& bench, const Work& work, const os::OpenedFile& old,
                 const Metadata& wanted) {
  const bool same_owner = (wanted.uid == old.stat.uid || wanted.uid == UINT32_MAX) &&
                          (wanted.gid == old.stat.gid || wanted.gid == UINT32_MAX);
  const bool same_content = !writes_content(work) && same_owner;
  return carry_attributes(bench.files(), old.handle, work.handle, same_content, wanted);
}

Status finish_staged(Bench& bench, Work& work, const os::OpenedFile& old) {
  DATUM_ASSIGN(const auto wanted,
               wanted_metadata(bench.sight, work, inherits(work), kDefaultFileMode));
  DATUM_ASSIGN(const auto now, bench.files().stat(work.handle));
  DATUM_TRY(apply_metadata(bench.files(), work.handle, now, wanted));
  if (old.handle) DATUM_TRY(take_over(bench, work, old, wanted));
  DATUM_TRY(restore_attributes(bench, work, work.handle, wanted));
  return validate_staged(bench, work, is_sensitive(work));
}

Status stage_file(Bench& bench, Work& work) {
  if (work.resource->content() == nullptr && !inherits(work))
    return fail(ErrorCode::not_found, "the file is missing and has no content. Nothing was made");
  DATUM_ASSIGN(work.handle, create_temp(bench, work));
  work.temp = bench.temp_name_of(work);
  os::OpenedFile old;
  if (inherits(work)) {
    DATUM_ASSIGN(old, open_target(bench, work, os::Access::read));
    DATUM_TRY(bench.files().carry_flags(old.handle, work.handle));
  }
  if (writes_content(work)) {
    DATUM_TRY(write_declared(bench, work, work.handle));
  } else {
    DATUM_TRY(copy_file(bench.sight, old.handle, old.stat, work.handle));
  }
  DATUM_TRY(finish_staged(bench, work, old));
  DATUM_TRY(stage_backup(bench, work));
  work.staged = true;
  return {};
}

// The bytes are checked before the first one is overwritten.
Status stage_in_place(Bench& bench, Work& work) {
  if (has_validator(work)) {
    DATUM_TRY(stage_file(bench, work));
    discard(bench, work);
    return {};
  }
  DATUM_ASSIGN(const auto content, open_content(bench.sight, *work.resource->content()));
  DATUM_TRY(check_content(bench.sight, *content.source, content.digest));
  return stage_backup(bench, work);
}

Status write_in_place(Bench& bench, Work& work) {
  DATUM_ASSIGN(auto opened, open_target(bench, work, os::Access::write));
  DATUM_ASSIGN(const auto wanted, wanted_metadata(bench.sight, work, true, kDefaultFileMode));
  DATUM_ASSIGN(const auto content, open_content(bench.sight, *work.resource->content()));
  DATUM_TRY(name_backup(bench, work));
  work.handle = std::move(opened.handle);
  work.atomic = false;
  work.live = true;
  work.object_changed = true;
  // Nobody who may not read the new content reads it while it is written.
  const auto narrowed = opened.stat.mode & wanted.mode;
  if (narrowed != opened.stat.mode) DATUM_TRY(bench.files().set_mode(work.handle, narrowed));
  std::uint64_t size = 0;
  auto written = write_content(bench.sight, *content.source, content.digest, work.handle,
                               Into::old_content, size);
  if (!written)
    return fail(std::move(written).error().context("written in place, and now incomplete"));
  DATUM_TRY(bench.files().truncate(work.handle, size));
  DATUM_ASSIGN(const auto now, bench.files().stat(work.handle));
  DATUM_TRY(apply_metadata(bench.files(), work.handle, now, wanted));
  return restore_attributes(bench, work, work.handle, wanted);
}

Status change_file_metadata(Bench& bench, Work& work) {
  DATUM_ASSIGN(auto opened, open_target(bench, work, os::Access::read));
  DATUM_ASSIGN(const auto wanted, wanted_metadata(bench.sight, work, true, kDefaultFileMode));
  work.handle = std::move(opened.handle);
  work.live = true;
  work.object_changed = true;
  DATUM_TRY(apply_metadata(bench.files(), work.handle, opened.stat, wanted));
  return restore_attributes(bench, work, work.handle, wanted);
}

}  // namespace

Status FileProvider::stage(Bench& bench, Work& work) const {
  DATUM_ASSIGN(const auto route, choose_route(work));
  switch (route) {
    case Route::rename:
      return stage_file(bench, work);
    case Route::in_place:
      return stage_in_place(bench, work);
    case Route::metadata:
      return {};
  }
  return {};
}

Status FileProvider::commit(Bench& bench, Work& work) const {
  DATUM_ASSIGN(const auto route, choose_route(work));
  switch (route) {
    case Route::rename:
      DATUM_TRY(name_backup(bench, work));
      return put_in_place(bench, work);
    case Route::in_place:
      return write_in_place(bench, work);
    case Route::metadata:
      return change_file_metadata(bench, work);
  }
  return {};
}

Status FileProvider::remove(Bench& bench, Work& work) const {
  return remove_observed(bench, work);
}

}  // namespace datum::resource
