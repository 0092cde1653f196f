// Chunks under a passphrase: what opens, and that nothing else does.
#include "datum/crypto/seal.hpp"

#include <catch2/catch.hpp>

#include "datum/crypto/digest.hpp"

using namespace datum;
using crypto::ChunkSeal;

namespace {

constexpr std::uint8_t kCheap = 4;

Bytes salt_of(std::uint8_t seed) {
  return Bytes(ChunkSeal::kSaltSize, std::byte{seed});
}

ChunkSeal seal_of(std::string_view passphrase, std::uint8_t salt = 1, std::uint8_t cost = kCheap) {
  auto made = ChunkSeal::from_passphrase(passphrase, salt_of(salt), cost);
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("crypto: chunks open in their order under their passphrase, empty ones too") {
  auto sealer = seal_of("correct horse");
  const auto first = sealer.seal(as_bytes("first"), false);
  const auto second = sealer.seal({}, true);
  CHECK(first.size() == 5 + ChunkSeal::kTagSize);
  auto opener = seal_of("correct horse");
  CHECK(*opener.open(first, false) == to_bytes("first"));
  CHECK(opener.open(second, true)->empty());
}

TEST_CASE("crypto: a chunk that was changed, cut, repeated, moved or ended elsewhere is none") {
  auto sealer = seal_of("p");
  const auto first = sealer.seal(as_bytes("first"), false);
  const auto second = sealer.seal(as_bytes("first"), false);
  CHECK(first != second);
  for (std::size_t at = 0; at < first.size() * 8; ++at) {
    auto changed = first;
    changed[at / 8] ^= std::byte(1U << (at % 8));
    CHECK_FALSE(seal_of("p").open(changed, false));
  }
  for (std::size_t size = 0; size < first.size(); ++size)
    CHECK(seal_of("p").open(ByteView(first).first(size), false).error().code() ==
          ErrorCode::corrupt);
  CHECK_FALSE(seal_of("p").open(first, true));
  CHECK_FALSE(seal_of("p").open(second, false));
  auto opener = seal_of("p");
  REQUIRE(opener.open(first, false));
  CHECK_FALSE(opener.open(first, false));
}

TEST_CASE("crypto: another passphrase, salt or cost opens nothing, and none is refused") {
  auto sealer = seal_of("p");
  const auto chunk = sealer.seal(as_bytes("text"), true);
  CHECK_FALSE(seal_of("q").open(chunk, true));
  CHECK_FALSE(seal_of("p", 2).open(chunk, true));
  CHECK_FALSE(seal_of("p", 1, kCheap + 1).open(chunk, true));
  CHECK(seal_of("p").open(chunk, true));
  CHECK_FALSE(ChunkSeal::from_passphrase("", salt_of(1)));
  CHECK_FALSE(ChunkSeal::from_passphrase("p", salt_of(1), ChunkSeal::kMostCost + 1));
  CHECK_FALSE(ChunkSeal::from_passphrase("p", salt_of(1), 0));
}

TEST_CASE(
    "crypto: the key is scrypt's, the cipher ChaCha20-Poly1305: a file of today opens later") {
  // With any other tool: scrypt("pleaseletmein", 16 bytes of 1, N=2^4, r=8, p=1), nonce
  // 01 000000 0000000000000000, no additional data.
  auto sealer = seal_of("pleaseletmein");
  CHECK(crypto::sha256(sealer.seal(as_bytes("datum"), true)).hex() ==
        "b813d50e2bef5d03716097bd80f830f25309b6103db970c8d020cf9fd1640fba");
}
