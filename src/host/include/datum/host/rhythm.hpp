// When the service looks again by itself: a beat on the clock that counts suspend, so that no jump
// of the wall clock moves it, with a place of its own for each node, so that a fleet does not look
// all at once. Pure.
#pragma once

#include <cstdint>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"

namespace datum::host {

struct Rhythm {
  BootNs first;                  // the first beat
  std::int64_t interval_ns = 0;  // positive
  bool operator==(const Rhythm&) const = default;
};

// Beats every `interval_ns` from `now` on; how long after `now` the first one comes follows from
// the store's identity alone: more than 0, at most one interval, spread evenly over all stores.
[[nodiscard]] Rhythm make_rhythm(BootNs now, std::int64_t interval_ns, const Id128& store);
// The first beat after `now`.
[[nodiscard]] BootNs next_beat(const Rhythm& rhythm, BootNs now);

// How long to wait before the next try of something that failed `failures` (at least 1) times in a
// row: `first_ns`, then twice as long each time, at most `most_ns`.
[[nodiscard]] std::int64_t backoff_ns(std::uint32_t failures, std::int64_t first_ns,
                                      std::int64_t most_ns);

}  // namespace datum::host
