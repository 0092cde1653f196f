// What was last seen of every resource, out of the records that tell it. Internal to inspect.
#pragma once

#include <vector>

#include "datum/core/observation.hpp"
#include "datum/core/state.hpp"
#include "datum/history/events.hpp"

namespace datum::inspect {

// In the order of the references, as a pass has them. Of a converged resource only what the state
// knows, unless `all`.
[[nodiscard]] Result<std::vector<core::Observation>> read_observations(journal::Reader& reader,
                                                                       const core::State& state,
                                                                       bool all);
[[nodiscard]] core::Observation observation_of(const core::ResourceObserved& event);

}  // namespace datum::inspect
