// Where systemd's validator looks at a staged unit: a folder beside the target, with the unit under
// its own name, or with the unit that a staged drop-in belongs to and the drop-in in place.
#pragma once

#include "work.hpp"

namespace datum::resource {

// Removes the folder of that name and the little that a shadow has in it: files and one level of
// folders. No error if it is not there.
[[nodiscard]] Status remove_shadow(os::Files& files, const os::Handle& parent,
                                   const std::string& name);

// Makes it from the staged file, calls `check` with the unit's path and the environment that makes
// systemd prefer the shadow, and removes it whatever happened.
[[nodiscard]] Status with_unit_shadow(
    Bench& bench, Work& work,
    const std::function<Status(const std::string& unit, const std::string& environment)>& check);

}  // namespace datum::resource
