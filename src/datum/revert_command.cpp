// revert: one pass that puts back what another one changed. keep: what is only observed, whatever
// is declared. Wires and prints; what may be undone is core's to say.
#include <cstdio>

#include "commands.hpp"
#include "datum/inspect/revert_report.hpp"
#include "datum/program/run_task.hpp"
#include "datum/program/session.hpp"
#include "datum/program/undo_pass.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "service_client.hpp"
#include "stop_signals.hpp"
#include "store_end.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

engine::PassRequest make_request(Session& session, const Arguments& arguments,
                                 const config::Configuration& config, const core::State& state) {
  auto request = begin_request(session, current_actor(arguments), config, mode_argument(arguments));
  request.limits.allowed = arguments.allow_removals;
  request.declaration.node = state.host;
  return request;
}

// A pass that died is ended before anything else: it may be the one that is to be undone.
struct Reverted {
  engine::PassReport report;
  std::size_t targets = 0;  // that the pass had changed
};

Result<Reverted> recover_and_undo(Session& session, engine::Store& store,
                                  engine::PassRequest request, PassId pass) {
  const std::shared_ptr<const ContentSource> kept(std::shared_ptr<void>(), store.blobs.get());
  {
    engine::Conductor conductor(*session.loop, store,
                                make_machine(session, kept, store.sensitive_key));
    DATUM_TRY(run_task(*session.loop, conductor.recover(request.read_terms, nullptr)));
  }
  DATUM_ASSIGN(const auto undoing,
               run_task(*session.loop, engine::prepare_undoing(*session.loop, store, pass)));
  make_undoing(request, undoing);
  if (core::host_mode(request.read_terms()).mode == core::Mode::enforce)
    request.approve = [](const auto&, const core::Plan& plan) {
      std::fputs(undo_warnings(plan).c_str(), stderr);
      std::fflush(stderr);
      return Status{};
    };
  engine::Conductor conductor(*session.loop, store,
                              make_machine(session, undoing->content, store.sensitive_key));
  DATUM_ASSIGN(const auto signals, watch_stop(session, conductor));
  DATUM_ASSIGN(auto report, run_task(*session.loop, conductor.run(std::move(request))));
  return Reverted{std::move(report), undoing->reversal.undos.size()};
}

// The store is taken: its service does it, if it answers.
Result<int> revert_through_service(const Arguments& arguments, const Error& taken) {
  DATUM_ASSIGN(auto request, make_local_request(arguments, host::LocalVerb::revert));
  request.mode = mode_argument(arguments);
  request.allow_removals = arguments.allow_removals;
  request.pass = arguments.pass;
  auto asked = ask_service(arguments, std::move(request), {});
  if (!asked && asked.error().code() == ErrorCode::not_found) return fail(taken);
  return asked;
}

PassView view_of_undoing(const Arguments& arguments) {
  PassView view;
  view.command_line = arguments.command_line;
  view.style = output_style(arguments);
  view.json = arguments.json;
  return view;
}

Result<int> run_revert(const Arguments& arguments) {
  if (arguments.pass == 0)
    return fail(ErrorCode::invalid_argument,
                "revert 0: no pass has the number 0; `datum replay passes` lists them with theirs");
  core::State known;
  {
    DATUM_ASSIGN(auto story, open_known_story(arguments));
    known = std::move(story.state);
  }
  DATUM_ASSIGN(auto session, open_session(arguments));
  DATUM_ASSIGN(const auto configuration, read_config(*session.files, session.config_folder));
  session.strict_paths = configuration.strict_paths.value;
  const engine::StoreBinding binding{session.root_path, known.host, known.source, program_version(),
                                     trusted_uid()};
  auto store = engine::open_store(*session.loop, *session.files, session.state_folder, binding);
  if (!store && store.error().code() == ErrorCode::busy)
    return revert_through_service(arguments, store.error());
  if (!store) return fail(with_remedy(std::move(store).error(), session.state_folder));
  auto reverted = recover_and_undo(
      session, *store, make_request(session, arguments, configuration, known), arguments.pass);
  const auto state = store->history->state();
  if (store->history->healthy()) {
    auto closed = end_store(session, *store, configuration);
    if (!closed && reverted) reverted = fail(std::move(closed).error());
  }
  if (!reverted) return fail(std::move(reverted).error());
  const auto acknowledged =
      core::standing_acknowledgements(state, session.loop->clock().wall_now());
  print(undo_output(view_of_undoing(arguments), arguments.pass, reverted->report, reverted->targets,
                    acknowledged, state.host));
  return undo_exit(reverted->report);
}

Result<int> run_keep(const Arguments& arguments) {
  core::State known;
  {
    DATUM_ASSIGN(auto story, open_known_story(arguments));
    known = std::move(story.state);
  }
  const auto style = output_style(arguments);
  if (arguments.target.empty()) {
    if (arguments.lift)
      return fail(ErrorCode::invalid_argument,
                  arguments.command_line + " --lift: name the target; `datum keep` lists them");
    print(arguments.json ? inspect::kept_json(known) : inspect::kept_text(known, style));
    return 0;
  }
  DATUM_ASSIGN(const auto target, find_target(known, arguments.target));
  core::KeepTarget command{target, 0, {}, current_actor(arguments)};
  if (!arguments.lift) {
    const auto until = core::until_newer(known);
    command.until_generation = until.until_generation;
    command.manifest = until.manifest;
  }
  DATUM_ASSIGN(const auto state, record_in_store(arguments, known, command));
  print(arguments.json ? inspect::kept_json(state, target) : inspect::kept_text(state, target));
  return 0;
}

}  // namespace

int revert_command(const Arguments& arguments) {
  return finish(arguments.verb == Verb::keep ? run_keep(arguments) : run_revert(arguments));
}

}  // namespace datum::program
