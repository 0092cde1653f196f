// Who enabled a unit until the next boot. Internal to resource.
#pragma once

#include <string_view>

#include "../sight.hpp"

namespace datum::resource {

// Whether a generator alone wants the unit: a link to it lies in a folder that generators write
// anew at each boot, and none in the one that `systemctl enable --runtime` writes. The service
// manager calls both "enabled-runtime". False where that cannot be seen.
[[nodiscard]] bool is_wanted_by_generator(Sight& sight, std::string_view unit);

}  // namespace datum::resource
