// A whole small file of the configuration folder in memory, for this module only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::config {

// What is left of `file`, at most `limit` bytes: `limit_exceeded` beyond.
[[nodiscard]] Result<std::string> read_small_file(os::Files& files, const os::Handle& file,
                                                  std::size_t limit);

}  // namespace datum::config
