// What a reverting pass did in sum, and which targets are only observed because of it or because a
// person said so. Text for people, JSON for programs (docs/reference/json.md).
#pragma once

#include <span>
#include <string>

#include "datum/core/plan.hpp"
#include "datum/core/state.hpp"
#include "datum/inspect/report.hpp"

namespace datum::inspect {

struct Undone {
  PassId pass = 0;             // that was undone
  bool acted = false;          // it was enforced
  std::size_t undone = 0;      // put back now; of a plan, to be put back
  std::size_t already = 0;     // as they were before already
  std::size_t not_undone = 0;  // and stay as they are
};
// `outcomes` is empty where nothing was to be done; `targets`: how many the pass had
// changed.
[[nodiscard]] Undone tally_undone(PassId pass, const core::Plan& plan,
                                  std::span<const core::Outcome> outcomes, std::size_t targets);
// One line. Ends with a newline.
[[nodiscard]] std::string revert_text(const Undone& undone);
// {"reverts", "undone", "already", "notUndone"}, one line.
[[nodiscard]] std::string revert_json(const Undone& undone);

// Everything that is kept: a table, or one object a line.
[[nodiscard]] std::string kept_text(const core::State& state, const Style& style);
[[nodiscard]] std::string kept_json(const core::State& state);
// One target, kept or not.
[[nodiscard]] std::string kept_text(const core::State& state, const model::Target& target);
[[nodiscard]] std::string kept_json(const core::State& state, const model::Target& target);

}  // namespace datum::inspect
