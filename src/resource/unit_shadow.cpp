// A shadow of one unit.
#include "unit_shadow.hpp"

#include <array>

#include "transfer.hpp"

namespace datum::resource {

namespace {

// In systemd's own order.
constexpr std::array<std::string_view, 5> kUnitFolders{
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system", "/lib/systemd/system"};
constexpr std::string_view kDropInFolder = ".d";

// "x.service" of "/etc/systemd/system/x.service.d"; empty for a unit's own folder.
std::string find_unit_of_drop_in(const Work& work) {
  const auto& folder = work.where.folder->real_path;
  if (!work.where.name.ends_with(".conf") || !folder.ends_with(kDropInFolder)) return {};
  const auto name = folder.substr(folder.rfind('/') + 1);
  return name.substr(0, name.size() - kDropInFolder.size());
}

Status copy_into(Bench& bench, const os::Handle& folder, const std::string& name,
                 const os::Handle& from) {
  auto& files = bench.files();
  DATUM_ASSIGN(const auto copy, files.create_file(folder, name));
  DATUM_ASSIGN(const auto stat, files.stat(from));
  DATUM_TRY(files.seek(from, 0));
  return copy_file(bench.sight, from, stat, copy);
}

Result<os::OpenedFile> open_unit(Bench& bench, const std::string& unit) {
  for (const auto folder : kUnitFolders) {
    const auto where = bench.sight.walker().locate(std::string(folder) + "/" + unit);
    if (!where) continue;
    auto opened =
        bench.files().open_file_with_stat(where->folder->handle, where->name, os::Access::read);
    if (opened) return opened;
  }
  return fail(ErrorCode::not_found,
              "the unit " + unit + " that this drop-in belongs to is not there");
}

Status fill(Bench& bench, const Work& work, const os::Handle& folder, const std::string& unit) {
  if (unit.empty()) return copy_into(bench, folder, work.where.name, work.handle);
  auto& files = bench.files();
  DATUM_ASSIGN(const auto whole, open_unit(bench, unit));
  DATUM_TRY(copy_into(bench, folder, unit, whole.handle));
  const auto inside = unit + std::string(kDropInFolder);
  DATUM_TRY(files.make_directory(folder, inside, 0700));
  DATUM_ASSIGN(const auto drop_ins, files.open_directory(folder, inside, os::Follow::no));
  return copy_into(bench, drop_ins, work.where.name, work.handle);
}

Status remove_entries(os::Files& files, const os::Handle& folder, int depth) {
  DATUM_ASSIGN(const auto entries, files.list(folder));
  for (const auto& entry : entries) {
    if (entry.type != os::FileType::directory) {
      DATUM_TRY(files.remove_file(folder, entry.name));
      continue;
    }
    if (depth > 0) {
      DATUM_ASSIGN(const auto inside, files.open_directory(folder, entry.name, os::Follow::no));
      DATUM_TRY(remove_entries(files, inside, depth - 1));
    }
    DATUM_TRY(files.remove_directory(folder, entry.name));
  }
  return {};
}

}  // namespace

Status remove_shadow(os::Files& files, const os::Handle& parent, const std::string& name) {
  auto folder = files.open_directory(parent, name, os::Follow::no);
  if (!folder && folder.error().code() == ErrorCode::not_found) return {};
  if (!folder) return fail(std::move(folder).error());
  DATUM_TRY(remove_entries(files, *folder, 1));
  return files.remove_directory(parent, name);
}

Status with_unit_shadow(
    Bench& bench, Work& work,
    const std::function<Status(const std::string& unit, const std::string& environment)>& check) {
  auto& files = bench.files();
  const auto& parent = work.where.folder->handle;
  const auto name = bench.temp_name_of(work).append(kValidateSuffix);
  const auto path = work.where.folder->real_path + "/" + name;
  DATUM_TRY(remove_shadow(files, parent, name));
  DATUM_TRY(files.make_directory(parent, name, 0700));
  work.folder_changed = true;
  const auto unit = find_unit_of_drop_in(work);
  const auto folder = files.open_directory(parent, name, os::Follow::no);
  auto status = folder ? fill(bench, work, *folder, unit) : Status(fail(folder.error()));
  // The empty last entry stands for the folders that systemd knows by itself.
  if (status)
    status = check(path + "/" + (unit.empty() ? work.where.name : unit),
                   "SYSTEMD_UNIT_PATH=" + path + ":");
  auto removed = remove_shadow(files, parent, name);
  return status ? removed : status;
}

}  // namespace datum::resource
