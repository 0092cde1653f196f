// Ed25519 through EVP. A failed step leaves nothing in libcrypto's queue of errors.
#include "datum/crypto/keys.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>

#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"
#include "openssl_types.hpp"

namespace datum::crypto {
namespace {

const unsigned char* as_octets(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* as_octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

// "datum declaration 1", a zero byte, the message.
Bytes framed(SignedAs purpose, ByteView message) {
  Bytes bytes = to_bytes("datum ");
  const auto word = as_bytes(to_string(purpose));
  bytes.insert(bytes.end(), word.begin(), word.end());
  const auto version = as_bytes(std::string_view(" 1\0", 3));
  bytes.insert(bytes.end(), version.begin(), version.end());
  bytes.insert(bytes.end(), message.begin(), message.end());
  return bytes;
}

struct BioFree {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using BioHandle = std::unique_ptr<BIO, BioFree>;

// An encrypted key is not asked for its passphrase: a service has nobody to ask.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

KeyHandle make_public_handle(const PublicKey& key) {
  KeyHandle handle(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, as_octets(key.bytes),
                                               key.bytes.size()));
  if (!handle) ERR_clear_error();
  return handle;
}

std::optional<PublicKey> find_public(const EVP_PKEY* key) {
  PublicKey found;
  std::size_t size = found.bytes.size();
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, as_octets(found.bytes.data()), &size) != 1 ||
      size != found.bytes.size()) {
    ERR_clear_error();
    return std::nullopt;
  }
  return found;
}

Digest PublicKey::fingerprint() const {
  // SEQUENCE { SEQUENCE { OID 1.3.101.112 }, BIT STRING }: RFC 8410. The same for every key.
  static constexpr std::array<std::uint8_t, 12> kHead{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                                      0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
  Sha256 sha;
  sha.update({reinterpret_cast<const std::byte*>(kHead.data()), kHead.size()});
  sha.update(bytes);
  return sha.finish();
}

Result<PublicKey> PublicKey::from_bytes(ByteView bytes) {
  if (bytes.size() != kSize)
    return fail(ErrorCode::invalid_argument,
                "a public key has 32 bytes, not " + std::to_string(bytes.size()));
  PublicKey key;
  std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
  return key;
}

std::string_view to_string(SignedAs purpose) {
  switch (purpose) {
    case SignedAs::declaration:
      return "declaration";
    case SignedAs::enrolment_proof:
      return "enrolment proof";
    case SignedAs::order:
      return "order";
  }
  return "?";
}

PrivateKey::PrivateKey(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivateKey::PrivateKey(PrivateKey&&) noexcept = default;
PrivateKey& PrivateKey::operator=(PrivateKey&&) noexcept = default;
PrivateKey::~PrivateKey() = default;

// Such a key is 32 random bytes, which come from the kernel as all of Datum's do.
Result<PrivateKey> PrivateKey::generate() {
  std::array<unsigned char, 32> secret;
  fill_random({reinterpret_cast<std::byte*>(secret.data()), secret.size()});
  KeyHandle key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret.data(), secret.size()));
  OPENSSL_cleanse(secret.data(), secret.size());
  if (!key) {
    ERR_clear_error();
    return fail(ErrorCode::internal, "libcrypto made no Ed25519 key");
  }
  return PrivateKey(std::make_unique<Impl>(std::move(key)));
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view text) {
  if (text.size() > kMaxPem)
    return fail(ErrorCode::corrupt, "a private key of " + std::to_string(text.size()) +
                                        " bytes; an Ed25519 key has about 120");
  const BioHandle bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  DATUM_ASSERT(bio != nullptr);
  KeyHandle key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!key) return fail(ErrorCode::corrupt, "no unencrypted private key in PEM (PKCS#8)");
  if (!find_public(key.get()))
    return fail(ErrorCode::corrupt, "a private key of another kind than Ed25519");
  return PrivateKey(std::make_unique<Impl>(std::move(key)));
}

PublicKey PrivateKey::public_key() const {
  const auto found = find_public(impl_->key.get());
  DATUM_ASSERT(found.has_value());
  return *found;
}

Signature PrivateKey::sign(SignedAs purpose, ByteView message) const {
  const DigestHandle context(EVP_MD_CTX_new());
  DATUM_ASSERT(context != nullptr);
  DATUM_ASSERT(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, impl_->key.get()) == 1);
  Signature signature;
  std::size_t size = signature.bytes.size();
  const auto bytes = framed(purpose, message);
  DATUM_ASSERT(EVP_DigestSign(context.get(), as_octets(signature.bytes.data()), &size,
                              as_octets(bytes), bytes.size()) == 1);
  DATUM_ASSERT(size == Signature::kSize);
  return signature;
}

std::string PrivateKey::to_pem() const {
  const BioHandle bio(BIO_new(BIO_s_secmem()));
  DATUM_ASSERT(bio != nullptr);
  DATUM_ASSERT(PEM_write_bio_PKCS8PrivateKey(bio.get(), impl_->key.get(), nullptr, nullptr, 0,
                                             nullptr, nullptr) == 1);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

Bytes PrivateKey::to_der() const {
  unsigned char* der = nullptr;
  const int size = i2d_PrivateKey(impl_->key.get(), &der);
  DATUM_ASSERT(size > 0);
  const auto* begin = reinterpret_cast<const std::byte*>(der);
  Bytes bytes(begin, begin + size);
  OPENSSL_clear_free(der, static_cast<std::size_t>(size));
  return bytes;
}

bool verify(const PublicKey& key, SignedAs purpose, ByteView message, const Signature& signature) {
  const auto handle = make_public_handle(key);
  if (!handle) return false;
  const DigestHandle context(EVP_MD_CTX_new());
  DATUM_ASSERT(context != nullptr);
  const auto bytes = framed(purpose, message);
  const bool good =
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, handle.get()) == 1 &&
      EVP_DigestVerify(context.get(), as_octets(signature.bytes), signature.bytes.size(),
                       as_octets(bytes), bytes.size()) == 1;
  ERR_clear_error();
  return good;
}

void wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

void wipe(Bytes& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace datum::crypto
