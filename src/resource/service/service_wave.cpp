#include "service_wave.hpp"

#include <algorithm>

#include "../action_wave.hpp"
#include "../wave_run.hpp"
#include "unit_facts.hpp"

namespace datum::resource {

namespace {

// A unit that was not there when it was observed could only be told as missing: all that is
// declared of it is to be corrected.
bool changes_or_creates(const core::Action& action, std::string_view field) {
  if (action.found == core::Found::absent) return true;
  return std::any_of(action.changes.begin(), action.changes.end(),
                     [field](const core::FieldDrift& drift) { return drift.field == field; });
}

// Where the manager keeps the links of what is enabled and masked for good.
constexpr const char* kUnitLinks = "/etc/systemd/system";

}  // namespace

Result<os::Unit> bring_up_to_date(os::Units& units, const std::string& name) {
  const std::vector<std::string> names{name};
  DATUM_ASSIGN(auto seen, units.query(names, os::kUnitCallNs));
  if (!seen.front().needs_daemon_reload && exists(seen.front())) return std::move(seen.front());
  DATUM_TRY(units.reload_manager(os::kUnitCallNs));
  DATUM_ASSIGN(seen, units.query(names, os::kUnitCallNs));
  return std::move(seen.front());
}

ServiceWave::ServiceWave(WaveBasis basis)
    : ActionWave(std::move(basis)), works_(make_works<Work>(*declared_, *plan_, ordinals_)) {}

Result<std::vector<Prepared>> ServiceWave::prepare(blobs::BlobStore& /*store*/) {
  return prepare_without_content(works_);
}

std::int64_t ServiceWave::act() {
  std::int64_t settle = 0;
  for (auto& work : works_) {
    work_on(work);
    if (!work.invocation.empty()) settle = std::max(settle, settle_ns(*work.resource));
  }
  return settle;
}

void ServiceWave::work_on(Work& work) {
  work.began_ns = now_ns();
  if (machine_->units == nullptr || work.resource == nullptr) {
    work.error = Error(ErrorCode::unavailable, "no service manager is asked here");
    return;
  }
  if (auto changed = change(work); !changed) work.error = std::move(changed).error();
}

Result<os::Unit> ServiceWave::look(const std::string& name) {
  const std::vector<std::string> names{name};
  DATUM_ASSIGN(auto seen, machine_->units->query(names, os::kUnitCallNs));
  return std::move(seen.front());
}

Result<os::Unit> ServiceWave::look_current(Work& work) {
  crash_point("reload-manager", work.action->ordinal);
  return bring_up_to_date(*machine_->units, work.action->target.name.str());
}

// A unit is stopped before its file is masked, since its own way to stop stands in the file; and it
// is started after the manager knows that it may.
Status ServiceWave::change(Work& work) {
  DATUM_ASSIGN(const auto unit, look_current(work));
  if (!unit.problem.empty()) return fail(ErrorCode::io_error, unit.problem);
  if (!exists(unit) && !work.resource->flag(model::Field::masked))
    return fail(ErrorCode::not_found,
                "there is no unit " + unit.name +
                    "; declare what brings it, and let the Service require it");
  DATUM_TRY(change_files_before(work, unit));
  DATUM_TRY(change_activity(work, unit));
  return mask(work);
}

Status ServiceWave::change_file(const Work& work, os::UnitFileChange change) {
  crash_point("unit-files", work.action->ordinal);
  auto changed =
      machine_->units->change_file(work.action->target.name.str(), change, os::kUnitCallNs);
  if (!changed) return fail(std::move(changed).error().context(to_string(change)));
  return {};
}

Status ServiceWave::sync_links() {
  auto& files = *machine_->files;
  DATUM_ASSIGN(const auto folder, files.open_root(kUnitLinks));
  auto synced = files.sync_file_system(folder);
  if (!synced) return fail(std::move(synced).error().context("not durable"));
  return {};
}

Status ServiceWave::change_files_before(Work& work, const os::Unit& unit) {
  const auto& service = *work.resource;
  bool changed = false;
  if (changes_or_creates(*work.action, "masked") && !service.flag(model::Field::masked) &&
      is_masked(unit)) {
    DATUM_TRY(change_file(work, os::UnitFileChange::unmask));
    changed = true;
  }
  const bool wanted = service.flag(model::Field::enabled);
  // What a mask hid shows only now.
  const bool maybe = changes_or_creates(*work.action, "enabled") || changed;
  const auto startup = startup_of(unit.file_state);
  const bool hidden = startup == Startup::masked && !changed;
  if (maybe && !hidden && exists(unit) && startup != Startup::no_answer &&
      (startup == Startup::on) != wanted) {
    DATUM_TRY(change_file(work, wanted ? os::UnitFileChange::enable : os::UnitFileChange::disable));
    changed = true;
  }
  if (!changed) return {};
  DATUM_TRY(sync_links());
  return machine_->units->reload_manager(os::kUnitCallNs);
}

Status ServiceWave::change_activity(Work& work, const os::Unit& unit) {
  if (!changes_or_creates(*work.action, "state") || os::is_unit_template(unit.name)) return {};
  const bool wanted = work.resource->text(model::Field::state) == "running";
  if (wanted == is_running(unit)) return {};
  DATUM_TRY(run_job(work, wanted ? os::UnitJob::start : os::UnitJob::stop));
  if (!wanted) return {};
  DATUM_ASSIGN(const auto started, look(work.action->target.name.str()));
  if (!is_running(started))
    return fail(ErrorCode::io_error,
                "it ended as soon as it was started: " + describe_activity(started));
  work.invocation = started.invocation;
  return {};
}

Status ServiceWave::mask(Work& work) {
  if (!changes_or_creates(*work.action, "masked") || !work.resource->flag(model::Field::masked))
    return {};
  DATUM_TRY(change_file(work, os::UnitFileChange::mask));
  DATUM_TRY(sync_links());
  return machine_->units->reload_manager(os::kUnitCallNs);
}

Status ServiceWave::run_job(Work& work, os::UnitJob job) {
  crash_point("job", work.action->ordinal);
  const auto name = work.action->target.name.str();
  DATUM_TRY(refuse_own_end(*machine_->units, name, job));
  auto ended = machine_->units->run_job(name, job, kUnitJobNs);
  crash_point("job-ended", work.action->ordinal);
  const std::string what(to_string(job));
  if (!ended) {
    if (ended.error().code() == ErrorCode::timed_out) work.still_running = name;
    return fail(std::move(ended).error().context(what));
  }
  if (*ended == "done") return {};
  const auto now = look(name);
  return fail(ErrorCode::io_error, "its " + what + " job ended as " + *ended +
                                       (now ? ": " + describe_activity(*now) : ""));
}

// --- afterwards

Status ServiceWave::check_settled(const Work& work) {
  if (work.invocation.empty()) return {};
  DATUM_ASSIGN(const auto unit, look(work.action->target.name.str()));
  if (is_running(unit) && unit.invocation == work.invocation) return {};
  return fail(ErrorCode::io_error,
              "it was started and ended soon after: " +
                  (is_running(unit) ? "it was started again" : describe_activity(unit)));
}

void ServiceWave::describe(Work& work, core::ActionResult& result) {
  Observer observer(machine_, declared_);
  result.after = observer.observe(*work.resource);
  result.left.found = result.after.found;
  if (result.after.condition == core::Condition::unknown ||
      result.after.condition == core::Condition::skipped) {
    work.error = Error(ErrorCode::io_error,
                       "done, and it cannot be seen that it is: " + result.after.reason);
    return;
  }
  for (const auto& drift : result.after.drifts)
    if (changes_or_creates(*work.action, drift.field)) {
      work.error = Error(ErrorCode::conflict,
                         "it did not take effect: " + drift.field + " is " + drift.observed);
      return;
    }
}

std::vector<core::ActionResult> ServiceWave::finish() {
  std::vector<core::ActionResult> results;
  for (auto& work : works_) {
    core::ActionResult result;
    result.ordinal = work.action->ordinal;
    crash_point("observe", work.action->ordinal);
    if (!work.error)
      if (auto settled = check_settled(work); !settled) work.error = std::move(settled).error();
    if (!work.error) describe(work, result);
    result.atomic = false;
    result.duration_ns = now_ns() - work.began_ns;
    result.still_running = work.still_running;
    if (work.error) {
      result.failure = digest_failure(*work.error);
      result.message = work.error->message();
      result.error = std::move(work.error);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace datum::resource
