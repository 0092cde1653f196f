#include "unicode.hpp"

#include <array>
#include <cstdio>

namespace datum::yaml {

static constexpr bool is_continuation(std::uint32_t byte) {
  return (byte & 0xC0) == 0x80;
}

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead >= 0xC2 && lead <= 0xDF && is_continuation(byte(1)))
    return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if ((lead & 0xF0) == 0xE0 && is_continuation(byte(1)) && is_continuation(byte(2))) {
    const std::uint32_t value = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF)) return {value, 3};
  }
  if ((lead & 0xF8) == 0xF0 && is_continuation(byte(1)) && is_continuation(byte(2)) &&
      is_continuation(byte(3))) {
    const std::uint32_t value =
        (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (value >= 0x10000 && value <= 0x10FFFF) return {value, 4};
  }
  return {lead, 0};
}

std::string code_point_name(std::uint32_t value) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "U+%04X", value);
  return buffer.data();
}

}  // namespace datum::yaml
