// datum history.
#pragma once

#include "arguments.hpp"

namespace datum::program {

// Prints the records about one target and the windows of its drifts. The exit code.
[[nodiscard]] Result<int> run_history(const Arguments& arguments);

}  // namespace datum::program
