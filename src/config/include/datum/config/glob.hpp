// Patterns over references: `*` stands for any characters, `?` for one, everything else, brackets
// included, for itself: `File[/etc/nginx/*]`, `Package[*]`, `*`. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace datum::config {

// Longer than any reference.
inline constexpr std::size_t kMaxGlob = 512;

// Whether `glob` matches all of `text`, byte by byte. At most the product of both sizes in steps.
[[nodiscard]] bool matches(std::string_view glob, std::string_view text);
[[nodiscard]] bool matches_any(std::span<const std::string> globs, std::string_view text);

// Why `glob` can match no reference at all, in words; nullopt if it can.
[[nodiscard]] std::optional<std::string> find_glob_fault(std::string_view glob);

}  // namespace datum::config
