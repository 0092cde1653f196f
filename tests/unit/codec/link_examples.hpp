// One example of every message of a link, and of what is signed, with every member away from its
// default.
#pragma once

#include <string>
#include <vector>

#include "datum/core/link_message.hpp"

namespace datum::test {

// In the order of core::LinkMessage.
[[nodiscard]] std::vector<core::LinkMessage> link_examples();
[[nodiscard]] core::DeclarationBody declaration_body_example();
[[nodiscard]] core::OrderBody order_body_example();

// As in examples.hpp, of the messages.
[[nodiscard]] std::vector<std::string> incomplete_link_tables();
[[nodiscard]] std::vector<std::string> unfilled_link_members();

}  // namespace datum::test
