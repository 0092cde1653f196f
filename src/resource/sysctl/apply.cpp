// Making a Sysctl: the drop-in is staged and renamed like any file, then the kernel is given the
// value. What the kernel had before stands in the drop-in itself, so that a removal can put it back
// whatever became of the store.
#include "../path_facts.hpp"
#include "kernel.hpp"
#include "sysctl_provider.hpp"

namespace datum::resource {

namespace {

constexpr std::uint32_t kDropInFolderMode = 0755;
constexpr std::uint32_t kDropInMode = 0644;
// A value that is put back is written again in one line; tables are not worth a line of a comment.
constexpr std::size_t kMaxBefore = 256;

DropIn read_present(Bench& bench, const Work& work) {
  std::string text;
  const auto file =
      bench.files().open_file(work.where.folder->handle, work.where.name, os::Access::read);
  if (!file) return {};
  const auto room = bench.sight.buffer();
  if (const auto count = bench.files().read(*file, room)) text = as_text(room.first(*count));
  return parse_drop_in(text, work.action->target.name);
}

// Another file may be all that is wrong.
bool is_as_declared(Bench& bench, const Work& work) {
  const auto& before = work.before;
  return before && before->type == os::FileType::regular && is_private(bench.sight, *before) &&
         says(read_present(bench, work), *work.resource);
}

// What the kernel had before Datum: as the old drop-in says, or as it is now. Nothing where it
// cannot be told: the drop-in is gone and the kernel still has our value.
std::optional<std::string> find_before(Bench& bench, const Work& work) {
  if (auto old = read_present(bench, work); old.before) return old.before;
  if (!is_live(bench.sight.machine())) return std::nullopt;
  const auto live = read_kernel(bench.sight, work.action->target.name);
  if (!live || !*live || (*live)->empty() || (*live)->size() > kMaxBefore) return std::nullopt;
  const bool owned = bench.sight.declared().find_owned(work.action->target) != nullptr;
  if (owned && !work.has_change("value")) return std::nullopt;
  return **live;
}

// Whether the kernel has the key is not this action's fault: the drop-in waits for its module.
Status write_live_value(Bench& bench, Work& work) {
  if (!is_live(bench.sight.machine()) || !work.has_change("value")) return {};
  const auto& key = work.action->target.name;
  bench.crash_point("live", work);
  auto written = write_kernel(bench.sight, key, work.resource->text(model::Field::value));
  if (written) {
    work.live = true;
    return {};
  }
  auto error = std::move(written).error();
  switch (error.code()) {
    case ErrorCode::not_found:
    case ErrorCode::not_directory:
      return {};
    case ErrorCode::permission_denied:
    case ErrorCode::read_only:
      return fail(std::move(error).context("the kernel's value is read-only"));
    default:
      return fail(std::move(error).context("the kernel did not take the value"));
  }
}

// What says at every boot what the kernel does not take is of no use, and nobody would own it.
Status write_live_or_unmake(Bench& bench, Work& work) {
  auto written = write_live_value(bench, work);
  if (written) return written;
  auto removed = bench.files().remove_file(work.where.folder->handle, work.where.name);
  if (!removed)
    return fail(
        std::move(written).error().context("its drop-in stays, " + removed.error().message()));
  return written;
}

// After the drop-in is gone, and only where the kernel still has our value.
Status put_back(Bench& bench, const Work& work, const DropIn& old) {
  if (!is_live(bench.sight.machine()) || !old.before || !old.value) return {};
  const auto& key = work.action->target.name;
  DATUM_ASSIGN(const auto live, read_kernel(bench.sight, key));
  if (!live || *live != collapsed(*old.value) || *live == *old.before) return {};
  bench.crash_point("live", work);
  auto written = write_kernel(bench.sight, key, *old.before);
  if (!written)
    return fail(std::move(written).error().context(
        "the drop-in is removed, but the live value could not be put back to " + *old.before));
  DATUM_ASSIGN(const auto now, read_kernel(bench.sight, key));
  if (!now || *now != collapsed(*old.before))
    return fail(ErrorCode::conflict,
                "the drop-in is removed, but the kernel did not take " + *old.before + " back");
  return {};
}

}  // namespace

Result<os::Location> SysctlProvider::locate(Sight& sight, std::string_view place,
                                            const Work& work) const {
  auto where = sight.walker().locate(place);
  if (where || where.error().code() != ErrorCode::not_found || work.removes()) return where;
  DATUM_ASSIGN(const auto folder, sight.walker().locate(place.substr(0, place.rfind('/'))));
  auto made = sight.files().make_directory(folder.folder->handle, folder.name, kDropInFolderMode);
  if (!made && made.error().code() != ErrorCode::already_exists)
    return fail(std::move(made).error());
  DATUM_TRY(sight.files().sync(folder.folder->handle));
  return sight.walker().locate(place);
}

Status SysctlProvider::stage(Bench& bench, Work& work) const {
  if (!work.has_change("persisted") || is_as_declared(bench, work)) return {};
  const auto text = write_drop_in(*work.resource, find_before(bench, work));
  DATUM_ASSIGN(work.handle, create_temp(bench, work));
  work.temp = bench.temp_name_of(work);
  DATUM_TRY(bench.files().write(work.handle, as_bytes(text)));
  DATUM_TRY(bench.files().set_mode(work.handle, kDropInMode));
  work.staged = true;
  return {};
}

// The value before Datum must be on disk before the kernel loses it. Where an older drop-in has it,
// the kernel goes first: a value that it refuses does not get into the file.
Status SysctlProvider::commit(Bench& bench, Work& work) const {
  if (work.creates()) {
    DATUM_TRY(put_in_place(bench, work));
    return write_live_or_unmake(bench, work);
  }
  DATUM_TRY(write_live_value(bench, work));
  return work.temp.empty() ? Status{} : put_in_place(bench, work);
}

Status SysctlProvider::remove(Bench& bench, Work& work) const {
  const auto old = read_present(bench, work);
  DATUM_TRY(remove_observed(bench, work));
  return put_back(bench, work, old);
}

}  // namespace datum::resource
