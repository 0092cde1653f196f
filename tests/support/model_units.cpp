#include "support/model_units.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "datum/base/assert.hpp"

namespace datum::support {

ModelUnit& ModelUnits::put(const std::string& id) {
  const std::lock_guard guard(mutex_);
  auto& unit = units_[id];
  unit = {};
  unit.id = id;
  return unit;
}

void ModelUnits::take(const std::string& id) {
  const std::lock_guard guard(mutex_);
  units_.erase(id);
}

ModelUnit* ModelUnits::find(const std::string& name) {
  for (auto& [id, unit] : units_)
    if (id == name || std::count(unit.aliases.begin(), unit.aliases.end(), name) != 0) return &unit;
  return nullptr;
}

ModelUnit& ModelUnits::at(const std::string& name) {
  const std::lock_guard guard(mutex_);
  auto* const unit = find(name);
  DATUM_ASSERT(unit != nullptr);
  return *unit;
}

void ModelUnits::reboot() {
  const std::lock_guard guard(mutex_);
  tools_.clear();
  now_us_ = 1'000'000;
  for (auto& [id, unit] : units_) {
    unit.runs = unit.failed = unit.stale = unit.is_between = false;
    unit.invocation.clear();
    unit.reload_result = "success";
    unit.state_changed_us = 0;
    if (unit.file_state == "enabled" && !unit.masked && !os::is_unit_template(id)) start(unit);
  }
}

void ModelUnits::toggle(const std::string& name) {
  const std::lock_guard guard(mutex_);
  auto& unit = at(name);
  if (!unit.runs) return start(unit);
  unit.runs = false;
  touch(unit);
}

void ModelUnits::script_tool(std::string program, int queries, int exit_status,
                             std::string output) {
  const std::lock_guard guard(mutex_);
  scripts_[std::move(program)] = {queries, exit_status, std::move(output)};
}

Status ModelUnits::ask(const Refuse& refuse, UnitCall call, std::string_view name) const {
  if (!refuse) return {};
  auto error = refuse(call, name);
  if (error) return fail(std::move(*error));
  return {};
}

Status ModelUnits::begin(UnitCall call, std::string_view name) {
  if (absent_) return fail(ErrorCode::unavailable, *absent_);
  return ask(before_, call, name);
}

std::optional<std::string> ModelUnits::find_absence() {
  const std::lock_guard guard(mutex_);
  return absent_;
}

os::Unit ModelUnits::describe_tool(const std::string& name, Tool& tool) {
  os::Unit seen;
  seen.name = seen.id = name;
  seen.names = {name};
  seen.load_state = "loaded";
  seen.file_state = "transient";
  if (tool.queries_left > 0) {
    --tool.queries_left;
    seen.active_state = "active";
    seen.sub_state = "running";
    return seen;
  }
  const bool good = tool.exit_status == 0;
  seen.active_state = good ? "active" : "failed";
  seen.sub_state = good ? "exited" : "failed";
  seen.result = good ? "success" : "exit-code";
  seen.exit_code = 1;
  seen.exit_status = tool.exit_status;
  return seen;
}

os::Unit ModelUnits::describe(const std::string& name) {
  if (const auto tool = tools_.find(name); tool != tools_.end())
    return describe_tool(name, tool->second);
  os::Unit seen;
  seen.name = seen.id = name;
  seen.load_state = "not-found";
  seen.active_state = "inactive";
  seen.sub_state = "dead";
  auto* const unit = find(name);
  if (unit == nullptr) return seen;
  seen.id = unit->id;
  seen.names = unit->aliases;
  seen.names.push_back(unit->id);
  std::sort(seen.names.begin(), seen.names.end());
  seen.load_state = unit->masked ? "masked" : "loaded";
  seen.file_state = unit->masked ? "masked" : unit->file_state;
  seen.fragment_path = "/etc/systemd/system/" + unit->id;
  if (os::is_unit_template(name)) {
    seen.load_state = "template";
    seen.active_state = seen.sub_state = seen.fragment_path = "";
    return seen;
  }
  seen.active_state = unit->is_between ? "reloading"
                      : unit->runs     ? "active"
                      : unit->failed   ? "failed"
                                       : "inactive";
  seen.sub_state = unit->is_between ? "reload"
                   : unit->runs     ? "running"
                   : unit->failed   ? "failed"
                                    : "dead";
  seen.has_job = unit->is_between;
  seen.stopped_with = unit->stopped_with;
  seen.stopped_by_start = unit->stopped_by_start;
  seen.invocation = unit->invocation;
  seen.result = unit->failed ? "exit-code" : "success";
  seen.exit_code = unit->failed ? 1 : 0;
  seen.exit_status = unit->failed ? 3 : 0;
  seen.reload_result = unit->reload_result;
  seen.state_changed_us = unit->state_changed_us;
  seen.can_reload = unit->can_reload;
  seen.needs_daemon_reload = unit->stale;
  return seen;
}

Result<std::vector<os::Unit>> ModelUnits::query(std::span<const std::string> names,
                                                std::int64_t /*limit_ns*/) {
  const std::lock_guard guard(mutex_);
  DATUM_TRY(begin(UnitCall::query, names.empty() ? "" : names.front()));
  std::vector<os::Unit> seen;
  for (const auto& name : names) seen.push_back(describe(name));
  // Seen alive once, as a process is that exits right after its start.
  for (const auto& name : names) {
    auto* const unit = find(name);
    if (unit == nullptr || !std::exchange(unit->is_fresh, false)) continue;
    if (!unit->runs || !unit->dies_at_once) continue;
    unit->runs = false;
    unit->failed = true;
    touch(*unit);
  }
  return seen;
}

void ModelUnits::start(ModelUnit& unit) {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%032llx", static_cast<unsigned long long>(++invocations_));
  unit.invocation = digits;
  ++unit.starts;
  unit.runs = !unit.starts_badly;
  unit.failed = unit.starts_badly;
  unit.is_fresh = true;
  touch(unit);
  if (unit.runs && unit.reads) unit.reads();
}

std::string ModelUnits::do_job(ModelUnit& unit, os::UnitJob job) {
  switch (job) {
    case os::UnitJob::start:
      if (!unit.runs) start(unit);
      break;
    case os::UnitJob::restart:
      start(unit);
      break;
    case os::UnitJob::stop:
      if (unit.runs) ++unit.stops;
      if (unit.runs) touch(unit);
      unit.runs = false;
      return "done";
    case os::UnitJob::reload:
      ++unit.reloads;
      touch(unit);
      unit.reload_result = unit.reloads_badly ? "exit-code" : "success";
      if (!unit.reloads_badly && unit.reads) unit.reads();
      return unit.reloads_badly ? "failed" : "done";
  }
  return unit.starts_badly ? "failed" : "done";
}

Result<std::string> ModelUnits::run_job(const std::string& name, os::UnitJob job,
                                        std::int64_t /*limit_ns*/) {
  const std::lock_guard guard(mutex_);
  DATUM_TRY(begin(UnitCall::job, name));
  auto* const unit = find(name);
  if (unit == nullptr || os::is_unit_template(name))
    return fail(ErrorCode::not_found, "Unit " + name + " not found.");
  const bool starts = job == os::UnitJob::start || job == os::UnitJob::restart;
  if (starts && unit->masked) return fail(ErrorCode::conflict, "Unit " + name + " is masked.");
  if (job == os::UnitJob::reload && !unit->can_reload)
    return fail(ErrorCode::unsupported, "Job type reload is not applicable for unit " + name + ".");
  if (job == os::UnitJob::reload && !unit->runs) return "invalid";
  auto ended = do_job(*unit, job);
  DATUM_TRY(ask(after_, UnitCall::job, name));
  return ended;
}

Status ModelUnits::change_file(const std::string& name, os::UnitFileChange change,
                               std::int64_t /*limit_ns*/) {
  const std::lock_guard guard(mutex_);
  DATUM_TRY(begin(UnitCall::change_file, name));
  auto* unit = find(name);
  using os::UnitFileChange;
  if (unit == nullptr) return fail(ErrorCode::not_found, "Unit file " + name + " does not exist.");
  if (change == UnitFileChange::enable && unit->masked)
    return fail(ErrorCode::conflict, "Unit file " + name + " is masked.");
  const bool fixed = unit->file_state == "static" || unit->file_state == "generated" ||
                     unit->file_state == "indirect";
  if (change == UnitFileChange::enable && !fixed) unit->file_state = "enabled";
  if (change == UnitFileChange::disable && !fixed) unit->file_state = "disabled";
  if (change == UnitFileChange::mask) unit->masked = true;
  if (change == UnitFileChange::unmask) unit->masked = false;
  return ask(after_, UnitCall::change_file, name);
}

Status ModelUnits::reload_manager(std::int64_t /*limit_ns*/) {
  const std::lock_guard guard(mutex_);
  DATUM_TRY(begin(UnitCall::reload_manager, ""));
  ++manager_reloads_;
  for (auto& [id, unit] : units_) unit.stale = false;
  return ask(after_, UnitCall::reload_manager, "");
}

Status ModelUnits::start_transient(const os::TransientService& service, std::int64_t /*limit_ns*/) {
  const std::lock_guard guard(mutex_);
  DATUM_TRY(begin(UnitCall::transient, service.name));
  if (tools_.contains(service.name))
    return fail(ErrorCode::already_exists, "Unit " + service.name + " was already loaded.");
  const auto script = scripts_.find(service.argv.front());
  if (script == scripts_.end())
    return fail(ErrorCode::io_error, service.argv.front() + " could not be started: failed");
  tools_[service.name] = {script->second.queries, script->second.exit_status};
  if (effect_) tools_[service.name].exit_status = effect_(service);
  tools_started_.push_back(service.name);
  const auto& output = script->second.output;
  auto* const out = output.empty() ? nullptr : std::fopen(service.output_path.c_str(), "a");
  if (out != nullptr) {
    std::fputs(output.c_str(), out);
    std::fclose(out);
  }
  return ask(after_, UnitCall::transient, service.name);
}

Status ModelUnits::forget(const std::string& name, std::int64_t /*limit_ns*/) {
  const std::lock_guard guard(mutex_);
  DATUM_TRY(begin(UnitCall::forget, name));
  const auto tool = tools_.find(name);
  if (tool == tools_.end()) return {};
  if (tool->second.queries_left > 0) return fail(ErrorCode::conflict, name + " is running");
  tools_.erase(tool);
  return ask(after_, UnitCall::forget, name);
}

}  // namespace datum::support
