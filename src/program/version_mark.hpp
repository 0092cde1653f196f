// The text in the note of this program's file.
#pragma once

#include <string_view>

namespace datum::program {

// Lines `datum-version=…` and `datum-level=…`.
[[nodiscard]] std::string_view version_mark();

}  // namespace datum::program
