// A plan by its digest, for reports. codec converts; readers of history reach it through here.
#pragma once

#include "datum/base/content.hpp"
#include "datum/core/plan.hpp"

namespace datum::history {

// Larger than a plan of 100,000 actions; what claims to be more is not read into memory.
inline constexpr std::size_t kMaxPlanBytes = 256U << 20U;

// `not_found`: the store, copy or export does not hold it (exports of others, swept blobs).
// `corrupt`, `unsupported_version` as codec::decode_plan.
[[nodiscard]] Result<core::Plan> read_plan(const ContentSource& content, const Digest& digest);

// All of a content, at most `limit` bytes.
[[nodiscard]] Result<Bytes> read_content(const ContentSource& content, const Digest& digest,
                                         std::size_t limit);

}  // namespace datum::history
