#include "datum/program/undo_pass.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "datum/inspect/revert_report.hpp"
#include "datum/text/terminal.hpp"

namespace datum::program {

void make_undoing(engine::PassRequest& request, engine::UndoingPtr undoing) {
  request.provenance.source = "pass " + std::to_string(undoing->reversal.pass);
  request.manifest = undoing->manifest;
  request.content = undoing->content;
  request.undoing = std::move(undoing);
}

std::string undo_warnings(const core::Plan& plan) {
  std::string words;
  for (const auto& action : plan.actions)
    if (!action.refusal.empty())
      words += "warning: not undone: " + text::escape(action.target.text()) + ": " +
               text::escape(action.refusal) + "\n";
  return words;
}

std::string undo_output(const PassView& view, PassId undone, const engine::PassReport& report,
                        std::size_t targets, const core::Acknowledgements& acknowledged,
                        const std::string& host) {
  const bool acted = report.mode.mode == core::Mode::enforce;
  const auto outcomes =
      acted ? std::span<const core::Outcome>(report.outcomes) : std::span<const core::Outcome>();
  const inspect::PassLine line{host, report.pass, report.mode, report.status, report.cut_short};
  const auto tally = inspect::tally_undone(undone, *report.plan, outcomes, targets);
  if (view.json)
    return inspect::plan_json(*report.plan, outcomes, acknowledged) + inspect::revert_json(tally) +
           inspect::pass_json(line);
  auto text =
      inspect::plan_text(*report.plan, outcomes, acknowledged,
                         view.command_line + " " + std::to_string(undone) + " --all", view.style);
  text += inspect::revert_text(tally);
  // A host that is as declared is not what was asked for.
  if (acted && tally.undone + tally.already == 0) return text + "Nothing was undone.\n";
  return text + inspect::pass_text(line, view.style);
}

int undo_exit(const engine::PassReport& report) {
  const int code = core::exit_code(report.status.condition);
  const auto& actions = report.plan->actions;
  const bool done = std::all_of(actions.begin(), actions.end(), [&](const auto& action) {
    return report.outcomes[action.ordinal].phase == core::Phase::succeeded;
  });
  constexpr int kDrifted = 2;
  return done ? code : kDrifted;
}

}  // namespace datum::program
