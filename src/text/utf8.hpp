// Code points out of bytes, for this module only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace datum::text {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;  // bytes
  bool valid = true;     // false: one byte that is not UTF-8 here; `value` is that byte
};

// At the beginning of `text`, which is not empty. Overlong forms, surrogates and values above
// U+10FFFF are not UTF-8.
[[nodiscard]] CodePoint decode(std::string_view text);

// Whatever a terminal might obey or use to show text in another order than it is stored in.
[[nodiscard]] constexpr bool is_unsafe(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x061C || value == 0x200E ||
         value == 0x200F || (value >= 0x2028 && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069) || value == 0xFEFF;
}

}  // namespace datum::text
