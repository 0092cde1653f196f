#include "datum/yaml/scalar.hpp"

#include <utf8proc.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "datum/base/assert.hpp"
#include "datum/base/utf8.hpp"
#include "scan.hpp"

namespace datum::yaml {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view skip_digits(std::string_view text) {
  while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view skip_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const auto word : words)
    if (text == word) return true;
  return false;
}

bool is_core_integer(std::string_view text) {
  if (text.starts_with("0o"))
    return text.size() > 2 && text.find_first_not_of("01234567", 2) == std::string_view::npos;
  if (text.starts_with("0x"))
    return text.size() > 2 &&
           text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
  const auto digits = skip_sign(text);
  return !digits.empty() && skip_digits(digits).empty();
}

bool is_core_float(std::string_view text) {
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return true;
  text = skip_sign(text);
  if (is_one_of(text, {".inf", ".Inf", ".INF"})) return true;
  auto rest = skip_digits(text);
  bool digits = rest.size() < text.size();
  if (!rest.empty() && rest.front() == '.') {
    const auto fraction = rest.substr(1);
    rest = skip_digits(fraction);
    digits = digits || rest.size() < fraction.size();
  }
  if (!digits) return false;
  if (rest.empty()) return true;
  if (rest.front() != 'e' && rest.front() != 'E') return false;
  const auto exponent = skip_sign(rest.substr(1));
  return !exponent.empty() && skip_digits(exponent).empty();
}

bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

// `text` is valid UTF-8.
bool is_normalized(std::string_view text) {
  utf8proc_uint8_t* composed = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) return false;
  const bool same = std::string_view(reinterpret_cast<const char*>(composed),
                                     static_cast<std::size_t>(size)) == text;
  std::free(composed);  // NOLINT: utf8proc_map allocates with malloc
  return same;
}

std::string escaped(std::uint32_t value) {
  switch (value) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case 0:
      return "\\0";
    default:
      break;
  }
  std::array<char, 16> buffer{};
  const char* format = value < 0x100 ? "\\x%02X" : value < 0x10000 ? "\\u%04X" : "\\U%08X";
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

bool needs_escape(std::uint32_t value) {
  return value == '"' || value == '\\' || is_control(value) || is_bidirectional_control(value) ||
         value == 0xFEFF || value == 0xFFFE || value == 0xFFFF;
}

}  // namespace

std::string_view to_string(ScalarType type) {
  static constexpr std::array<std::string_view, 5> kNames = {"text", "a number", "a boolean",
                                                             "null", "a number"};
  const auto index = static_cast<std::size_t>(type);
  DATUM_ASSERT(index < kNames.size());
  return kNames[index];
}

ScalarType classify_plain(std::string_view text) {
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"})) return ScalarType::null;
  // Numbers and the words below begin with one of these; most text does not.
  if (std::string_view("0123456789+-.tTfF").find(text.front()) == std::string_view::npos)
    return ScalarType::string;
  if (is_one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"}))
    return ScalarType::boolean;
  if (is_core_integer(text)) return ScalarType::integer;
  if (is_core_float(text)) return ScalarType::floating;
  return ScalarType::string;
}

ScalarType classify(const Node& scalar) {
  DATUM_ASSERT(scalar.is_scalar());
  return scalar.style() == Style::plain ? classify_plain(scalar.text()) : ScalarType::string;
}

std::optional<bool> find_boolean(const Node& node) {
  if (!node.is_scalar() || node.style() != Style::plain) return std::nullopt;
  if (node.text() == "true") return true;
  if (node.text() == "false") return false;
  return std::nullopt;
}

std::optional<std::int64_t> find_integer(const Node& node) {
  if (!node.is_scalar() || node.style() != Style::plain) return std::nullopt;
  const auto text = node.text();
  const auto digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_null(const Node& node) {
  return node.is_scalar() && node.style() == Style::plain &&
         classify_plain(node.text()) == ScalarType::null;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto point = decode_utf8(text);
    if (!point.valid) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    if (needs_escape(point.value)) {
      out += escaped(point.value);
    } else {
      out += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return out + '"';
}

std::optional<std::string> find_single_line_fault(std::string_view text) {
  for (auto rest = text; !rest.empty();) {
    const auto point = decode_utf8(rest);
    if (!point.valid) return "not valid UTF-8";
    if (is_control(point.value))
      return "holds the control character " + code_point_name(point.value);
    if (is_bidirectional_control(point.value))
      return "holds the bidirectional control " + code_point_name(point.value) +
             ", which changes the order in which text is shown";
    if (point.value == 0xFEFF) return "holds a byte-order mark (U+FEFF)";
    rest.remove_prefix(point.size);
  }
  if (!is_ascii(text) && !is_normalized(text))
    return "is not in the Unicode normal form NFC (accents must be composed characters)";
  return std::nullopt;
}

}  // namespace datum::yaml
