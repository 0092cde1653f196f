// Making a Repository: key and pin first, so that a list which apt reads is never without them;
// then the list like any file. Each file is staged beside its place, synced, renamed, and its
// folder synced. Removal takes the list last: as long as it is there, the rest is not forgotten.
#include "../path_facts.hpp"
#include "datum/model/reserved.hpp"
#include "repository_files.hpp"
#include "repository_provider.hpp"

namespace datum::resource {

namespace {

constexpr std::uint32_t kSourcesFolderMode = 0755;
constexpr std::uint32_t kSourcesMode = 0644;

Result<os::Location> locate_or_make(Sight& sight, std::string_view place) {
  auto where = sight.walker().locate(place);
  if (where || where.error().code() != ErrorCode::not_found) return where;
  DATUM_ASSIGN(const auto folder, sight.walker().locate(place.substr(0, place.rfind('/'))));
  auto made = sight.files().make_directory(folder.folder->handle, folder.name, kSourcesFolderMode);
  if (!made && made.error().code() != ErrorCode::already_exists)
    return fail(std::move(made).error());
  DATUM_TRY(sight.files().sync(folder.folder->handle));
  return sight.walker().locate(place);
}

Status write_temp(os::Files& files, const os::Location& where, const std::string& temp,
                  std::string_view text) {
  DATUM_ASSIGN(const auto file, files.create_file(where.folder->handle, temp));
  DATUM_TRY(files.write(file, as_bytes(text)));
  DATUM_TRY(files.set_mode(file, kSourcesMode));
  return files.sync(file);
}

// As it is to be and durable, or an error and nothing of it left.
Status put_beside(Bench& bench, const Work& work, const std::string& path, std::string_view text) {
  DATUM_ASSIGN(const auto where, locate_or_make(bench.sight, path));
  DATUM_TRY(check_strict(bench.sight, *where.folder));
  const auto there = read_repository_file(bench.sight, path);
  if (there && *there && (*there)->text == text && is_well_kept(bench.sight, (*there)->stat))
    return {};
  auto& files = bench.files();
  const auto& folder = where.folder->handle;
  const auto temp = bench.temp_name_of(work);
  DATUM_TRY(remove_beside(files, where, temp));
  auto written = write_temp(files, where, temp, text);
  if (written) written = files.rename(folder, temp, folder, where.name, false);
  if (!written) {
    static_cast<void>(remove_beside(files, where, temp).has_value());
    return fail(std::move(written).error().context(path));
  }
  return files.sync(folder);
}

Status take_away(Bench& bench, const std::string& path) {
  const auto where = bench.sight.walker().locate(path);
  if (!where && where.error().code() == ErrorCode::not_found) return {};
  if (!where) return fail(where.error());
  DATUM_TRY(check_strict(bench.sight, *where->folder));
  auto removed = bench.files().remove_file(where->folder->handle, where->name);
  if (!removed && removed.error().code() == ErrorCode::not_found) return {};
  if (!removed) return fail(std::move(removed).error().context(path));
  return bench.files().sync(where->folder->handle);
}

Result<std::optional<RepositoryFile>> read_list(Bench& bench, const Work& work) {
  if (!work.before || work.before->type != os::FileType::regular)
    return std::optional<RepositoryFile>();
  return read_repository_file(bench.sight, place_of(work.action->target).str());
}

}  // namespace

Result<os::Location> RepositoryProvider::locate(Sight& sight, std::string_view place,
                                                const Work& work) const {
  if (work.removes()) return sight.walker().locate(place);
  return locate_or_make(sight, place);
}

Status RepositoryProvider::stage(Bench& bench, Work& work) const {
  DATUM_ASSIGN(const auto list, read_list(bench, work));
  DATUM_ASSIGN(const auto wanted, wanted_files(bench.sight, *work.resource, list));
  if (list && list->text == wanted.list && is_well_kept(bench.sight, list->stat)) return {};
  DATUM_ASSIGN(work.handle, create_temp(bench, work));
  work.temp = bench.temp_name_of(work);
  DATUM_TRY(bench.files().write(work.handle, as_bytes(wanted.list)));
  DATUM_TRY(bench.files().set_mode(work.handle, kSourcesMode));
  work.staged = true;
  return {};
}

Status RepositoryProvider::commit(Bench& bench, Work& work) const {
  DATUM_ASSIGN(const auto list, read_list(bench, work));
  DATUM_ASSIGN(const auto wanted, wanted_files(bench.sight, *work.resource, list));
  const auto files = model::repository_files(work.action->target.name);
  work.atomic = false;  // several files
  if (!wanted.key_file.empty()) DATUM_TRY(put_beside(bench, work, wanted.key_file, wanted.key));
  if (wanted.pin) DATUM_TRY(put_beside(bench, work, files.apt_pin, *wanted.pin));
  bench.crash_point("beside", work);
  if (!work.temp.empty()) DATUM_TRY(put_in_place(bench, work));
  for (const auto& key : {files.apt_key_asc, files.apt_key_gpg})
    if (key != wanted.key_file) DATUM_TRY(take_away(bench, key));
  work.live = true;
  return {};
}

Status RepositoryProvider::remove(Bench& bench, Work& work) const {
  for (const auto& path : places_beside(work.action->target)) DATUM_TRY(take_away(bench, path));
  return remove_observed(bench, work);
}

}  // namespace datum::resource
