// Observations, plans and passes as text for people and as JSON for programs. The same functions
// serve a pass that just ran, a replay and a post-mortem. Read-only; knows no terminal (the program
// says how wide and whether coloured). JSON shapes: docs/reference/json.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "datum/core/mode.hpp"
#include "datum/core/observation.hpp"
#include "datum/core/plan.hpp"
#include "datum/core/status.hpp"

namespace datum::inspect {

struct Style {
  bool colour = false;
  bool fold = true;         // runs of equal changes of kFoldFrom or more lines become one line
  std::size_t width = 100;  // columns; texts are cut, marked, never silently
  // Of an action that nothing keeps from being done, where there are no outcomes. Empty: no word.
  std::string planned_word;
};
// A run shorter than this is never folded.
inline constexpr std::size_t kFoldFrom = 20;

// Those that could not be looked at: they stand in no plan and have to be named all the same.
[[nodiscard]] std::vector<core::Observation> unknown_among(
    const std::vector<core::Observation>& observations);
// Every resource that is not converged, with its differing fields; unfolded, the converged ones
// too. Empty text: nothing to tell.
[[nodiscard]] std::string drift_text(std::span<const core::Observation> observations,
                                     const core::Acknowledgements& acknowledged,
                                     const Style& style);
// {"reference", "target", "condition", "found", "drifts": [{"field", "desired", "observed"}],
// "reason", "obstacle", "detail", …}, one object a line; converged ones only with `all`.
[[nodiscard]] std::string drift_json(std::span<const core::Observation> observations,
                                     const core::Acknowledgements& acknowledged, bool all);

// The plan: removals and privilege changes first, then the rest in order of execution; what will be
// refused or blocked and why; notifications; a summary line that ends with restarts and removals.
// `list_command` is named where lines were folded. `outcomes` may be empty (nothing was done yet).
[[nodiscard]] std::string plan_text(const core::Plan& plan, std::span<const core::Outcome> outcomes,
                                    const core::Acknowledgements& acknowledged,
                                    const std::string& list_command, const Style& style);
// One object a line: {"ordinal", "action", "target", "reference", "changes", "after", "refusal",
// …}, and a last one {"summary": …}. `planned` is the outcome of an action where there are none.
[[nodiscard]] std::string plan_json(const core::Plan& plan, std::span<const core::Outcome> outcomes,
                                    const core::Acknowledgements& acknowledged,
                                    std::string_view planned = "planned");
// Of a plan only the targets that left the declaration, and the brake: what an observation says
// beside the drift. The same lines and objects as above.
[[nodiscard]] std::string leaving_text(const core::Plan& plan, const std::string& list_command,
                                       const Style& style);
[[nodiscard]] std::string leaving_json(const core::Plan& plan);

// What became of notifications, those of earlier passes too. Empty text: there were none.
[[nodiscard]] std::string notifications_text(
    std::span<const core::NotificationOutcome> notifications);
// One object a line: {"notification": "reload", "service", "unit", "by", "end", "repeated",
// "message"}.
[[nodiscard]] std::string notifications_json(
    std::span<const core::NotificationOutcome> notifications);

struct PassLine {
  std::string host;
  PassId pass = 0;
  core::EffectiveMode mode;
  core::HostStatus status;
  std::string cut_short;
  std::vector<core::NotificationOutcome> notifications;  // of this pass, and what is pending
};
// What became of notifications, a line each; then one line: "web1: drifted (observing): 3 of 150
// drifted …". Ends with a newline.
[[nodiscard]] std::string pass_text(const PassLine& pass, const Style& style);
[[nodiscard]] std::string pass_json(const PassLine& pass);

}  // namespace datum::inspect
