// Code points out of bytes, for this module only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datum::yaml {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;  // bytes; 0: these bytes are not UTF-8
};

// The code point at the beginning of `text`, which is not empty. Overlong forms, surrogates and
// values above U+10FFFF are not UTF-8.
[[nodiscard]] CodePoint decode(std::string_view text);

[[nodiscard]] std::string code_point_name(std::uint32_t value);  // "U+200E"

// C0, DEL, C1, and the two separators that some programs take for a new line.
[[nodiscard]] constexpr bool is_control(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x2028 || value == 0x2029;
}
// Those that change the order in which text is shown without being seen themselves.
[[nodiscard]] constexpr bool is_bidirectional_control(std::uint32_t value) {
  return value == 0x061C || value == 0x200E || value == 0x200F ||
         (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

}  // namespace datum::yaml
