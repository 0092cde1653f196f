// What ownership means for one target. Internal to core.
#pragma once

#include <vector>

#include "datum/core/observation.hpp"
#include "datum/core/state.hpp"
#include "datum/model/manifest.hpp"

namespace datum::core {

// Requirements kept with an owned target, for the order of its removal. A record is at most 64 KiB
// and a path 4 KiB: what a document requires beyond this is left out, always the same.
inline constexpr std::size_t kMaxRequirements = 256;
inline constexpr std::size_t kMaxRequirementBytes = 16 * 1024;

// Targets of what the resource requires, sorted, unique, bounded.
[[nodiscard]] std::vector<model::Target> requirement_targets(const model::Manifest& manifest,
                                                             const model::Resource& resource);
// Whether the record of an owned target no longer follows its document.
[[nodiscard]] bool record_differs(const Owned& owned, const model::Resource& resource,
                                  const std::vector<model::Target>& requirements);
[[nodiscard]] Left left_of(const Observation& observation);

// What differs from what Datum left there: empty if nothing does. Fit to follow "changed: ".
[[nodiscard]] std::string describe_change(const Left& left, Found found, const Identity& identity,
                                          const Digest& content);

}  // namespace datum::core
