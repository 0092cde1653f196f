// Which characters no terminal may get from outside.
#pragma once

#include <cstdint>

#include "datum/base/utf8.hpp"

namespace datum::text {

// Whatever a terminal might obey, or use to show text in another order than it is stored in.
[[nodiscard]] constexpr bool is_unsafe(std::uint32_t value) {
  return is_control(value) || is_bidirectional_control(value) || value == 0xFEFF;
}

}  // namespace datum::text
