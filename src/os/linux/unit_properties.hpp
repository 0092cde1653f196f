// Units as systemd's properties tell them, and a transient service as properties ask for it.
// Internal to os/linux.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bus.hpp"
#include "datum/os/units.hpp"

namespace datum::os_linux {

// Properties of all units in one batch, then the state of the unit files by their canonical names.
[[nodiscard]] Result<std::vector<os::Unit>> query_units(Bus& bus,
                                                        std::span<const std::string> names,
                                                        Deadline deadline);
// The arguments of StartTransientUnit.
void write_transient(Message& call, const os::TransientService& service);

}  // namespace datum::os_linux
