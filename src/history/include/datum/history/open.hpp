// Where the journal lies in a store's folder, and how it is opened for writing and for reading.
#pragma once

#include <memory>
#include <string>

#include "datum/history/history.hpp"

namespace datum::history {

// For the one process that writes; creates the store's folder and the journal if they are missing.
// The errors of journal::open_log.
[[nodiscard]] Result<std::unique_ptr<History>> open_history(loop::Loop& loop,
                                                            const std::string& store_folder);
// For reading only: no lock, no byte written. `not_found` when there is no journal. `path` is a
// store's folder or an export file.
[[nodiscard]] Result<std::unique_ptr<journal::Reader>> open_reader(const std::string& path);
// Beside a writer that may come and go: takes no lock that would keep one out, but a reader's slot,
// so only the store's owner may.
[[nodiscard]] Result<std::unique_ptr<journal::Reader>> open_live_reader(
    const std::string& store_folder);
// The same as a Log, for `verify` of a store's folder.
[[nodiscard]] Result<std::unique_ptr<journal::Log>> open_for_verify(
    const std::string& store_folder);

}  // namespace datum::history
