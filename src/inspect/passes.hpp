// Shared between the files of replay. Internal to inspect.
#pragma once

#include <vector>

#include "datum/inspect/replay.hpp"

namespace datum::inspect {

// Every pass that had begun at record `at`, oldest first.
[[nodiscard]] Result<Replayed> passes_of(journal::Reader& reader, Seq at, const Style& style);

// What an observation prints: drift, what of `plan` left the declaration, the pass.
[[nodiscard]] Replayed drift_replayed(const std::vector<core::Observation>& seen,
                                      const core::Acknowledgements& acknowledged,
                                      const core::Plan& plan, const PassLine& line,
                                      const Style& style);

}  // namespace datum::inspect
