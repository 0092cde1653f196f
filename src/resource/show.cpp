// Escaping and cutting of texts for people.
#include "show.hpp"

#include <cstdio>

#include "datum/core/observation.hpp"

namespace datum::resource {

namespace {

constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// Length of the well-formed UTF-8 sequence at the beginning of `bytes`, 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  if ((first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F)) return 0;
  if ((first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F)) return 0;
  return length;
}

std::string escaped(char byte) {
  char text[5];
  std::snprintf(text, sizeof text, "\\x%02x",
                static_cast<unsigned>(static_cast<std::uint8_t>(byte)));
  return text;
}

}  // namespace

std::string shown(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const auto length = sequence_length(bytes);
    const auto byte = static_cast<std::uint8_t>(bytes[0]);
    const bool plain = length > 1 || (length == 1 && byte >= 0x20 && byte != 0x7f);
    const auto piece = plain ? std::string(bytes.substr(0, length)) : escaped(bytes[0]);
    if (text.size() + piece.size() > core::kMaxDriftText - kEllipsis.size())
      return text.append(kEllipsis);
    text += piece;
    bytes.remove_prefix(plain ? length : 1);
  }
  return text;
}

std::string shown_mode(std::uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode));
  return text;
}

std::string shown_content(const Digest& digest, std::uint64_t size) {
  const auto bytes = std::to_string(size) + (size == 1 ? " byte" : " bytes");
  if (digest.empty()) return bytes;
  return "sha256:" + digest.hex() + " (" + bytes + ")";
}

std::string word_of(bool flag) {
  return flag ? "true" : "false";
}

}  // namespace datum::resource
