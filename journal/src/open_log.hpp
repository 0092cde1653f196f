// Inside the library: open_log with the id that a store gets if it is made, and a closed store
// under its lock.
#pragma once

#include <memory>
#include <string>

#include "datum/journal/log.hpp"
#include "lmdb_env.hpp"
#include "lmdb_log.hpp"

namespace datum::journal {

[[nodiscard]] Result<std::unique_ptr<LmdbLog>> open_log_as(const std::string& folder,
                                                           const OpenOptions& options,
                                                           const Id128& id);

// The store in `folder`, locked, found sound and not opened: nothing of it was changed, its mark of
// an orderly end included. Errors as of open_log.
[[nodiscard]] Result<StoreHandle> lock_closed(const std::string& folder,
                                              const OpenOptions& options);

// The environment of a store that is closed and whose lock `store` holds, for writing: judged as at
// any opening, its mark of an orderly end gone.
[[nodiscard]] Result<std::shared_ptr<Environment>> open_again(const StoreHandle& store);

// LMDB's environment of a store beside whoever else uses it: what it opens by name is looked at
// before, and who stands still while opening is named after `wait_ms` (`busy`). `folder`: the open
// folder that `wanted` names; this process has no other environment of it.
[[nodiscard]] Result<std::shared_ptr<Environment>> open_environment(
    int folder, const Environment::Wanted& wanted, std::int64_t wait_ms);

}  // namespace datum::journal
