// observe, diff, plan, reconcile: one pass over one manifest, printed.
#include <algorithm>
#include <cstdio>

#include "accepted_desired.hpp"
#include "commands.hpp"
#include "content_differences.hpp"
#include "datum/config/trust.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/witness.hpp"
#include "datum/history/open.hpp"
#include "datum/program/pass_output.hpp"
#include "datum/program/run_task.hpp"
#include "datum/program/session.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "desired.hpp"
#include "memory.hpp"
#include "plan_file.hpp"
#include "print.hpp"
#include "service_client.hpp"
#include "stop_signals.hpp"
#include "store_end.hpp"

namespace datum::program {

namespace {

// Records nothing and changes nothing.
bool is_dry(Verb verb) {
  return verb == Verb::diff || verb == Verb::plan;
}

using Accepted = std::optional<AcceptedDesired>;

// `diff` and `plan` run over what the store knows, if there is one, and forget what they add: a
// fleet that a person names is compared as if none had been accepted.
Result<engine::Store> open_forgetful_store(Session& session, const engine::StoreBinding& binding,
                                           const Accepted& accepted) {
  core::State state;
  auto reader = history::open_reader(session.state_folder);
  if (reader) {
    DATUM_ASSIGN(state, history::fold(**reader, 0, true));
    state.pass.reset();
    if (!accepted) state.accepted.reset();
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
                             binding.host, session.loop->clock().wall_now()};
  DATUM_TRY(store.history->execute(open));
  return store;
}

Result<engine::PassRequest> make_request(Session& session, const Arguments& arguments,
                                         const config::Configuration& config,
                                         const Desired& desired, const Accepted& accepted,
                                         const core::State& state) {
  const auto mode =
      arguments.verb == Verb::reconcile ? mode_argument(arguments) : core::Mode::observe;
  auto request = begin_request(session, current_actor(arguments), config, mode);
  request.read_terms = [read = request.read_terms, &session, &state] {
    auto terms = read();
    add_link_hold(terms, state, session.loop->clock().wall_now());
    return terms;
  };
  request.manifest = desired.manifest;
  request.content = desired.content;
  request.provenance = desired.provenance;
  request.declaration.node = desired.manifest->host;
  request.retry = arguments.retry;
  request.limits.allowed = arguments.allow_removals;
  request.foreign_manifest = state.accepted.has_value() && !accepted;
  if (!accepted) return request;
  request.declaration = accepted->declaration;
  request.limits.allowed = std::max(arguments.allow_removals, accepted->allowed_removals);
  return request;
}

loop::Task<Result<engine::PassReport>> recover_and_run(engine::Conductor& conductor,
                                                       engine::PassRequest request,
                                                       std::function<void()> recovered_call) {
  auto recovering =
      conductor.recover(request.read_terms, request.manifest, request.declaration.manifest);
  auto recovered = co_await recovering;
  if (!recovered) co_return fail(std::move(recovered).error());
  if (recovered_call) recovered_call();
  auto running = conductor.run(std::move(request));
  co_return co_await running;
}

PassView view_of(const Arguments& arguments) {
  PassView view;
  view.command_line = arguments.command_line;
  view.style = output_style(arguments);
  view.json = arguments.json;
  view.all = arguments.all;
  view.shows_plan = arguments.verb == Verb::plan || arguments.verb == Verb::reconcile;
  view.may_act = arguments.verb == Verb::reconcile;
  return view;
}

// A fleet that a person names is theirs to judge; the one of agent.yaml is read unattended.
Status check_fleet(Session& session, const Arguments& arguments,
                   const config::Configuration& configuration) {
  const auto& source = configuration.source.value;
  const bool local = source && local_fleet(arguments, *source) == arguments.fleet;
  if (arguments.fleet.empty() || (!local && !session.strict_paths)) return {};
  DATUM_ASSIGN(const auto words,
               check_fleet_way(*session.files, arguments.fleet, session.strict_paths));
  if (!words.empty()) std::fprintf(stderr, "warning: %s\n", text::escape(words).c_str());
  return {};
}

// The store is taken. If its service answers it does the pass; else whoever has it is named.
Result<int> run_through_service(const Arguments& arguments, const Sent& sent, const Error& taken) {
  const auto verb =
      arguments.verb == Verb::observe ? host::LocalVerb::observe : host::LocalVerb::reconcile;
  DATUM_ASSIGN(auto request, make_local_request(arguments, verb));
  request.mode = mode_argument(arguments);
  request.allow_removals = arguments.allow_removals;
  request.retry = arguments.retry;
  auto asked = ask_service(arguments, std::move(request), sent);
  if (!asked && asked.error().code() == ErrorCode::not_found) return fail(taken);
  return asked;
}

// What the command line names; else the accepted declaration; else the fleet of agent.yaml.
Result<Desired> load_meant(Session& session, Arguments& arguments,
                           const config::Configuration& configuration, Accepted& accepted) {
  if (arguments.fleet.empty() && arguments.manifest.empty()) {
    DATUM_ASSIGN(accepted, find_accepted(*session.files, arguments));
  }
  if (accepted) return accepted->desired;
  fill_in(arguments, configuration);
  DATUM_TRY(check_fleet(session, arguments, configuration));
  return load_desired(*session.files, session.root, arguments);
}

// The machine's own store has a witness: one that is lost is told as such, and not begun anew as if
// none had been. A store that somebody names simply begins.
engine::StoreBinding binding_for(const Session& session, const Arguments& arguments,
                                 std::string host) {
  engine::StoreBinding binding{session.root_path, std::move(host), "local", program_version(),
                               trusted_uid()};
  if (!arguments.state.empty()) return binding;
  auto read = engine::read_witness(*session.files, session.config_folder, trusted_uid());
  if (read && *read && (*read)->root == binding.root)
    binding.witness = std::make_shared<const core::Witness>(std::move(**read));
  return binding;
}

// `--plan`, read before anything else is touched.
Result<std::optional<PlanFile>> read_saved_plan(const Arguments& arguments) {
  if (arguments.plan_in.empty()) return std::optional<PlanFile>();
  DATUM_ASSIGN(auto read, read_plan_file(arguments.plan_in));
  return std::optional(std::move(read));
}

Result<int> run_pass(Arguments arguments, const Instruments& instruments) {
  DATUM_ASSIGN(auto plan_file, read_saved_plan(arguments));
  DATUM_ASSIGN(auto opened, open_session(arguments));
  auto& session = keep_until_exit(std::move(opened));
  if (instruments.watch_tree) session.watched_tree = instruments.watch_tree(*session.files);
  if (instruments.watch_store) session.watched_store = instruments.watch_store(*session.files);
  DATUM_ASSIGN(const auto configuration, read_config(*session.files, session.config_folder));
  session.strict_paths = configuration.strict_paths.value;
  Accepted accepted;
  DATUM_ASSIGN(auto loaded, load_meant(session, arguments, configuration, accepted));
  const auto& desired = keep_until_exit(std::move(loaded));
  const bool dry = is_dry(arguments.verb);
  auto binding =
      binding_for(session, arguments, accepted ? accepted->host : desired.manifest->host);
  binding.crash_point = instruments.journal;
  auto found =
      dry ? open_forgetful_store(session, binding, accepted)
          : engine::open_store(*session.loop, session.store_files(), session.state_folder, binding);
  if (!found && found.error().code() == ErrorCode::busy)
    return run_through_service(
        arguments,
        {accepted ? nullptr : &desired, plan_file ? plan_file->file->bytes() : ByteView()},
        found.error());
  if (!found) return fail(with_remedy(std::move(found).error(), session.state_folder));
  auto& store = keep_until_exit(std::move(*found));
  if (store.key_was_lost)
    std::fprintf(stderr,
                 "warning: %s had lost its key, and has a new one: what was recorded of sensitive "
                 "files cannot be compared, they look changed once\n",
                 session.state_folder.c_str());
  auto machine = make_machine(session, desired.content, store.sensitive_key);
  if (instruments.units) {
    machine->units = instruments.units.get();
    machine->root_path = "/";
  }
  DATUM_ASSIGN(auto request, make_request(session, arguments, configuration, desired, accepted,
                                          store.history->state()));
  request.crash_point = instruments.wave;
  if (plan_file)
    request.approve = [saved = std::move(plan_file->plan), root = session.root_path,
                       manifest = desired.manifest](const auto& observations, const auto& plan) {
      return check_plan(saved, root, *manifest, observations, plan);
    };
  engine::Conductor conductor(*session.loop, store, machine);
  Result<engine::PassReport> result = fail(ErrorCode::internal, "no pass ran");
  {
    DATUM_ASSIGN(const auto signals, watch_stop(session, conductor));
    result = run_task(*session.loop,
                      recover_and_run(conductor, std::move(request), instruments.recovered));
  }
  const auto acknowledged =
      core::standing_acknowledgements(store.history->state(), session.loop->clock().wall_now());
  if (store.history->healthy()) {
    auto closed = dry ? close_store(session, store) : end_store(session, store, configuration);
    if (!closed && result) result = fail(std::move(closed).error());
  }
  if (!result) return fail(std::move(result).error());
  const auto& report = keep_until_exit(std::move(*result));
  if (!arguments.plan_out.empty())
    DATUM_TRY(write_plan_file(
        arguments.plan_out,
        saved_plan_text(session.root_path, *desired.manifest, report.observations, *report.plan)));
  std::string differences;
  if (arguments.verb == Verb::diff && !arguments.json)
    differences = content_differences(*machine, *desired.manifest, report.observations);
  std::fputs(pass_warnings(report).c_str(), stderr);
  print(pass_output(view_of(arguments), report, acknowledged, desired.manifest->host, differences));
  return core::exit_code(report.status.condition);
}

}  // namespace

int pass_command(const Arguments& arguments) {
  return finish(run_pass(arguments, {}));
}

int watched_pass(const Arguments& arguments, const Instruments& instruments) {
  return finish(run_pass(arguments, instruments));
}

}  // namespace datum::program
