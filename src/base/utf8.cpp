#include "datum/base/utf8.hpp"

#include <array>

namespace datum {

CodePoint decode_utf8(std::string_view text) {
  // By number of continuation bytes: the bits of the lead and the least value that needs so many.
  constexpr std::array<std::uint32_t, 4> kLeadBits = {0x7F, 0x1F, 0x0F, 0x07};
  constexpr std::array<std::uint32_t, 4> kLeast = {0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<std::uint8_t>(text.front());
  const CodePoint invalid{lead, 1, false};
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC0 || lead >= 0xF8) return invalid;
  const std::size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  if (text.size() <= more) return invalid;
  std::uint32_t value = lead & kLeadBits[more];
  for (std::size_t i = 1; i <= more; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return invalid;
    value = value << 6U | (byte & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[more] || surrogate || value > 0x10FFFF) return invalid;
  return {value, more + 1, true};
}

}  // namespace datum
