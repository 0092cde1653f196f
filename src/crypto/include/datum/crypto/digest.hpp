// Digests and random bytes over libcrypto; every function may be called from any thread. Nothing
// here can fail for lack of memory without ending the process.
#pragma once

#include <array>
#include <cstdint>

#include "datum/base/bytes.hpp"
#include "datum/base/ids.hpp"

namespace datum::crypto {

[[nodiscard]] Digest sha256(ByteView bytes);
// HMAC-SHA-256 with a key of any length.
[[nodiscard]] Digest hmac_sha256(ByteView key, ByteView bytes);

// SHA-256 in pieces. Not thread-safe; a copy goes on from where the original stands. After `finish`
// it starts anew. Needs no allocation: small values are hashed by the ten thousand.
class Sha256 {
 public:
  Sha256();

  void update(ByteView bytes);
  [[nodiscard]] Digest finish();

 private:
  static constexpr std::size_t kContextBytes = 128;  // of libcrypto's context, at most
  alignas(8) std::array<std::byte, kContextBytes> context_;
};

// CRC-32C (Castagnoli), as in RFC 3720 B.4: crc32c("123456789") is 0xE3069283. Continue a running
// value by passing it as `seed`.
[[nodiscard]] std::uint32_t crc32c(ByteView bytes, std::uint32_t seed = 0);
// The same value without the processor's help, for machines that have none.
[[nodiscard]] std::uint32_t crc32c_by_table(ByteView bytes, std::uint32_t seed = 0);

// Fills `out` from the kernel's generator.
void fill_random(MutableByteView out);
[[nodiscard]] Id128 random_id();

}  // namespace datum::crypto
