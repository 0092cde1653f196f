// The service manager of this machine: systemd, over one connection by libsystemd, which is looked
// for when it is first needed.
#pragma once

#include <memory>

#include "datum/os/units.hpp"

namespace datum::os_linux {

[[nodiscard]] std::unique_ptr<os::Units> make_units();

}  // namespace datum::os_linux
