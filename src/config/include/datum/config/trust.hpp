// Whether a file or folder that steers a host can be changed by nobody but root.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::config {

// Owned by `trusted_uid` (root: 0) and writable for neither group nor others. An access list shows
// in the group bits, so it is covered. Otherwise `refused`, with the command that mends it.
[[nodiscard]] Status check_trusted(const os::FileStat& stat, std::string_view path,
                                   std::uint32_t trusted_uid);

// The same of a whole way: the folder `path` (absolute) and every one above it, as far as they
// exist, belong to root or to `trusted_uid` and nobody else can write them. Above the folder itself
// a sticky one (/tmp) will do: nobody renames there what is not theirs. `refused` names the folder,
// its owner, and what to do. Blocks on the disk; any thread.
[[nodiscard]] Status check_way(os::Files& files, const std::string& path,
                               std::uint32_t trusted_uid);

}  // namespace datum::config
