#include "datum/link/backoff.hpp"

#include <algorithm>

namespace datum::link {

std::int64_t wait_before_retry(std::uint32_t failures, std::int64_t not_before_ns,
                               std::uint64_t random) {
  constexpr std::uint32_t kMostDoublings = 16;  // far beyond the bound
  const auto doublings = std::min(failures > 0 ? failures - 1 : 0, kMostDoublings);
  const auto bound = std::min(kFirstBackoffNs << doublings, kLastBackoffNs);
  const auto jitter = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(bound));
  return std::clamp<std::int64_t>(not_before_ns, 0, kMostNotBeforeNs) + jitter;
}

}  // namespace datum::link
