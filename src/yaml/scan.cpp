#include "scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "corrected_line.hpp"
#include "datum/base/utf8.hpp"

namespace datum::yaml {

// Bytes that need no second look: printable ASCII, tab and newline.
static constexpr auto make_plain_table() {
  std::array<bool, 256> table{};
  for (std::size_t i = 0x20; i < 0x7F; ++i) table[i] = true;
  table['\t'] = table['\n'] = true;
  return table;
}

// How many bytes at the beginning need no second look because no byte of their words of eight is a
// control character, DEL or part of a multi-byte character. Borrows cross bytes only above one that
// is found anyway.
static std::size_t count_printable(std::string_view bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes * 0x80;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const auto control = (word - kOnes * 0x20) & ~word;
    const auto as_del = word ^ (kOnes * 0x7F);
    const auto del = (as_del - kOnes) & ~as_del;
    if (((control | del | word) & kHigh) != 0) break;
  }
  return at;
}

std::string code_point_name(std::uint32_t value) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "U+%04X", value);
  return buffer.data();
}

static ByteFault describe_code_point(std::uint32_t value, std::size_t offset) {
  if (value == '\r')
    return {offset, "a carriage return is not allowed",
            "save the file with Unix line ends (sed -i 's/\\r$//' FILE)"};
  if (value == 0xFEFF)
    return {offset, "a byte-order mark (U+FEFF) is not allowed",
            "save the file as UTF-8 without a byte-order mark"};
  if (value == 0x85 || value == 0x2028 || value == 0x2029)
    return {offset, "the line separator " + code_point_name(value) + " is not allowed",
            "end lines with a newline (U+000A) only"};
  return {offset, "the control character " + code_point_name(value) + " is not allowed",
          value == 0 ? "save the file as UTF-8" : ""};
}

static ByteFault describe_bad_byte(std::uint8_t byte, std::size_t offset) {
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%02X", byte);
  return {offset, std::string("the byte ") + hex.data() + " is not valid UTF-8 here",
          "save the file as UTF-8"};
}

std::optional<ByteFault> find_byte_fault(std::string_view bytes) {
  static constexpr auto kPlain = make_plain_table();
  std::size_t at = 0;
  while (true) {
    at += count_printable(bytes.substr(at));
    // At most to the end of the word that has a newline in it, and on from there by words.
    const auto end = std::min(bytes.size(), at + sizeof(std::uint64_t));
    while (at < end && kPlain[static_cast<std::uint8_t>(bytes[at])]) ++at;
    if (at == end && at < bytes.size()) continue;
    if (at == bytes.size()) return std::nullopt;
    const auto point = decode_utf8(bytes.substr(at));
    if (!point.valid) return describe_bad_byte(static_cast<std::uint8_t>(bytes[at]), at);
    if (is_control(point.value) || point.value == 0xFEFF || point.value == 0xFFFE ||
        point.value == 0xFFFF)
      return describe_code_point(point.value, at);
    at += point.size;
  }
}

Position position_of(std::string_view bytes, std::size_t offset, std::uint32_t first_line) {
  const auto before = bytes.substr(0, offset);
  const auto newlines = std::count(before.begin(), before.end(), '\n');
  const auto line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  // Bytes before the fault are valid UTF-8.
  return {first_line + static_cast<std::uint32_t>(newlines),
          static_cast<std::uint32_t>(character_count(line)) + 1};
}

}  // namespace datum::yaml
