// What is wrong with, or worth knowing about, a fleet: a place in a file, what stands there, what
// was expected, what to do, and which hosts it concerns. Values only.
#pragma once

#include <string>
#include <vector>

#include "datum/yaml/yaml.hpp"

namespace datum::fleet {

// Findings listed of one kind; the last one then counts those left out. Nobody reads more.
inline constexpr std::size_t kMaxFindings = 1'000;

struct Finding {
  yaml::Diagnostic diagnostic;  // file relative to the fleet's root; message; hint: what to do
  std::vector<std::string>
      hosts;  // that it hits, sorted; empty where it concerns the fleet as such
};
using Findings = std::vector<Finding>;

// "file:line:column: message", then the hint and the hosts, each indented on a line of its own. No
// newline at the end.
[[nodiscard]] std::string to_string(const Finding& finding);

}  // namespace datum::fleet
