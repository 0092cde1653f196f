// Whether a batch may be appended at all: limits, names, keys. Both implementations ask this before
// they touch anything, so that a refusal is the same everywhere.
#pragma once

#include <functional>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

// `has_index` says whether the store has an index of that name. `level` is the store's, `max_level`
// the program's.
[[nodiscard]] Status check_batch(const Batch& batch,
                                 const std::function<bool(std::string_view)>& has_index,
                                 std::uint32_t level, std::uint32_t max_level);

// The options' indexes and levels.
[[nodiscard]] Status check_options(const OpenOptions& options);

[[nodiscard]] bool is_empty(const Batch& batch);

}  // namespace datum::journal
