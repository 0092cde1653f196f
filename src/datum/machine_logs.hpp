// Reads the logs of a machine (or of a tree under --root) for `datum history`: the package
// manager's and the record of logins. Bounded in files, bytes and time; what was left out is named.
// Never follows a link that somebody else could have planted.
#pragma once

#include <string>

#include "datum/inspect/attribution.hpp"
#include "datum/model/reference.hpp"
#include "datum/os/files.hpp"

namespace datum::program {

// Entries since `since` and older ones of the same files; the package that owns `target`, if it is
// a path. Never fails: what could not be read is listed.
[[nodiscard]] inspect::LogsRead read_machine_logs(os::Files& files, const os::Handle& root,
                                                  const model::Target& target, WallNs since);

}  // namespace datum::program
