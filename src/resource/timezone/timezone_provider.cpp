#include "timezone_provider.hpp"

#include "../path_facts.hpp"
#include "../show.hpp"
#include "../sysctl/kernel.hpp"
#include "../sysctl/sysctl_provider.hpp"
#include "../whole_text.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/model/spelled_target.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr std::string_view kZones = "/usr/share/zoneinfo/";
constexpr std::string_view kNameFile = "/etc/timezone";
// Debian and its kin keep the name in a file of its own too; others have given it up.
constexpr std::string_view kDebian = "/etc/debian_version";

// What lies there; nothing if nothing does, or a folder on the way is missing.
Result<std::optional<os::FileStat>> find_at(Sight& sight, std::string_view path) {
  const auto where = sight.walker().locate(path);
  if (!where && (where.error().code() == ErrorCode::not_found ||
                 where.error().code() == ErrorCode::not_directory))
    return std::optional<os::FileStat>();
  if (!where) return fail(where.error());
  return sight.find(*where);
}

// A zone is a file of compiled rules, or a link to the one whose other name it is.
Result<bool> has_zone(Sight& sight, std::string_view zone) {
  DATUM_ASSIGN(const auto stat, find_at(sight, std::string(kZones).append(zone)));
  return stat && (stat->type == os::FileType::regular || stat->type == os::FileType::symlink);
}

struct NameFile {
  bool belongs = false;  // this system has one, or is to have one
  std::string words = "absent";
  bool as_declared = false;
};

Result<NameFile> look_at_name_file(Sight& sight, std::string_view zone) {
  NameFile file;
  DATUM_ASSIGN(const auto stat, find_at(sight, kNameFile));
  DATUM_ASSIGN(const auto debian, find_at(sight, kDebian));
  file.belongs = stat || debian;
  if (!stat) return file;
  if (stat->type != os::FileType::regular) {
    file.words = "a " + std::string(to_string(stat->type));
    return file;
  }
  DATUM_ASSIGN(const auto where, sight.walker().locate(kNameFile));
  DATUM_ASSIGN(const auto whole, read_whole_text(sight, where));
  const auto said = collapsed(whole.text);
  file.words = said.empty() ? "no name" : shown(said);
  file.as_declared = said == zone && is_private(sight, whole.stat);
  if (said == zone && !file.as_declared)
    file.words += ", in a file that others than root can write";
  return file;
}

std::string words_of(std::string_view target) {
  const auto zone = zone_of_link(target);
  return zone.empty() ? "a link to " + shown(target) : shown(zone);
}

// What the link says; false if the question is settled: it cannot be looked at.
bool look_at_link(Sight& sight, const model::Resource& resource, core::Observation& seen,
                  std::string& words) {
  words = "absent";
  const auto place = look_at_own_place(sight, resource.target.name, seen);
  if (!place) return false;
  if (!place->stat) return true;
  const auto& where = *place->where;
  if (place->stat->type != os::FileType::symlink) {
    words = "a " + std::string(to_string(place->stat->type));
    record_owned_content(sight, where, *place->stat, seen);
    return true;
  }
  const auto text = sight.files().read_symlink(where.folder->handle, where.name);
  if (!text) {
    set_unknown(seen, "cannot be read", text.error());
    return false;
  }
  seen.content = crypto::sha256(as_bytes(*text));
  seen.content_size = text->size();
  words = words_of(*text);
  return true;
}

Status write_name_file(Bench& bench, Work& work) {
  const auto zone = work.resource->text(Field::zone);
  DATUM_ASSIGN(const auto file, look_at_name_file(bench.sight, zone));
  if (!file.belongs || file.as_declared) return {};
  DATUM_ASSIGN(const auto where, locate_making_folder(bench.sight, kNameFile));
  constexpr std::uint32_t kZoneFileMode = 0644;
  auto& files = bench.files();
  const auto& folder = where.folder->handle;
  const auto temp = bench.temp_name_of(work);
  DATUM_TRY(remove_beside(files, where, temp));
  DATUM_ASSIGN(const auto handle, files.create_file(folder, temp));
  auto written = files.write(handle, as_bytes(std::string(zone).append(1, '\n')));
  if (written) written = files.set_mode(handle, kZoneFileMode);
  if (written) written = files.sync(handle);
  if (written) written = files.rename(folder, temp, folder, where.name, false);
  if (!written) {
    static_cast<void>(remove_beside(files, where, temp).has_value());
    return fail(std::move(written).error().context(kNameFile));
  }
  return files.sync(folder);
}

}  // namespace

std::string_view zone_of_link(std::string_view target) {
  constexpr std::string_view kUp = "..";
  if (target.starts_with(kUp)) target.remove_prefix(kUp.size());
  return target.starts_with(kZones) ? target.substr(kZones.size()) : std::string_view();
}

void TimezoneProvider::observe(Sight& sight, const model::Resource& resource,
                               core::Observation& seen) const {
  std::string words;
  if (!look_at_link(sight, resource, seen, words)) return;
  const auto wanted = resource.text(Field::zone);
  const auto known = has_zone(sight, wanted);
  if (!known) return set_unknown(seen, "its zone cannot be looked at", known.error());
  if (words == wanted && !*known) words += ", which this system does not have";
  const auto file = look_at_name_file(sight, wanted);
  if (!file) return set_unknown(seen, "/etc/timezone cannot be read", file.error());
  if (words != wanted) add_drift(seen, "zone", shown(wanted), std::move(words));
  if (file->belongs && !file->as_declared) add_drift(seen, "persisted", shown(wanted), file->words);
}

// A package may bring the zones earlier in the same pass.
Status TimezoneProvider::stage(Bench& bench, Work& work) const {
  const auto zone = work.resource->text(Field::zone);
  DATUM_ASSIGN(const bool known, has_zone(bench.sight, zone));
  if (!known)
    return fail(ErrorCode::not_found, std::string(kZones).append(zone) +
                                          " does not exist; install the package that has it "
                                          "(tzdata), or correct the name. Nothing was changed");
  if (!work.has_change("zone")) return {};
  const auto name = bench.temp_name_of(work);
  DATUM_TRY(remove_beside(bench.files(), work.where, name));
  DATUM_TRY(bench.files().make_symlink(work.where.folder->handle, name,
                                       std::string(kZones).append(zone)));
  work.temp = name;
  return {};
}

Status TimezoneProvider::commit(Bench& bench, Work& work) const {
  if (!work.temp.empty()) DATUM_TRY(put_in_place(bench, work));
  bench.crash_point("beside", work);
  DATUM_TRY(write_name_file(bench, work));
  work.live = true;
  return {};
}

Status TimezoneProvider::remove(Bench& /*bench*/, Work& /*work*/) const {
  return fail(ErrorCode::refused, "a machine keeps its time zone");
}

}  // namespace datum::resource
