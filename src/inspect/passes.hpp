// Shared between the files of replay. Internal to inspect.
#pragma once

#include <vector>

#include "datum/inspect/replay.hpp"

namespace datum::inspect {

// Every pass that had begun at record `at`, oldest first.
[[nodiscard]] Result<Replayed> passes_of(journal::Reader& reader, Seq at, const Style& style);

[[nodiscard]] Replayed drift_replayed(const std::vector<core::Observation>& seen,
                                      const PassLine& line, const Style& style);

}  // namespace datum::inspect
