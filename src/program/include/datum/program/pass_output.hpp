// What a pass is answered with: the report for the caller's standard output and the warnings for
// its standard error, as text, whoever ran the pass.
#pragma once

#include <string>

#include "datum/core/status.hpp"
#include "datum/engine/pass.hpp"
#include "datum/inspect/report.hpp"

namespace datum::program {

struct PassView {
  std::string command_line;  // named where lines were folded
  inspect::Style style;
  bool json = false;
  bool all = false;         // converged resources too
  bool shows_plan = false;  // `plan`, `reconcile`: the plan; else the drift
  bool may_act = false;     // `reconcile`: outcomes are told where it enforced
};

// `differences` (of contents) stands before the last lines of a text; not in JSON.
[[nodiscard]] std::string pass_output(const PassView& view, const engine::PassReport& report,
                                      const core::Acknowledgements& acknowledged,
                                      const std::string& host, const std::string& differences);
// What recovery found of a pass that had been cut off; empty where it found nothing.
[[nodiscard]] std::string recovered_words(const engine::RecoveredPass& recovered);
// That, and places that others can change, one a line. Not recorded, so not part of the report,
// which a replay prints byte for byte.
[[nodiscard]] std::string pass_warnings(const engine::PassReport& report);

}  // namespace datum::program
