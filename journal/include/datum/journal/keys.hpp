// The index keys that a record carries, for whoever knows which ones it should carry.
#pragma once

#include <vector>

#include "datum/journal/log.hpp"

namespace datum::journal {

// Sorted by index and key; borrowed from the record.
[[nodiscard]] std::vector<IndexKey> keys_of(const Record& record);

}  // namespace datum::journal
