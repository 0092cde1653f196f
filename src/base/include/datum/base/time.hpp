// Points in time carry their clock in their type. All are nanoseconds.
#pragma once

#include <compare>
#include <cstdint>

namespace datum {

// CLOCK_REALTIME, since 1970-01-01 UTC. May jump in either direction.
struct WallNs {
  std::int64_t ns = 0;
  auto operator<=>(const WallNs&) const = default;
};
// CLOCK_BOOTTIME: since boot, counts suspend, never goes back within one boot.
struct BootNs {
  std::int64_t ns = 0;
  auto operator<=>(const BootNs&) const = default;
};

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

}  // namespace datum
