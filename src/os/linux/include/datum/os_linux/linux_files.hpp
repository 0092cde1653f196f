// The real file system.
#pragma once

#include <memory>

#include "datum/os/files.hpp"

namespace datum::os_linux {
[[nodiscard]] std::unique_ptr<os::Files> make_files();
}
