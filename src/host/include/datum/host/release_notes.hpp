// What the rollback script and the service tell each other in plain files
// (docs/formats/release.md). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace datum::host {

// More is no note of the script's.
inline constexpr std::size_t kMaxReleaseNote = std::size_t{16} * 1024;

// `rolled-back`: the version `to` was put back in the place of `from`.
struct RolledBackNote {
  std::string from, to, cause;
  bool operator==(const RolledBackNote&) const = default;
};
// Nothing where one of the three is missing or said twice: it is not whole.
[[nodiscard]] std::optional<RolledBackNote> parse_rolled_back(std::string_view text);

// Name of the folder in which a version is kept: what is no letter, digit or one of ". + ~ -" is _.
[[nodiscard]] std::string release_folder(std::string_view version);

}  // namespace datum::host
