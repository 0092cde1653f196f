// One pass of the service: read the configuration and the fleet again, then what the command line
// does too, recover and run; and what follows a pass.
#include <algorithm>
#include <utility>

#include "conducting.hpp"
#include "datum/config/hold.hpp"
#include "datum/host/service_status.hpp"
#include "datum/program/fleet_findings.hpp"
#include "datum/text/terminal.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

// What stands in for the configured mode.
std::optional<core::Mode> mode_of(const Asked* asked) {
  if (asked == nullptr) return std::nullopt;
  return asked->request.verb == LocalVerb::observe ? core::Mode::observe : asked->request.mode;
}

}  // namespace

void Service::begin_pass() {
  read_configuration_again(service_actor());
  note_hold(service_actor());
  note_no_pass("");
  doing_ = "a pass runs";
  tell_status();
}

// Any trigger ends here. Whatever goes wrong is told and waits for the next one.
loop::Task<bool> Service::pass(core::Trigger trigger) {
  begin_pass();
  std::optional<program::Desired> desired;
  std::string problem;
  if (has_desired()) {
    auto loading = load();
    auto loaded = co_await loading;
    if (loaded)
      desired = std::move(*loaded);
    else
      problem = loaded.error().message();
  } else {
    note_no_pass("agent.yaml names no source");
  }
  if (!stopping_ && (desired || state().pass)) {
    auto running = recover_and_run(std::move(desired), trigger, nullptr);
    const auto ran = co_await running;
    if (!ran) problem = ran.error().message();
  }
  if (store_->history->healthy()) tell_problem(problem);
  auto ending = end_pass();
  co_return co_await ending;
}

loop::Task<bool> Service::end_pass() {
  doing_.clear();
  if (!store_->history->healthy()) {
    auto giving_up = become_unrecorded();
    co_await giving_up;
  }
  if (has_guard(engine::GuardStand::waiting)) {
    auto looking = look_at_guard(Look::after_pass);
    co_await looking;
  }
  auto keeping = keep_store_small();
  co_await keeping;
  if (!store_->history->healthy()) {
    auto giving_up = become_unrecorded();
    co_await giving_up;
  }
  decide_orphans();
  auto witnessing = write_witness(WitnessAt::pass, nullptr);
  co_await witnessing;
  if (mesh_) mesh_->report();
  write_metrics();
  auto keeping_release = keep_release();
  co_await keeping_release;
  auto looking = look_for_upgrade();
  leaving_for_upgrade_ = co_await looking;
  co_return true;
}

// Off the loop: a fleet of thousands of documents takes longer than anybody wants to wait.
loop::Task<Result<program::Desired>> Service::load() {
  if (state().accepted) {
    auto accepted = load_accepted();
    co_return co_await accepted;
  }
  using Loaded = Result<program::Desired>;
  program::DesiredSource source;
  source.fleet = program::below(session_.root_path, *configuration_.source.value);
  source.host = configuration_.host.value.value_or("");
  const bool strict = configuration_.strict_paths.value;
  const auto words = std::make_shared<std::string>();
  std::function<Loaded()> work = [this, source, strict, words]() -> Loaded {
    DATUM_ASSIGN(*words, program::check_fleet_way(*session_.files, source.fleet, strict));
    program::FindingsText findings;
    auto desired = program::load_desired(*session_.files, session_.root, source, findings.teller());
    if (desired) return desired;
    return fail(desired.error().code(), desired.error().message() + findings.errors());
  };
  auto loading = loop::run_on<Loaded>(*reader_, std::move(work));
  auto loaded = co_await loading;
  if (*words != fleet_warning_ && !words->empty()) log_.warning(*words);
  fleet_warning_ = *words;
  co_return loaded;
}

// What runs by itself on a node is its declaration; what a person asks for, unless they send
// something else.
bool Service::is_of_declaration(const Asked* asked) const {
  return state().accepted && (asked == nullptr || asked->is_declared);
}

engine::PassRequest Service::make_request(const program::Desired& desired, core::Trigger trigger,
                                          const Asked* asked) {
  const auto mode = mode_of(asked);
  auto actor = service_actor();
  if (asked != nullptr) actor = program::person(asked->peer.uid, asked->request.command_line);
  auto request = program::begin_request(session_, std::move(actor), configuration_, mode);
  request.read_terms = [this, mode] { return terms(mode); };
  request.trigger = trigger;
  request.manifest = desired.manifest;
  request.content = desired.content;
  request.provenance = desired.provenance;
  request.declaration.node = desired.manifest->host;
  const bool is_declared = is_of_declaration(asked);
  request.foreign_manifest = state().accepted && !is_declared;
  if (is_declared) {
    request.declaration = *state().accepted;
    request.limits.allowed = allowed_removals_;
  }
  if (asked == nullptr) return request;
  request.retry = asked->request.retry;
  if (asked->plan)
    request.approve = [saved = asked->plan, root = session_.root_path, manifest = desired.manifest](
                          const auto& observations, const auto& plan) {
      return program::check_plan(*saved, root, *manifest, observations, plan);
    };
  request.limits.allowed = std::max(request.limits.allowed, asked->request.allow_removals);
  return request;
}

// A dead pass is ended first, with or without something to do afterwards.
loop::Task<Service::Reported> Service::recover_and_run(std::optional<program::Desired> desired,
                                                       core::Trigger trigger, const Asked* asked) {
  session_.accounts->refresh();
  const bool is_declared = is_of_declaration(asked);
  if (desired && !is_declared && desired->manifest->host != state().host)
    co_return fail(ErrorCode::refused, "the store is bound to the host " + state().host +
                                           ", not to " + desired->manifest->host);
  std::shared_ptr<const ContentSource> content;
  if (desired) content = desired->content;
  session_.strict_paths = configuration_.strict_paths.value;
  const auto machine = program::make_machine(session_, content, store_->sensitive_key);
  engine::Conductor conductor(*session_.loop, *store_, machine);
  const Conducting conducting(conductor_, conductor);
  auto recovering = conductor.recover([this, mode = mode_of(asked)] { return terms(mode); },
                                      desired ? desired->manifest : nullptr,
                                      is_declared ? state().accepted->manifest : Digest{});
  auto recovered = co_await recovering;
  if (!recovered) co_return fail(std::move(recovered).error());
  if (!desired || stopping_) co_return std::shared_ptr<const engine::PassReport>();
  auto request = make_request(*desired, trigger, asked);
  auto running = conductor.run(std::move(request));
  auto ran = co_await running;
  if (!ran) co_return fail(std::move(ran).error());
  const auto report = std::make_shared<const engine::PassReport>(std::move(*ran));
  tell_pass(*report);
  if (report->pass != 0 && report->cut_short.empty()) confirm(report->pass);
  auto waiting = wait_durable();
  auto durable = co_await waiting;
  if (!durable) co_return fail(std::move(durable).error());
  const bool is_applied = is_declared && report->pass != 0 && report->cut_short.empty();
  if (mesh_ && is_applied && why_guarded().empty()) mesh_->applied(report->pass);
  co_return report;
}

// Only what finished says something about the version, and only where it is kept.
void Service::confirm(PassId pass) {
  const auto& last = state().last_pass;
  if (store_->history->is_unrecorded() || !last || last->id != pass) return;
  if (state().confirmed_version == program::program_version()) return;
  record(core::ConfirmVersion{program::program_version(), pass});
}

// Each failure once: one that stood before this pass was told then.
void Service::tell_pass(const engine::PassReport& report) {
  const auto pass = std::to_string(report.pass);
  if (const auto words = program::recovered_words(report.recovered); !words.empty())
    log_.notice(words);
  for (const auto& action : report.plan->actions) {
    const auto& outcome = report.outcomes[action.ordinal];
    if (outcome.phase != core::Phase::failed) continue;
    const auto standing = state().failures.find(action.target);
    if (standing != state().failures.end() && standing->second.first < report.pass) continue;
    log_.write(Priority::warning, action.reference.text() + ": " + outcome.message,
               {{"DATUM_EVENT", "actionFailed"},
                {"DATUM_PASS", pass},
                {"DATUM_REFERENCE", action.reference.text()},
                {"DATUM_TARGET", action.target.text()}});
  }
  const std::string word(core::to_string(report.status.condition));
  const auto& counts = report.status.counts;
  auto words = "pass " + pass + " (" + std::string(core::to_string(report.mode.mode)) +
               "): " + word + "; " + std::to_string(counts.converged) + " converged, " +
               std::to_string(counts.drifted) + " drifted, " + std::to_string(counts.unknown) +
               " unknown, " + std::to_string(counts.skipped) + " skipped";
  if (!report.cut_short.empty()) words += "; cut short: " + report.cut_short;
  // What is as it was before is in the journal of Datum, not in everybody's.
  if (words.substr(words.find(':')) == last_told_) return;
  last_told_ = words.substr(words.find(':'));
  log_.write(Priority::info, words,
             {{"DATUM_EVENT", "passFinished"}, {"DATUM_PASS", pass}, {"DATUM_CONDITION", word}});
}

core::HostStatus Service::status_now() {
  auto& clock = session_.loop->clock();
  core::StatusInput now{clock.wall_now(), clock.boot_now(), clock.boot_id()};
  now.timer_period_ns = configuration_.interval_ns.value;
  now.timer_expected = has_desired();
  auto status = core::compute_status(state(), now);
  if (!why_unrecorded().empty()) add_unrecorded(status);
  return status;
}

void Service::tell_problem(const std::string& problem) {
  if (problem == problem_) return;
  problem_ = problem;
  if (problem.empty()) return log_.notice("what kept passes from running is gone");
  log_.error(problem);
}

}  // namespace datum::host
