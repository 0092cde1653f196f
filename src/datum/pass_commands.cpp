// observe, diff, plan, reconcile: one pass over one manifest, printed.
#include <csignal>

#include "commands.hpp"
#include "content_differences.hpp"
#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/open.hpp"
#include "plan_file.hpp"
#include "print.hpp"
#include "session.hpp"

namespace datum::program {

namespace {

// Records nothing and changes nothing.
bool is_dry(Verb verb) {
  return verb == Verb::diff || verb == Verb::plan;
}

// `diff` and `plan` run over what the store knows, if there is one, and forget what they add.
Result<engine::Store> open_forgetful_store(Session& session, const engine::StoreBinding& binding) {
  core::State state;
  auto reader = history::open_reader(session.state_folder);
  if (reader) {
    DATUM_ASSIGN(state, history::fold(**reader, 0, true));
    state.pass.reset();
  } else if (reader.error().code() != ErrorCode::not_found) {
    return fail(std::move(reader).error());
  }
  engine::Store store;
  store.folder = session.state_folder;
  DATUM_ASSIGN(store.sensitive_key, engine::read_key_or_random(*session.files, store.folder));
  const bool is_new = state.store.empty();
  store.history = history::History::make_volatile(*session.loop, std::move(state));
  if (is_new)
    DATUM_TRY(store.history->execute(core::CreateStore{
        crypto::random_id(), binding.root, binding.host, binding.source, binding.version}));
  const core::OpenStore open{session.loop->clock().boot_id(), binding.version, binding.root,
                             binding.host};
  DATUM_TRY(store.history->execute(open));
  return store;
}

std::optional<core::Mode> mode_argument(const Arguments& arguments) {
  if (arguments.verb != Verb::reconcile) return core::Mode::observe;
  if (!arguments.mode) return std::nullopt;
  return *arguments.mode == "enforce" ? core::Mode::enforce : core::Mode::observe;
}

Result<engine::PassRequest> make_request(Session& session, const Arguments& arguments,
                                         const config::Configuration& config,
                                         const Desired& desired, const core::State& state) {
  engine::PassRequest request;
  request.limit_ns = config.pass_limit_ns.value;
  request.manifest = desired.manifest;
  request.content = desired.content;
  request.actor = current_actor(arguments);
  request.provenance = desired.provenance;
  request.declaration.node = desired.manifest->host;
  request.version = program_version();
  request.foreign_manifest = state.accepted.has_value() && !is_dry(arguments.verb);
  request.read_terms = mode_terms(session, mode_argument(arguments));
  request.observe_globs = config.observe.value;
  request.protect_globs = config.protect.value;
  request.limits.max = config.removals_max.value;
  request.limits.allowed = arguments.allow_removals;
  return request;
}

template <class T>
loop::Task<bool> stop_after(loop::Loop& loop, loop::Task<T>& task, std::optional<T>& result) {
  result.emplace(co_await task);
  loop.stop();
  co_return true;
}

// Runs the task to its end on the session's loop.
template <class T>
T run_task(loop::Loop& loop, loop::Task<T> task) {
  std::optional<T> result;
  auto outer = stop_after(loop, task, result);
  loop.post([&outer] { outer.start(); });
  loop.run();
  DATUM_ASSERT(result.has_value());
  return std::move(*result);
}

loop::Task<Result<engine::PassReport>> recover_and_run(engine::Conductor& conductor,
                                                       engine::PassRequest request) {
  auto recovering = conductor.recover(request.read_terms(), request.manifest);
  auto recovered = co_await recovering;
  if (!recovered) co_return fail(std::move(recovered).error());
  auto running = conductor.run(std::move(request));
  co_return co_await running;
}

Status close_store(Session& session, engine::Store& store) {
  Status result = fail(ErrorCode::internal, "the journal was not closed");
  DATUM_TRY(store.history->execute(core::CloseStore{"the command ended"}));
  store.history->close([&result, &session](Status closed) {
    result = std::move(closed);
    session.loop->stop();
  });
  session.loop->run();
  return result;
}

// What could not be looked at stands in no plan, and has to be named all the same.
std::vector<core::Observation> unknown_among(const std::vector<core::Observation>& observations) {
  std::vector<core::Observation> unknown;
  for (const auto& seen : observations)
    if (seen.condition == core::Condition::unknown) unknown.push_back(seen);
  return unknown;
}

void print_report(const Arguments& arguments, const engine::PassReport& report,
                  const std::string& host, const std::string& differences) {
  const auto style = output_style(arguments);
  const inspect::PassLine line{host, report.pass, report.mode, report.status, report.cut_short};
  const bool shows_plan = arguments.verb == Verb::plan || arguments.verb == Verb::reconcile;
  const bool acted = report.mode.mode == core::Mode::enforce && arguments.verb == Verb::reconcile;
  const auto outcomes =
      acted ? std::span<const core::Outcome>(report.outcomes) : std::span<const core::Outcome>();
  if (arguments.json) {
    if (shows_plan) print(inspect::drift_json(unknown_among(report.observations), false));
    print(shows_plan ? inspect::plan_json(*report.plan, outcomes)
                     : inspect::drift_json(report.observations, arguments.all));
    print(inspect::pass_json(line));
    return;
  }
  if (shows_plan) {
    print(inspect::plan_text(*report.plan, outcomes, arguments.command_line + " --all", style));
    print(inspect::drift_text(unknown_among(report.observations), style));
  } else {
    print(inspect::drift_text(report.observations, style));
  }
  print(differences);
  print(inspect::pass_text(line, style));
}

// Ends the pass at its next boundary when somebody asks for it.
Result<std::unique_ptr<loop::Signals>> watch_stop(Session& session, engine::Conductor& conductor) {
  return session.loop->watch_signals({SIGINT, SIGTERM, SIGHUP}, [&conductor](int number) {
    conductor.stop_request().stop("stopped by signal " + std::to_string(number));
  });
}

Result<int> run_pass(Arguments arguments) {
  DATUM_ASSIGN(auto session, open_session(arguments));
  DATUM_ASSIGN(const auto configuration, read_config(*session.files, session.config_folder));
  fill_in(arguments, configuration);
  DATUM_ASSIGN(const auto desired, load_desired(*session.files, session.root, arguments));
  const bool dry = is_dry(arguments.verb);
  const engine::StoreBinding binding{session.root_path, desired.manifest->host, "local",
                                     program_version()};
  auto store =
      dry ? open_forgetful_store(session, binding)
          : engine::open_store(*session.loop, *session.files, session.state_folder, binding);
  if (!store) return fail(std::move(store).error());
  auto machine = make_machine(session, desired.content, store->sensitive_key);
  DATUM_ASSIGN(auto request,
               make_request(session, arguments, configuration, desired, store->history->state()));
  if (!arguments.plan_in.empty()) {
    DATUM_ASSIGN(auto saved, read_plan_file(arguments.plan_in));
    request.approve = [saved, root = session.root_path, manifest = desired.manifest](
                          const auto& observations, const auto& plan) {
      return check_plan(saved, root, *manifest, observations, plan);
    };
  }
  engine::Conductor conductor(*session.loop, *store, machine);
  Result<engine::PassReport> report = fail(ErrorCode::internal, "no pass ran");
  {
    DATUM_ASSIGN(const auto signals, watch_stop(session, conductor));
    report = run_task(*session.loop, recover_and_run(conductor, std::move(request)));
  }
  if (store->history->healthy()) {
    if (auto closed = close_store(session, *store); !closed && report)
      report = fail(std::move(closed).error());
  }
  if (!report) return fail(std::move(report).error());
  if (!arguments.plan_out.empty())
    DATUM_TRY(write_plan_file(arguments.plan_out, session.root_path, *desired.manifest,
                              report->observations, *report->plan));
  std::string differences;
  if (arguments.verb == Verb::diff && !arguments.json)
    differences = content_differences(*machine, *desired.manifest, report->observations);
  print_report(arguments, *report, desired.manifest->host, differences);
  return core::exit_code(report->status.condition);
}

}  // namespace

int pass_command(const Arguments& arguments) {
  auto code = run_pass(arguments);
  if (!code) return report_error(code.error());
  return finish_output(*code);
}

}  // namespace datum::program
