// How a command leaves the store that it wrote to: grown no further than it may, and closed.
#pragma once

#include "datum/config/configuration.hpp"
#include "datum/engine/upkeep.hpp"
#include "session.hpp"

namespace datum::program {

// close_store after a pass, with what is due of the archive before and a compaction after it where
// it pays, bounded in time. What cannot be done of these two is told on standard error and is no
// failure of the pass: nothing is lost by it, and the next pass tries again.
[[nodiscard]] Status end_store(Session& session, engine::Store& store,
                               const config::Configuration& configuration);

[[nodiscard]] history::ArchiveLimits archive_limits(const config::Configuration& configuration);

// The error of opening the store in `folder`, with what to do about it where there is something.
[[nodiscard]] Error with_remedy(Error error, const std::string& folder);

}  // namespace datum::program
