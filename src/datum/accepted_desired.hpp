// The declaration that a node has accepted, as what a command by hand is about where it names
// nothing else.
#pragma once

#include <optional>
#include <string>

#include "arguments.hpp"
#include "datum/core/facts.hpp"
#include "datum/program/desired.hpp"

namespace datum::program {

struct AcceptedDesired {
  Desired desired;
  core::DeclarationId declaration;
  std::uint32_t allowed_removals = 0;
  std::string host;  // that the store is bound to
};

// From the store of these arguments; nothing where there is no store, or none was accepted in it.
[[nodiscard]] Result<std::optional<AcceptedDesired>> find_accepted(os::Files& files,
                                                                   const Arguments& arguments);

}  // namespace datum::program
