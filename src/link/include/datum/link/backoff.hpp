// How long a node waits before it tries its control plane again. Full jitter: a random part of a
// time that doubles with each failure and is never shorter than what its control plane asked for
// when the link stood, so that a fleet that lost its control plane at one moment does not come back
// at one, and not in a few. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datum/base/time.hpp"

namespace datum::link {

// A control plane that was restarted is back within seconds.
inline constexpr std::int64_t kFirstBackoffNs = kNsPerSecond;
// The longest that a node is without its control plane after that came back.
inline constexpr std::int64_t kLastBackoffNs = 300 * kNsPerSecond;
// What a control plane asks of its nodes grows with their number: a small mesh is back at once, of
// a thousand a few come in each second, and of more so many as a small machine takes in beside its
// other work (a link costs it less than 3 ms), but over two minutes at least.
inline constexpr std::int64_t kReturnOfEachNs = 120 * kNsPerMs;
inline constexpr std::int64_t kReturnOfManyNs = 120 * kNsPerSecond;
inline constexpr std::int64_t kReturnOfEachOfManyNs = 12 * kNsPerMs;
[[nodiscard]] std::int64_t return_within(std::size_t nodes);
// What a node grants of it.
inline constexpr std::int64_t kMostReturnWithinNs = 3600 * kNsPerSecond;
// A connection that lasted so long was no failure.
inline constexpr std::int64_t kLastedNs = 60 * kNsPerSecond;
// What a peer says of when to come back is taken up to here: nobody can send a node away for good.
inline constexpr std::int64_t kMostNotBeforeNs = 24 * 3600 * kNsPerSecond;
// A node that was told that it is revoked, retired, a clone or too old asks again this seldom: what
// was decided by a person is undone by one.
inline constexpr std::int64_t kDecidedBackoffNs = 900 * kNsPerSecond;

struct Retry {
  std::uint32_t failures = 1;         // in a row, at least 1
  std::int64_t return_within_ns = 0;  // what the control plane asked for
  std::int64_t not_before_ns = 0;     // the peer's word, beside the rest; 0: none
  std::int64_t most_ns = 0;           // of the random part, where something waits for it; 0: any
};
// With 64 random bits.
[[nodiscard]] std::int64_t wait_before_retry(const Retry& retry, std::uint64_t random);

}  // namespace datum::link
