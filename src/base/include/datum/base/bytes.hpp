// Owned and borrowed bytes, and their conversion to and from text. No encoding is implied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace datum {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

[[nodiscard]] inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] inline Bytes to_bytes(std::string_view text) {
  const auto view = as_bytes(text);
  return {view.begin(), view.end()};
}

// Little-endian access for formats that are written by hand. `at` must hold sizeof(T) bytes.
template <class T>
[[nodiscard]] T load_le(const std::byte* at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | (static_cast<T>(static_cast<std::uint8_t>(at[i])) << (8 * i)));
  return value;
}
template <class T>
void store_le(std::byte* at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    at[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

// Lower-case hexadecimal, two characters a byte.
[[nodiscard]] std::string to_hex(ByteView bytes);

}  // namespace datum
