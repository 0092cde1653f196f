// Extended attributes of an open file: ACLs and security labels are attributes like any other.
#pragma once

#include <string_view>
#include <vector>

#include "datum/os/files.hpp"

namespace datum::os_linux {

// Sorted by name; empty where the file system has none.
[[nodiscard]] Result<std::vector<os::Attribute>> read_attributes(int descriptor);
[[nodiscard]] Status set_attribute(int descriptor, const os::Attribute& attribute);
[[nodiscard]] Status remove_attribute(int descriptor, std::string_view name);
[[nodiscard]] Status carry_flags(int from, int to);

}  // namespace datum::os_linux
