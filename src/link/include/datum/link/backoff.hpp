// How long a node waits before it tries its control plane again. Full jitter: a random part of a
// time that doubles with each failure, so that a fleet that lost its control plane at one moment
// does not come back at one. Pure.
#pragma once

#include <cstdint>

#include "datum/base/time.hpp"

namespace datum::link {

// A control plane that was restarted is back within seconds.
inline constexpr std::int64_t kFirstBackoffNs = kNsPerSecond;
// The longest that a node is without its control plane after that came back.
inline constexpr std::int64_t kLastBackoffNs = 300 * kNsPerSecond;
// A connection that lasted so long was no failure.
inline constexpr std::int64_t kLastedNs = 60 * kNsPerSecond;
// What a peer says of when to come back is taken up to here: nobody can send a node away for good.
inline constexpr std::int64_t kMostNotBeforeNs = 24 * 3600 * kNsPerSecond;
// A node that was told that it is revoked, retired, a clone or too old asks again this seldom: what
// was decided by a person is undone by one.
inline constexpr std::int64_t kDecidedBackoffNs = 900 * kNsPerSecond;

// After `failures` failures in a row (at least 1), with 64 random bits; `not_before_ns` is the
// peer's word, 0: none.
[[nodiscard]] std::int64_t wait_before_retry(std::uint32_t failures, std::int64_t not_before_ns,
                                             std::uint64_t random);

}  // namespace datum::link
