// revert: one pass that puts back what another one changed. keep: what is only observed, whatever
// is declared. Wires and prints; what may be undone is core's to say.
#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "datum/inspect/revert_report.hpp"
#include "datum/program/run_task.hpp"
#include "datum/program/session.hpp"
#include "datum/text/terminal.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "stop_signals.hpp"
#include "store_end.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

// What stays as it is, and why, before anything is done.
Status tell_not_undone(const core::Plan& plan) {
  for (const auto& action : plan.actions)
    if (!action.refusal.empty())
      std::fprintf(stderr, "warning: not undone: %s: %s\n",
                   text::escape(action.target.text()).c_str(),
                   text::escape(action.refusal).c_str());
  std::fflush(stderr);
  return {};
}

engine::PassRequest make_request(Session& session, const Arguments& arguments,
                                 const config::Configuration& config, const core::State& state) {
  auto request = begin_request(session, current_actor(arguments), config, mode_argument(arguments));
  request.limits.allowed = arguments.allow_removals;
  request.provenance.source = "pass " + std::to_string(arguments.pass);
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
  request.undoing = undoing;
  request.manifest = undoing->manifest;
  request.content = undoing->content;
  if (core::host_mode(request.read_terms()).mode == core::Mode::enforce)
    request.approve = [](const auto&, const core::Plan& plan) { return tell_not_undone(plan); };
  engine::Conductor conductor(*session.loop, store,
                              make_machine(session, undoing->content, store.sensitive_key));
  DATUM_ASSIGN(const auto signals, watch_stop(session, conductor));
  DATUM_ASSIGN(auto report, run_task(*session.loop, conductor.run(std::move(request))));
  return Reverted{std::move(report), undoing->reversal.undos.size()};
}

void print_report(const Arguments& arguments, const core::State& state, const Reverted& reverted,
                  WallNs now) {
  const auto& report = reverted.report;
  const auto style = output_style(arguments);
  const bool acted = report.mode.mode == core::Mode::enforce;
  const auto outcomes =
      acted ? std::span<const core::Outcome>(report.outcomes) : std::span<const core::Outcome>();
  const auto acknowledged = core::standing_acknowledgements(state, now);
  const inspect::PassLine line{state.host, report.pass, report.mode, report.status,
                               report.cut_short};
  const auto tally =
      inspect::tally_undone(arguments.pass, *report.plan, outcomes, reverted.targets);
  if (arguments.json) {
    print(inspect::plan_json(*report.plan, outcomes, acknowledged));
    print(inspect::revert_json(tally));
    print(inspect::pass_json(line));
    return;
  }
  print(inspect::plan_text(*report.plan, outcomes, acknowledged,
                           arguments.command_line + " " + std::to_string(arguments.pass) + " --all",
                           style));
  print(inspect::revert_text(tally));
  // A host that is as declared is not what was asked for.
  if (acted && tally.undone + tally.already == 0)
    print("Nothing was undone.\n");
  else
    print(inspect::pass_text(line, style));
}

// Until everything is undone, something differs from what was asked for.
int exit_of(const engine::PassReport& report) {
  const int code = core::exit_code(report.status.condition);
  const auto& actions = report.plan->actions;
  const bool done = std::all_of(actions.begin(), actions.end(), [&](const auto& action) {
    return report.outcomes[action.ordinal].phase == core::Phase::succeeded;
  });
  constexpr int kDrifted = 2;
  return done ? code : kDrifted;
}

Result<int> run_revert(const Arguments& arguments) {
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
  if (!store) return fail(with_remedy(std::move(store).error(), session.state_folder));
  auto reverted = recover_and_undo(
      session, *store, make_request(session, arguments, configuration, known), arguments.pass);
  const auto state = store->history->state();
  if (store->history->healthy()) {
    auto closed = end_store(session, *store, configuration);
    if (!closed && reverted) reverted = fail(std::move(closed).error());
  }
  if (!reverted) return fail(std::move(reverted).error());
  print_report(arguments, state, *reverted, session.loop->clock().wall_now());
  return exit_of(reverted->report);
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
