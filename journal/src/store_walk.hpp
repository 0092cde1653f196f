// Looks at a store's data file without LMDB. `probe_store` reads a few pages and says what the
// store is; `walk_store` reads everything that is reachable and says whether it is sound. Both are
// safe on any bytes; the walk is run in a child nevertheless, because its length is not known
// beforehand.
#pragma once

#include <cstdint>
#include <optional>

#include "datum/base/error.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

struct Probe {
  Id128 store;
  std::uint32_t level = 0;
  Head head;
  Seq checkpoint = 1;  // from which records are to be verified
};
[[nodiscard]] Result<Probe> probe_store(int data_fd);

// Pages are always walked all; records from the checkpoint on, or all of them.
enum class WalkScope : bool { from_checkpoint, whole };

// The store's finding is a success whether sound or not; an error is a file that could not be read.
[[nodiscard]] Result<Verification> walk_store(int data_fd,
                                              WalkScope scope = WalkScope::from_checkpoint);

// As walk_store, in a forked child that holds no descriptor but this one and is killed after
// `limit_ms` (`timed_out`). A child that dies is a finding, too. Fork before the environment opens.
[[nodiscard]] Result<Verification> walk_in_child(int data_fd, std::int64_t limit_ms,
                                                 WalkScope scope = WalkScope::from_checkpoint);

}  // namespace datum::journal
