// Bytes under a passphrase: a key by scrypt (RFC 7914), chunks by ChaCha20-Poly1305 (RFC 8439),
// each bound to its place and to whether it is the last. What is cut off, repeated, put elsewhere
// or changed in any bit is no chunk. Format of a file of them: docs/formats/backup.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::crypto {

// One direction of one file: chunks are sealed, or opened, in their order. Moves; the key is wiped.
class ChunkSeal {
 public:
  static constexpr std::size_t kSaltSize = 16;
  static constexpr std::size_t kTagSize = 16;  // that a sealed chunk is longer
  // 2^17 rounds of 1 KiB: 128 MiB and half a second for each guess.
  static constexpr std::uint8_t kCost = 17;
  static constexpr std::uint8_t kMostCost = 20;  // what is asked of whoever opens: 1 GiB

  // Blocks for about half a second. `salt` is kSaltSize random bytes, new for each file. Errors:
  // `invalid_argument` for an empty passphrase or a cost beyond kMostCost, `internal`.
  [[nodiscard]] static Result<ChunkSeal> from_passphrase(std::string_view passphrase, ByteView salt,
                                                         std::uint8_t cost = kCost);
  ChunkSeal(ChunkSeal&& other) noexcept;
  ChunkSeal& operator=(ChunkSeal&&) = delete;
  ~ChunkSeal();

  [[nodiscard]] Bytes seal(ByteView plain, bool is_last);
  // `corrupt`: it is not the next chunk of this file under this passphrase.
  [[nodiscard]] Result<Bytes> open(ByteView sealed, bool is_last);

 private:
  static constexpr std::size_t kKeySize = 32;
  static constexpr std::size_t kNonceSize = 12;
  ChunkSeal() = default;
  [[nodiscard]] std::array<std::byte, kNonceSize> next_nonce(bool is_last);

  std::array<std::byte, kKeySize> key_{};
  std::uint64_t count_ = 0;
};

}  // namespace datum::crypto
