// Inside the library: open_log with the id that a store gets if it is made.
#pragma once

#include <memory>
#include <string>

#include "datum/journal/log.hpp"
#include "lmdb_log.hpp"

namespace datum::journal {

[[nodiscard]] Result<std::unique_ptr<LmdbLog>> open_log_as(const std::string& folder,
                                                           const OpenOptions& options,
                                                           const Id128& id);

}  // namespace datum::journal
