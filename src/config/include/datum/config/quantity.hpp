// Durations and sizes as configuration and arguments write them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace datum::config {

// A number without sign or leading zeros and one unit, nothing between: "500ms", "45s", "30m",
// "2h", "400d", up to a hundred years; "0s" is one.
[[nodiscard]] std::optional<std::int64_t> find_duration_ns(std::string_view text);
// In the largest unit that is exact. For what `find_duration_ns` can return.
[[nodiscard]] std::string format_exact_duration(std::int64_t ns);

// The same for "512KiB", "1GiB", "0B".
[[nodiscard]] std::optional<std::uint64_t> find_size(std::string_view text);
[[nodiscard]] std::string format_exact_size(std::uint64_t bytes);

}  // namespace datum::config
