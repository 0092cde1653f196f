// One example of every event, plan and state, with every member away from its default. A value
// follows from the member's name alone, so a new member changes no other and golden bytes stay.
#pragma once

#include <string>
#include <vector>

#include "datum/core/event.hpp"
#include "datum/core/plan.hpp"
#include "datum/core/state.hpp"
#include "datum/core/witness.hpp"

namespace datum::test {

struct EventExample {
  std::uint16_t kind = 0;
  std::string name;  // "passStarted"
  core::Event event;
};
// In the order of core::Event.
[[nodiscard]] std::vector<EventExample> event_examples();

// Some actions in a valid order, identities included.
[[nodiscard]] core::Plan plan_example();
[[nodiscard]] core::State state_example();
[[nodiscard]] core::Witness witness_example();

// Names of structs whose table of fields does not name each of their members once.
[[nodiscard]] std::vector<std::string> incomplete_tables();
// Names of members that the examples leave at their default.
[[nodiscard]] std::vector<std::string> unfilled_members();

// Every member as text, for comparing without ==.
[[nodiscard]] std::string dump(const core::Event& event);

}  // namespace datum::test
