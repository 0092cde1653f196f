#include "datum/link/backoff.hpp"

#include <algorithm>

namespace datum::link {

std::int64_t return_within(std::size_t nodes) {
  constexpr std::size_t kMostNodes = 1'000'000;  // far beyond any mesh
  const auto count = static_cast<std::int64_t>(std::min(nodes, kMostNodes));
  const auto few = std::min(count * kReturnOfEachNs, kReturnOfManyNs);
  return std::min(std::max(few, count * kReturnOfEachOfManyNs), kMostReturnWithinNs);
}

std::int64_t wait_before_retry(const Retry& retry, std::uint64_t random) {
  constexpr std::uint32_t kMostDoublings = 16;  // far beyond the bound
  const auto doublings = std::min(retry.failures > 0 ? retry.failures - 1 : 0, kMostDoublings);
  auto bound = std::max(std::min(kFirstBackoffNs << doublings, kLastBackoffNs),
                        std::min(retry.return_within_ns, kMostReturnWithinNs));
  if (retry.most_ns > 0) bound = std::min(bound, retry.most_ns);
  const auto jitter = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(bound));
  return std::clamp<std::int64_t>(retry.not_before_ns, 0, kMostNotBeforeNs) + jitter;
}

}  // namespace datum::link
