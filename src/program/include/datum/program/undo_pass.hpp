// A reverting pass, whoever runs it: what is asked of the engine, and what it is answered with.
#pragma once

#include <cstddef>
#include <string>

#include "datum/engine/pass.hpp"
#include "datum/engine/undoing.hpp"
#include "datum/program/pass_output.hpp"

namespace datum::program {

// Makes `request` (begin_request) one that undoes what `undoing` says.
void make_undoing(engine::PassRequest& request, engine::UndoingPtr undoing);

// What stays as it is, and why; for standard error, before anything is done.
[[nodiscard]] std::string undo_warnings(const core::Plan& plan);
// For standard output. `targets`: how many the undone pass had changed.
[[nodiscard]] std::string undo_output(const PassView& view, PassId undone,
                                      const engine::PassReport& report, std::size_t targets,
                                      const core::Acknowledgements& acknowledged,
                                      const std::string& host);
// Until everything is undone, something differs from what was asked for.
[[nodiscard]] int undo_exit(const engine::PassReport& report);

}  // namespace datum::program
