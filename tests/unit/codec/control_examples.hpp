// One example of every event of the control plane, with every member away from its default.
#pragma once

#include <string>
#include <vector>

#include "datum/core/control_event.hpp"

namespace datum::test {

// In the order of core::control::Event.
[[nodiscard]] std::vector<core::control::Event> control_examples();

// As in examples.hpp, of these events.
[[nodiscard]] std::vector<std::string> incomplete_control_tables();
[[nodiscard]] std::vector<std::string> unfilled_control_members();

}  // namespace datum::test
