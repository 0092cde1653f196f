// A service manager that has one unit, whose story lies in a file beside the store: in a process of
// the self-test it stands where the machine's own would, so that a notification can be raised,
// delivered and cut off without touching a unit of the machine. The unit outlives the processes
// that ask it, and can tell whether it was reloaded, as a real one can.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datum/os/units.hpp"

namespace datum::selftest {

// Name of that file in the folder of a life.
inline constexpr std::string_view kUnitStory = "unit";

// The unit `kUnit` of the scenario: enabled, running, reloadable. A reload appends a line to
// `story`. Everything else that is asked of it, and every other unit, is refused.
[[nodiscard]] std::unique_ptr<os::Units> make_kept_unit(std::string story);
// How often the unit was reloaded, by its story alone; 0 where there is none.
[[nodiscard]] std::uint64_t count_reloads(const std::string& story);

}  // namespace datum::selftest
