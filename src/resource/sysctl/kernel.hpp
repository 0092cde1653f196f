// One parameter of the running kernel, as a file below /proc/sys of the root. Only a root that is
// "/" has a running kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../sight.hpp"

namespace datum::resource {

// Whether the running kernel is that of the root.
[[nodiscard]] bool is_live(const Machine& machine);
// "net.ipv4.conf.eth0/100.forwarding" is /proc/sys/net/ipv4/conf/eth0.100/forwarding.
[[nodiscard]] std::string kernel_path(std::string_view key);
// The value with its white space collapsed; nothing if the kernel has no such parameter. Errors as
// for opening and reading a file: some parameters can only be written.
[[nodiscard]] Result<std::optional<std::string>> read_kernel(Sight& sight, std::string_view key);
// In one write, which the kernel takes or refuses as a whole. `not_found`: it has no such
// parameter.
[[nodiscard]] Status write_kernel(Sight& sight, std::string_view key, std::string_view value);

// Runs of white space as one space, none at either end: the form in which values are compared.
[[nodiscard]] std::string collapsed(std::string_view text);

}  // namespace datum::resource
