#include "timer_wave.hpp"

#include <algorithm>

#include "../service/unit_facts.hpp"

namespace datum::resource {

namespace {

// Where the manager puts the links of enabled units.
constexpr const char* kTimerLinks = "/etc/systemd/system";

}  // namespace

bool TimerWave::removes() const {
  return action_.kind == core::ActionKind::remove || action_.kind == core::ActionKind::leave;
}

bool TimerWave::has_change(std::string_view field) const {
  return std::any_of(action_.changes.begin(), action_.changes.end(),
                     [field](const auto& change) { return change.field == field; });
}

Result<os::Unit> TimerWave::look() {
  const std::vector<std::string> names{action_.target.name.str()};
  DATUM_ASSIGN(auto seen, machine_->units->query(names, os::kUnitCallNs));
  return std::move(seen.front());
}

Status TimerWave::change_links(os::UnitFileChange change) {
  crash_point("unit-files");
  acted_ = true;
  auto changed = machine_->units->change_file(action_.target.name.str(), change, os::kUnitCallNs);
  if (!changed) return fail(std::move(changed).error().context(to_string(change)));
  DATUM_ASSIGN(const auto folder, machine_->files->open_root(kTimerLinks));
  auto synced = machine_->files->sync_file_system(folder);
  if (!synced) return fail(std::move(synced).error().context("not durable"));
  return {};
}

Status TimerWave::run_job(os::UnitJob job) {
  crash_point("job");
  const auto name = action_.target.name.str();
  DATUM_TRY(refuse_own_end(*machine_->units, name, job));
  acted_ = true;
  auto ended = machine_->units->run_job(name, job, kUnitJobNs);
  crash_point("job-ended");
  const std::string what(to_string(job));
  if (!ended) {
    if (ended.error().code() == ErrorCode::timed_out) still_running_ = name;
    return fail(std::move(ended).error().context(what));
  }
  if (*ended == "done") return {};
  return fail(ErrorCode::io_error, "its " + what + " job ended as " + *ended);
}

// Whether its file is as it is to be now; false where the action was skipped.
Result<bool> TimerWave::edit() {
  edited_ = edit_file();
  if (edited_->error) return fail(*edited_->error);
  if (edited_->skipped) return false;
  crash_point("reload-manager");
  auto read = machine_->units->reload_manager(os::kUnitCallNs);
  if (!read)
    return fail(std::move(read).error().context(
        "its file is changed, and the service manager did not read it"));
  return true;
}

// While it still has a file, since the manager forgets what has none.
Status TimerWave::take_down() {
  DATUM_ASSIGN(const auto unit, look());
  if (is_running(unit)) DATUM_TRY(run_job(os::UnitJob::stop));
  if (startup_of(unit.file_state) == Startup::on)
    DATUM_TRY(change_links(os::UnitFileChange::disable));
  DATUM_ASSIGN(const bool done, edit());
  static_cast<void>(done);
  return {};
}

Status TimerWave::bring_up() {
  DATUM_ASSIGN(const bool done, edit());
  if (!done) return {};
  DATUM_ASSIGN(auto unit, look());
  if (unit.load_state != "loaded")
    return fail(ErrorCode::invalid_argument,
                "the service manager does not take it: its load state is " + unit.load_state);
  if (startup_of(unit.file_state) != Startup::on) {
    DATUM_TRY(change_links(os::UnitFileChange::enable));
    DATUM_TRY(machine_->units->reload_manager(os::kUnitCallNs));
  }
  // A changed file counts from its next start on; the unit that it starts is not concerned.
  const bool only_links =
      !action_.changes.empty() && has_change("enabled") && action_.changes.size() == 1;
  if (!is_running(unit)) return run_job(os::UnitJob::start);
  return only_links ? Status{} : run_job(os::UnitJob::restart);
}

Status TimerWave::change() {
  if (machine_->units == nullptr)
    return fail(ErrorCode::unavailable, "no service manager is asked here");
  return removes() ? take_down() : bring_up();
}

std::int64_t TimerWave::act() {
  if (auto changed = change(); !changed) error_ = std::move(changed).error();
  return 0;
}

void TimerWave::judge(core::ActionResult& result) {
  if (resource_ == nullptr) return;
  result.after = look_once_more();
  result.left = {result.after.found, result.after.identity.device, result.after.identity.inode,
                 result.after.content};
  result.traces = result.after.traces;
  if (result.after.found == core::Found::unseen ||
      result.after.condition == core::Condition::skipped) {
    error_ = Error(ErrorCode::io_error,
                   "done, and it cannot be seen that it is: " + result.after.reason.str());
    return;
  }
  if (!result.after.drifts.empty()) {
    const auto& drift = result.after.drifts.front();
    error_ = Error(ErrorCode::conflict,
                   "it did not take effect: " + drift.field + " is " + drift.observed);
  }
}

std::vector<core::ActionResult> TimerWave::finish() {
  core::ActionResult result;
  const bool edited = edited_.has_value() && !edited_->error && !edited_->skipped;
  if (edited_) result = std::move(*edited_);
  result.ordinal = action_.ordinal;
  if (!error_ && !result.skipped) judge(result);
  result.atomic = false;
  result.still_running = still_running_;
  if (error_) {
    const bool file_changed = edited || result.changed;
    if (file_changed) note_remains(edited, result);
    result.skipped = false;
    add_error(file_changed, result);
  }
  return {std::move(result)};
}

}  // namespace datum::resource
