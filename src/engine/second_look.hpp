// When an action is looked at once more before it runs. Internal to engine.
#pragma once

#include <cstdint>
#include <vector>

#include "running.hpp"

namespace datum::engine {

// Packages have run since these were looked at.
[[nodiscard]] bool needs_second_look(const Conductor::Running& running,
                                     const std::vector<std::uint32_t>& ordinals);
// By ordinal; zero where nothing is refused.
[[nodiscard]] std::vector<Digest> failure_digests(const core::Plan& plan);

}  // namespace datum::engine
