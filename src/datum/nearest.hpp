// The word that was perhaps meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace datum::program {

// The one of `names` that takes the fewest changes of a letter (two neighbours exchanged are one),
// if that is at most a third of its length; empty otherwise. The first of several.
[[nodiscard]] std::string find_nearest(std::string_view word,
                                       const std::vector<std::string>& names);

}  // namespace datum::program
