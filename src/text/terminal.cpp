#include "datum/text/terminal.hpp"

#include <array>
#include <cstdio>

#include "datum/base/assert.hpp"
#include "datum/base/utf8.hpp"
#include "unsafe.hpp"

namespace datum::text {
namespace {

enum class Layout : bool { one_line, lines };

std::string hex_escape(const char* format, std::uint32_t value) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

void append_escaped(std::string& out, const CodePoint& point, Layout layout) {
  const bool keeps = layout == Layout::lines;
  if (!point.valid) {
    out += hex_escape("\\x%02x", point.value);
  } else if (point.value == '\n') {
    out += keeps ? "\n" : "\\n";
  } else if (point.value == '\t') {
    out += keeps ? "\t" : "\\t";
  } else if (point.value == '\\') {
    out += keeps ? "\\" : "\\\\";
  } else {
    out += hex_escape(point.value < 0x80 ? "\\x%02x" : "\\u%04x", point.value);
  }
}

std::string escape_as(std::string_view text, Layout layout) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto point = decode_utf8(text);
    if (!point.valid || point.value == '\\' || is_unsafe(point.value)) {
      append_escaped(out, point, layout);
    } else {
      out += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return out;
}

std::string_view colour_code(Colour colour) {
  constexpr std::array<std::string_view, 7> kCodes = {"", "31", "32", "33", "34", "1", "2"};
  const auto index = static_cast<std::size_t>(colour);
  DATUM_ASSERT(index < kCodes.size());
  return kCodes[index];
}

}  // namespace

std::string escape(std::string_view untrusted) {
  return escape_as(untrusted, Layout::one_line);
}

std::string escape_lines(std::string_view untrusted) {
  return escape_as(untrusted, Layout::lines);
}

std::size_t width(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(decode_utf8(text).size);
  return count;
}

std::string fit(std::string_view text, std::size_t columns) {
  if (columns == 0) return {};
  std::size_t end = 0;         // of what fits
  std::size_t end_before = 0;  // of one code point less
  for (std::size_t count = 0; end < text.size(); ++count) {
    if (count == columns) return std::string(text.substr(0, end_before)) + "…";
    end_before = end;
    end += decode_utf8(text.substr(end)).size;
  }
  return std::string(text);
}

std::string Painter::paint(Colour colour, std::string_view text) const {
  if (!enabled_ || colour == Colour::none || text.empty()) return std::string(text);
  std::string out = "\x1b[";
  out += colour_code(colour);
  out += 'm';
  out += text;
  return out + "\x1b[0m";
}

}  // namespace datum::text
