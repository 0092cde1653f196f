// Whether the machine waits for a restart, and for what. Looks at files alone; restarts nothing.
#pragma once

#include <optional>
#include <string>

#include "datum/resource/observer.hpp"

namespace datum::resource {

// What asks for a restart, in words: "/run/reboot-required (libc6, linux-image-amd64)" as Debian's
// packages leave it, and "kernel 6.1.0-41-amd64 is installed, 6.1.0-40-amd64 runs" where the newest
// kernel of the running one's flavour in /boot is another one. Empty if nothing does. Nothing where
// it cannot be told: under another root, or what is there cannot be read. A kernel that is not this
// machine's own (a container's) asks for none. Blocks: of a pool thread.
[[nodiscard]] std::optional<std::string> find_reboot_reason(const Machine& machine);

}  // namespace datum::resource
