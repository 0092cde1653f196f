#include "datum/host/rhythm.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"
#include "datum/base/bytes.hpp"

namespace datum::host {

Rhythm make_rhythm(BootNs now, std::int64_t interval_ns, const Id128& store) {
  DATUM_ASSERT(interval_ns > 0);
  // The identity is random already: its first 8 bytes are as good a number as any.
  const auto number =
      load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(store.bytes.data()));
  const auto offset = static_cast<std::int64_t>(number % static_cast<std::uint64_t>(interval_ns));
  return {BootNs{now.ns + offset + 1}, interval_ns};
}

BootNs next_beat(const Rhythm& rhythm, BootNs now) {
  if (now < rhythm.first) return rhythm.first;
  const auto beats = (now.ns - rhythm.first.ns) / rhythm.interval_ns + 1;
  return BootNs{rhythm.first.ns + beats * rhythm.interval_ns};
}

std::int64_t backoff_ns(std::uint32_t failures, std::int64_t first_ns, std::int64_t most_ns) {
  auto delay = std::min(first_ns, most_ns);
  for (std::uint32_t done = 1; done < failures && delay < most_ns; ++done)
    delay = delay > most_ns / 2 ? most_ns : delay * 2;
  return delay;
}

}  // namespace datum::host
