// Augeas, by libaugeas, which is looked for when it is first needed: a machine without it is an
// ordinary machine.
#pragma once

#include <memory>
#include <string>

#include "datum/os/lenses.hpp"

namespace datum::os_linux {

inline constexpr const char* kLensLibrary = "libaugeas.so.0";
// It remembers the text that was looked at last, with its tree, for as long as it lives. Another
// library is a test's.
[[nodiscard]] std::unique_ptr<os::Lenses> make_lenses(std::string library = kLensLibrary);

}  // namespace datum::os_linux
