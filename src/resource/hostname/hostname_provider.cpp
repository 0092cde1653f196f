#include "hostname_provider.hpp"

#include "../path_facts.hpp"
#include "../show.hpp"
#include "../sysctl/kernel.hpp"
#include "../sysctl/sysctl_provider.hpp"
#include "../whole_text.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr std::string_view kKey = "kernel.hostname";

// What the file says, in the words of a report.
struct PersistedName {
  std::string words = "absent";
  bool as_declared = false;
};

Status look_at_file(Sight& sight, const os::Location& where, std::string_view wanted,
                    core::Observation& seen, PersistedName& persisted) {
  auto whole = read_whole_text(sight, where);
  if (!whole) return fail(std::move(whole).error());
  seen.identity = identity_of(whole->stat);
  seen.content = crypto::sha256(as_bytes(whole->text));
  seen.content_size = whole->text.size();
  const auto name = parse_hostname(whole->text);
  persisted.words = name.empty() ? "no name" : shown(name);
  persisted.as_declared = name == wanted && is_private(sight, whole->stat);
  if (name == wanted && !persisted.as_declared)
    persisted.words += ", in a file that others than root can write";
  return {};
}

// False if the question is settled: it cannot be looked at.
bool look_at_place(Sight& sight, const model::Resource& resource, core::Observation& seen,
                   PersistedName& persisted) {
  const auto place = look_at_own_place(sight, resource.target.name, seen);
  if (!place) return false;
  if (!place->stat) return true;
  if (place->stat->type != os::FileType::regular) {
    persisted.words = "a " + std::string(to_string(place->stat->type));
    return true;
  }
  const auto looked =
      look_at_file(sight, *place->where, resource.text(Field::hostname), seen, persisted);
  if (!looked) set_unknown(seen, "cannot be read", looked.error());
  return looked.has_value();
}

Status write_live(Bench& bench, Work& work) {
  if (!is_live(bench.sight.machine()) || !work.has_change("hostname")) return {};
  bench.crash_point("live", work);
  auto written = write_kernel(bench.sight, kKey, work.resource->text(Field::hostname));
  if (!written)
    return fail(std::move(written).error().context("the running name could not be changed"));
  work.live = true;
  return {};
}

}  // namespace

std::string parse_hostname(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = collapsed(text.substr(0, end));
    if (!line.empty() && line.front() != '#') return line;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

void HostnameProvider::observe(Sight& sight, const model::Resource& resource,
                               core::Observation& seen) const {
  PersistedName persisted;
  if (!look_at_place(sight, resource, seen, persisted)) return;
  const auto wanted = resource.text(Field::hostname);
  if (is_live(sight.machine())) {
    const auto live = read_kernel(sight, kKey);
    if (!live) return set_unknown(seen, "its running name cannot be read", live.error());
    if (*live != std::string(wanted))
      add_drift(seen, "hostname", shown(wanted), *live ? shown(**live) : "absent");
  } else {
    seen.warning = "only /etc/hostname is managed; the running name is not under --root";
  }
  if (!persisted.as_declared)
    add_drift(seen, "persisted", shown(wanted), std::move(persisted.words));
}

Status HostnameProvider::stage(Bench& bench, Work& work) const {
  if (!work.has_change("persisted")) return {};
  Metadata wanted = metadata_before(work);
  constexpr std::uint32_t kFileMode = 0644;
  wanted.uid = bench.sight.machine().trusted_uid;
  wanted.mode = kFileMode;
  return stage_whole_text(
      bench, work, std::string(work.resource->text(Field::hostname)).append(1, '\n'), wanted);
}

// A kernel that refuses the name keeps the old file too, so that no boot brings another one.
Status HostnameProvider::commit(Bench& bench, Work& work) const {
  DATUM_TRY(write_live(bench, work));
  return work.temp.empty() ? Status{} : put_in_place(bench, work);
}

Status HostnameProvider::remove(Bench& /*bench*/, Work& /*work*/) const {
  return fail(ErrorCode::refused, "a machine keeps its name");
}

}  // namespace datum::resource
