// Strong identifiers: values that must not be mixed up. All are plain values without ownership.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/bytes.hpp"

namespace datum {

// Place of a record in a journal: dense, from 1. 0 means "none".
using Seq = std::uint64_t;
// A pass is named by the sequence of its `passStarted` record. 0 means "none".
using PassId = Seq;

// SHA-256 or an HMAC of that width. All zero means "none".
struct Digest {
  static constexpr std::size_t kSize = 32;
  std::array<std::uint8_t, kSize> bytes{};

  auto operator<=>(const Digest&) const = default;
  [[nodiscard]] bool empty() const { return *this == Digest{}; }
  [[nodiscard]] ByteView view() const {
    return {reinterpret_cast<const std::byte*>(bytes.data()), kSize};
  }
  [[nodiscard]] std::string hex() const { return to_hex(view()); }
  // Reads 64 hexadecimal digits, either case.
  [[nodiscard]] static std::optional<Digest> find_hex(std::string_view text);
};

// 16 random bytes: a store, a boot, a node. All zero means "none".
struct Id128 {
  static constexpr std::size_t kSize = 16;
  std::array<std::uint8_t, kSize> bytes{};

  auto operator<=>(const Id128&) const = default;
  [[nodiscard]] bool empty() const { return *this == Id128{}; }
  [[nodiscard]] ByteView view() const {
    return {reinterpret_cast<const std::byte*>(bytes.data()), kSize};
  }
  [[nodiscard]] std::string hex() const { return to_hex(view()); }
  // Reads 32 hexadecimal digits, with or without the dashes of a UUID.
  [[nodiscard]] static std::optional<Id128> find_hex(std::string_view text);
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t value = 0;
    std::memcpy(&value, digest.bytes.data(), sizeof value);
    return value;
  }
};

}  // namespace datum
