#include "timer_provider.hpp"

#include <algorithm>

#include "../path_facts.hpp"
#include "../service/unit_facts.hpp"
#include "../setting/setting_lines.hpp"
#include "../show.hpp"
#include "../sysctl/sysctl_provider.hpp"
#include "../validate.hpp"
#include "../whole_text.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::resource {

namespace {

using model::Field;
using Lines = std::vector<std::string>;

constexpr std::uint32_t kTimerFileMode = 0644;

const Lines& times_of(const model::Resource& timer) {
  return std::get<Lines>(*timer.find(Field::on_calendar));
}

// systemd.timer(5): where no unit is named, the service of the timer's own name.
std::string unit_of(const model::Resource& timer) {
  const auto unit = timer.text(Field::unit);
  if (!unit.empty()) return model::normalise_unit(unit);
  const std::string_view name = timer.target.name;
  return std::string(name.substr(0, name.rfind('.'))).append(".service");
}

// All values that the file gives in its section Timer, in order.
Lines values_of(std::string_view text, const char* key) {
  const auto place = find_setting(text, {{}, model::SettingFormat::ini, "Timer", key});
  Lines values;
  for (const auto& line : place.lines)
    values.emplace_back(text.substr(line.value_begin, line.value_size));
  return values;
}

std::string joined_lines(const Lines& values) {
  std::string text;
  for (const auto& value : values) text.append(text.empty() ? "" : "; ").append(value);
  return text.empty() ? "none" : shown(text);
}

void compare_file(const model::Resource& timer, std::string_view text, core::Observation& seen) {
  const auto wanted = write_timer(timer);
  const auto before = seen.drifts.size();
  const auto compare = [&](std::string_view field, const char* key) {
    const auto desired = values_of(wanted, key);
    const auto observed = values_of(text, key);
    if (desired != observed) add_drift(seen, field, joined_lines(desired), joined_lines(observed));
  };
  compare("unit", "Unit");
  compare("onCalendar", "OnCalendar");
  compare("persistent", "Persistent");
  compare("randomizedDelay", "RandomizedDelaySec");
  if (seen.drifts.size() == before && text != wanted)
    add_drift(seen, "content", "as Datum writes it", "other lines");
}

void compare_unit(const os::Unit& unit, core::Observation& seen) {
  if (startup_of(unit.file_state) != Startup::on)
    add_drift(seen, "enabled", "true",
              unit.file_state.empty() ? "no file" : shown(unit.file_state));
  if (!is_running(unit)) add_drift(seen, "running", "true", describe_activity(unit));
  if (unit.needs_daemon_reload)
    add_drift(seen, "loaded", "as the file says", "as an older file said");
}

// Whether there is a file to compare; `seen` says why where the question is settled.
enum class Looked : std::uint8_t { settled, missing, file };

Looked look_at_place(Sight& sight, const model::Resource& resource, core::Observation& seen,
                     WholeText& whole) {
  const auto place = look_at_own_place(sight, place_of(resource.target), seen);
  if (!place) return Looked::settled;
  if (!place->stat) return Looked::missing;
  if (place->stat->type != os::FileType::regular) {
    set_unknown(seen, "a " + std::string(to_string(place->stat->type)) +
                          " is where its file is expected (a masked unit is a link); not touched");
    return Looked::settled;
  }
  auto read = read_whole_text(sight, *place->where);
  if (!read) {
    set_unknown(seen, "its file cannot be read", read.error());
    return Looked::settled;
  }
  whole = std::move(*read);
  seen.identity = identity_of(whole.stat);
  seen.content = crypto::sha256(as_bytes(whole.text));
  seen.content_size = whole.text.size();
  return Looked::file;
}

bool changes_file(const Work& work) {
  if (work.creates() || work.action->kind == core::ActionKind::replace) return true;
  constexpr std::string_view kFields[] = {"unit",    "onCalendar", "persistent", "randomizedDelay",
                                          "content", "mode"};
  return std::any_of(std::begin(kFields), std::end(kFields),
                     [&](std::string_view field) { return work.has_change(field); });
}

}  // namespace

std::string write_timer(const model::Resource& timer) {
  const auto unit = unit_of(timer);
  std::string text = "# Kept by Datum: changes made here are undone.\n[Unit]\nDescription=Starts ";
  text.append(unit).append(" at its times\n\n[Timer]\n");
  for (const auto& time : times_of(timer)) text.append("OnCalendar=").append(time).append("\n");
  if (timer.find(Field::persistent) != nullptr)
    text.append("Persistent=").append(timer.flag(Field::persistent) ? "true\n" : "false\n");
  if (const auto delay = timer.text(Field::randomized_delay); !delay.empty())
    text.append("RandomizedDelaySec=").append(delay).append("\n");
  text.append("Unit=").append(unit);
  return text.append("\n\n[Install]\nWantedBy=timers.target\n");
}

std::optional<std::vector<model::FieldValue>> read_timer(std::string_view name,
                                                         std::string_view text) {
  model::Resource timer;
  timer.reference.type = model::ResourceType::timer;
  timer.fields.push_back({Field::timer, std::string(name)});
  timer.fields.push_back({Field::on_calendar, values_of(text, "OnCalendar")});
  const auto add_one = [&](Field field, const char* key) {
    auto values = values_of(text, key);
    if (values.size() == 1) timer.fields.push_back({field, std::move(values.front())});
  };
  add_one(Field::unit, "Unit");
  add_one(Field::randomized_delay, "RandomizedDelaySec");
  if (const auto persistent = values_of(text, "Persistent"); persistent.size() == 1)
    timer.fields.push_back({Field::persistent, persistent.front() == "true"});
  auto fields = timer.fields;
  model::finish_resource(timer);
  if (times_of(timer).empty() || write_timer(timer) != text) return std::nullopt;
  return fields;
}

void TimerProvider::observe(Sight& sight, const model::Resource& resource,
                            core::Observation& seen) const {
  WholeText whole;
  const auto looked = look_at_place(sight, resource, seen, whole);
  if (looked == Looked::settled) return;
  if (resource.absent()) {
    if (looked == Looked::file) add_state_drift(seen, true);
    return;
  }
  if (looked == Looked::missing) return add_state_drift(seen, false);
  const auto unit = sight.units().find(resource.target.name.str());
  if (!unit) return set_unknown(seen, "its unit cannot be looked at", unit.error());
  if (!(*unit)->problem.empty()) return set_unknown(seen, (*unit)->problem);
  compare_file(resource, whole.text, seen);
  if (!is_private(sight, whole.stat))
    add_drift(seen, "mode", "writable by root alone", shown_mode(whole.stat.mode));
  compare_unit(**unit, seen);
}

Result<os::Location> TimerProvider::locate(Sight& sight, std::string_view place,
                                           const Work& work) const {
  return work.removes() ? sight.walker().locate(place) : locate_making_folder(sight, place);
}

Status TimerProvider::stage(Bench& bench, Work& work) const {
  if (!changes_file(work)) return {};
  auto wanted = metadata_before(work);
  wanted.uid = bench.sight.machine().trusted_uid;
  wanted.mode = kTimerFileMode;
  DATUM_TRY(stage_whole_text(bench, work, write_timer(*work.resource), wanted));
  return validate_staged_as(bench, work, "systemd-unit", false);
}

Status TimerProvider::commit(Bench& bench, Work& work) const {
  return work.temp.empty() ? Status{} : put_in_place(bench, work);
}

Status TimerProvider::remove(Bench& bench, Work& work) const {
  return remove_observed(bench, work);
}

}  // namespace datum::resource
