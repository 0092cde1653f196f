// Ending a pass of a command in order when somebody asks for it.
#pragma once

#include <memory>

#include "datum/engine/pass.hpp"
#include "datum/program/session.hpp"

namespace datum::program {

// As long as the result lives, an interrupt, a hang-up or SIGTERM ends the pass at its next
// boundary.
[[nodiscard]] Result<std::unique_ptr<loop::Signals>> watch_stop(Session& session,
                                                                engine::Conductor& conductor);

}  // namespace datum::program
