// What the service adds to a status that follows from the store: that it cannot be written. Pure.
#pragma once

#include "datum/core/status.hpp"

namespace datum::host {

// The flag, and unknown in the place of converged: what was seen last may be long ago.
void add_unrecorded(core::HostStatus& status);

}  // namespace datum::host
