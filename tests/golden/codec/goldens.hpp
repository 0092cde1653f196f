// Everything whose bytes are held by a golden file: name and what this program writes today.
#pragma once

#include <map>
#include <string>

#include "datum/base/bytes.hpp"

namespace datum::test {

// "passStarted" and so on for every event, "control-nodeEnrolled" for those of the control plane;
// "plan", "checkpoint", "manifest" (the part) and "manifest-file".
[[nodiscard]] std::map<std::string, Bytes> golden_bytes();

}  // namespace datum::test
