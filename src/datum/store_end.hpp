// How a command leaves the store that it wrote to: grown no further than it may, and closed.
#pragma once

#include "arguments.hpp"
#include "datum/config/configuration.hpp"
#include "datum/engine/upkeep.hpp"
#include "datum/program/session.hpp"

namespace datum::program {

// close_store after a pass, with what is due of the archive before and a compaction after it where
// it pays, bounded in time. What cannot be done of these two is told on standard error and is no
// failure of the pass: nothing is lost by it, and the next pass tries again.
[[nodiscard]] Status end_store(Session& session, engine::Store& store,
                               const config::Configuration& configuration);

// One command into the store that `known` was read from, in a session of that store's own root and
// host, durable on return; the state after it. No pass runs.
[[nodiscard]] Result<core::State> record_in_store(const Arguments& arguments,
                                                  const core::State& known,
                                                  const core::Command& command);

}  // namespace datum::program
