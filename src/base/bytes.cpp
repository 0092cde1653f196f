#include "datum/base/bytes.hpp"

#include <cstdio>
#include <cstdlib>

#include "datum/base/assert.hpp"
#include "datum/base/ids.hpp"

namespace datum {

void assert_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "datum: assertion failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}

std::string to_hex(ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const auto byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    text.push_back(kDigits[value >> 4]);
    text.push_back(kDigits[value & 15]);
  }
  return text;
}

static int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

template <class Value>
static std::optional<Value> find_hex_value(std::string_view text) {
  if (text.size() != Value::kSize * 2) return std::nullopt;
  Value value;
  for (std::size_t i = 0; i < Value::kSize; ++i) {
    const int high = digit_value(text[2 * i]);
    const int low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    value.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return value;
}

std::optional<Digest> Digest::find_hex(std::string_view text) {
  return find_hex_value<Digest>(text);
}

std::optional<Id128> Id128::find_hex(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '-') plain.push_back(c);
  return find_hex_value<Id128>(plain);
}

}  // namespace datum
