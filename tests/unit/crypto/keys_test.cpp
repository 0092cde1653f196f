// Keys: known answers, purposes, and what is refused.
#include "datum/crypto/keys.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "datum/crypto/digest.hpp"

using namespace datum;
using namespace datum::crypto;

namespace {

// RFC 8032, 7.1, the first test: seed and public key.
constexpr const char* kSeedPem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublicHex =
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

PrivateKey key_of_the_rfc() {
  auto key = PrivateKey::from_pem(kSeedPem);
  REQUIRE(key);
  return std::move(*key);
}

}  // namespace

TEST_CASE("crypto: a private key has the public key that RFC 8032 says") {
  CHECK(to_hex(key_of_the_rfc().public_key().bytes) == kPublicHex);
}

TEST_CASE("crypto: a key's text is read back as the same key") {
  const auto key = key_of_the_rfc();
  CHECK(key.to_pem() == kSeedPem);
  const auto made = PrivateKey::generate();
  REQUIRE(made);
  const auto again = PrivateKey::from_pem(made->to_pem());
  REQUIRE(again);
  CHECK(again->public_key() == made->public_key());
  CHECK(made->public_key() != key.public_key());
}

TEST_CASE("crypto: a fingerprint is that of the key as X.509 writes it") {
  const auto der = "302a300506032b6570032100" + std::string(kPublicHex);
  Bytes bytes;
  for (std::size_t at = 0; at < der.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(der.substr(at, 2), nullptr, 16)));
  CHECK(key_of_the_rfc().public_key().fingerprint() == sha256(bytes));
}

TEST_CASE("crypto: a signature holds for its key, its purpose and its message only") {
  const auto key = key_of_the_rfc();
  const auto other = PrivateKey::generate();
  REQUIRE(other);
  const auto message = to_bytes("generation 7");
  const auto signature = key.sign(SignedAs::declaration, message);
  CHECK(verify(key.public_key(), SignedAs::declaration, message, signature));
  CHECK_FALSE(verify(key.public_key(), SignedAs::enrolment_proof, message, signature));
  CHECK_FALSE(verify(other->public_key(), SignedAs::declaration, message, signature));
  CHECK_FALSE(verify(key.public_key(), SignedAs::declaration, to_bytes("generation 8"), signature));
}

TEST_CASE("crypto: a signature with any bit changed does not hold") {
  const auto key = key_of_the_rfc();
  const auto message = to_bytes("generation 7");
  const auto signature = key.sign(SignedAs::declaration, message);
  for (std::size_t bit = 0; bit < Signature::kSize * 8; ++bit) {
    auto changed = signature;
    changed.bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CHECK_FALSE(verify(key.public_key(), SignedAs::declaration, message, changed));
  }
}

TEST_CASE("crypto: bytes that are no point of the curve verify nothing") {
  const auto signature = key_of_the_rfc().sign(SignedAs::declaration, to_bytes("x"));
  PublicKey nobody;
  nobody.bytes.fill(std::byte{0xff});
  CHECK_FALSE(verify(nobody, SignedAs::declaration, to_bytes("x"), signature));
  CHECK_FALSE(verify(PublicKey{}, SignedAs::declaration, to_bytes("x"), Signature{}));
}

TEST_CASE("crypto: what is no private key is refused without its text") {
  std::string rsa_like = kSeedPem;
  rsa_like.replace(rsa_like.find("MC4CAQ"), 6, "MC4CAg");
  for (const auto& text : {std::string(), std::string("secret"), rsa_like,
                           std::string(kSeedPem).substr(0, 60), std::string(5000, 'A')}) {
    const auto key = PrivateKey::from_pem(text);
    REQUIRE_FALSE(key);
    CHECK(key.error().code() == ErrorCode::corrupt);
    CHECK(key.error().message().find("secret") == std::string::npos);
  }
}

TEST_CASE("crypto: a public key is 32 bytes") {
  CHECK(PublicKey::from_bytes(key_of_the_rfc().public_key().bytes).has_value());
  for (const std::size_t size : {0, 31, 33}) {
    const auto key = PublicKey::from_bytes(Bytes(size));
    REQUIRE_FALSE(key);
    CHECK(key.error().code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("crypto: what is wiped is empty, and its bytes are gone") {
  std::string text = "a password that is longer than a short string";
  const char* bytes = text.data();
  wipe(text);
  CHECK(text.empty());
  CHECK(bytes[5] == '\0');
}
