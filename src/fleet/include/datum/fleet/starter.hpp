// `datum init`: a small fleet to begin with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::fleet {

struct StarterFile {
  std::string path;  // relative to the fleet's root
  std::string text;
};
// A Fleet, one Host of that name, one Layer, and one resource that harms nobody. The name must be a
// document name (`invalid_argument`).
[[nodiscard]] Result<std::vector<StarterFile>> starter_fleet(std::string_view host);

// Writes them into the folder `root`, which is made if it is missing and must be empty (dot names
// aside): `not_empty` names what lies there, `already_exists` where that is a fleet, and nothing
// was written. Durable on return. Returns the paths written.
[[nodiscard]] Result<std::vector<std::string>> write_starter_fleet(os::Files& files,
                                                                   const std::string& root,
                                                                   std::string_view host);

}  // namespace datum::fleet
