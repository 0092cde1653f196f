// Whether a file or folder that steers a host can be changed by nobody but root. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::config {

// Owned by `trusted_uid` (root: 0) and writable for neither group nor others. An access list shows
// in the group bits, so it is covered. Otherwise `refused`, with the command that mends it.
[[nodiscard]] Status check_trusted(const os::FileStat& stat, std::string_view path,
                                   std::uint32_t trusted_uid);

}  // namespace datum::config
