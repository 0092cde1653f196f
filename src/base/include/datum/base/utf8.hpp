// Code points out of bytes that may or may not be UTF-8. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace datum {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;  // bytes
  bool valid = true;     // false: one byte that is not UTF-8 here; `value` is that byte
};

// At the beginning of `text`, which is not empty. Overlong forms, surrogates and values above
// U+10FFFF are not UTF-8.
[[nodiscard]] CodePoint decode_utf8(std::string_view text);

// C0, DEL, C1, and the two separators that some programs take for a new line.
[[nodiscard]] constexpr bool is_control(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x2028 || value == 0x2029;
}
// Those that change the order in which text is shown without being seen themselves.
[[nodiscard]] constexpr bool is_bidirectional_control(std::uint32_t value) {
  return value == 0x061C || value == 0x200E || value == 0x200F ||
         (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

}  // namespace datum
