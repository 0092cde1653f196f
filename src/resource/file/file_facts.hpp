// Small questions about regular files that observing and applying must answer alike.
#pragma once

#include <cstdint>

#include "datum/core/observation.hpp"
#include "datum/os/files.hpp"

namespace datum::resource {

// A file that others may not read is sensitive by its mode alone (design §7).
[[nodiscard]] inline bool denies_others(std::uint32_t mode) {
  return (mode & 0004U) == 0;
}

inline constexpr std::string_view kCapability = "security.capability";

// Whether the file has capabilities that a change of what drifts takes away: the kernel drops them
// with a new owner, and new content does not inherit them.
[[nodiscard]] bool loses_capability(os::Files& files, const os::Handle& file,
                                    const core::Observation& seen);

}  // namespace datum::resource
