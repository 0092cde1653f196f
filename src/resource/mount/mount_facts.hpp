// What is there of a Mount: its lines in fstab, and what the kernel has mounted at its path. Only
// looks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../whole_text.hpp"
#include "fstab.hpp"

namespace datum::resource {

inline constexpr std::string_view kFstab = "/etc/fstab";

struct MountFacts {
  std::optional<WholeText> fstab;  // nothing: the file is missing
  std::vector<FstabLine> lines;
  bool live = false;               // the running kernel is that of the root, and was asked
  std::optional<Mounted> mounted;  // nothing: not mounted, or not asked
};
[[nodiscard]] Result<MountFacts> look_at_mount(Sight& sight, std::string_view path);
[[nodiscard]] WantedMount wanted_mount(const model::Resource& mount);

// Whether the declared device is the mounted one, by the kernel's number for it; nothing where that
// cannot be told: its name leads nowhere here, or it has no number of its own.
[[nodiscard]] std::optional<bool> is_mounted_device(Sight& sight, std::string_view device,
                                                    const Mounted& mounted);

}  // namespace datum::resource
