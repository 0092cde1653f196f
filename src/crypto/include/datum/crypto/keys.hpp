// Ed25519 keys: who a node, an authority or a signer is. Pure values over libcrypto; every function
// may be called from any thread. What a key is for, and who trusts it, is known elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"

namespace datum::crypto {

// RFC 8032: 32 bytes of key, 64 of signature.
struct PublicKey {
  static constexpr std::size_t kSize = 32;
  std::array<std::byte, kSize> bytes{};

  auto operator<=>(const PublicKey&) const = default;
  // SHA-256 of the key as X.509 writes it (SubjectPublicKeyInfo, DER): what people compare and what
  // a pin holds; `openssl pkey -pubin -outform DER | sha256sum` prints the same.
  [[nodiscard]] Digest fingerprint() const;
  // Of exactly kSize bytes; `invalid_argument` otherwise. Every 32 bytes are taken here; those that
  // are no point of the curve verify nothing.
  [[nodiscard]] static Result<PublicKey> from_bytes(ByteView bytes);
};

struct Signature {
  static constexpr std::size_t kSize = 64;
  std::array<std::byte, kSize> bytes{};

  auto operator<=>(const Signature&) const = default;
};

// What is signed begins with what it is for, so that a signature for one purpose is none for
// another. Each is a fixed word; a new kind of signed thing gets a new one.
enum class SignedAs : std::uint8_t { declaration, enrolment_proof, order };
[[nodiscard]] std::string_view to_string(SignedAs purpose);

class PrivateKey {
 public:
  // `internal` when the kernel's generator or libcrypto fails.
  [[nodiscard]] static Result<PrivateKey> generate();
  // PKCS#8, unencrypted, as `to_pem` writes it, at most kMaxPem bytes. `corrupt` for anything else,
  // also for a key of another kind; the message never has a byte of the text.
  [[nodiscard]] static Result<PrivateKey> from_pem(std::string_view text);
  static constexpr std::size_t kMaxPem = 1024;  // an Ed25519 key takes about 120

  PrivateKey(PrivateKey&&) noexcept;
  PrivateKey& operator=(PrivateKey&&) noexcept;
  ~PrivateKey();  // the key's memory is wiped

  [[nodiscard]] PublicKey public_key() const;
  [[nodiscard]] Signature sign(SignedAs purpose, ByteView message) const;
  // PKCS#8. Whoever takes it keeps it from logs, and from files that others can read.
  [[nodiscard]] std::string to_pem() const;
  [[nodiscard]] Bytes to_der() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit PrivateKey(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Whether `signature` is that key's over `message` for that purpose. False for every malformed key
// or signature.
[[nodiscard]] bool verify(const PublicKey& key, SignedAs purpose, ByteView message,
                          const Signature& signature);

// Overwrites what is secret before its memory is given back.
void wipe(std::string& secret);
void wipe(Bytes& secret);

}  // namespace datum::crypto
