// The steps of a compaction, for tests that end the process between any two of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "datum/journal/log.hpp"
#include "lmdb_log.hpp"

namespace datum::journal {

enum class CompactStep : std::uint8_t {
  folder_made,
  data_written,
  data_synced,
  data_verified,
  mark_written,
  exchanged,
  exchange_synced,
  old_removed,
};
inline constexpr int kCompactSteps = 8;

// Called after each step; tests only. Empty: nothing is called.
using CompactHook = std::function<void(CompactStep)>;

// Of a closed store whose lock `store` holds. Whatever comes of it, afterwards `store` is what has
// the store's place, and its lock is held.
[[nodiscard]] Result<Compaction> compact_closed(StoreHandle& store, const CompactHook& hook = {});

[[nodiscard]] Result<Compaction> compact_store_with(const std::string& folder,
                                                    const OpenOptions& options,
                                                    const CompactHook& hook);

}  // namespace datum::journal
