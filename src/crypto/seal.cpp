#include "datum/crypto/seal.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "datum/base/assert.hpp"
#include "openssl_types.hpp"

namespace datum::crypto {
namespace {

using CipherHandle = std::unique_ptr<EVP_CIPHER_CTX, Freed<EVP_CIPHER_CTX_free>>;

const unsigned char* as_input(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
unsigned char* as_output(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

const EVP_CIPHER* chunk_cipher() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr);
  DATUM_ASSERT(cipher != nullptr);
  return cipher;
}

}  // namespace

Result<ChunkSeal> ChunkSeal::from_passphrase(std::string_view passphrase, ByteView salt,
                                             std::uint8_t cost) {
  if (passphrase.empty()) return fail(ErrorCode::invalid_argument, "the passphrase is empty");
  if (cost == 0 || cost > kMostCost)
    return fail(ErrorCode::invalid_argument, "a passphrase is not stretched as much as that");
  DATUM_ASSERT(salt.size() == kSaltSize);
  constexpr std::uint64_t kBlock = 8, kLanes = 1;
  // What scrypt takes is 128 bytes for each block of each round, and a little.
  constexpr std::uint64_t kMostMemory = std::uint64_t{2} << 30U;
  ChunkSeal made;
  if (EVP_PBE_scrypt(passphrase.data(), passphrase.size(), as_input(salt.data()), salt.size(),
                     std::uint64_t{1} << cost, kBlock, kLanes, kMostMemory,
                     as_output(made.key_.data()), made.key_.size()) != 1)
    return fail(ErrorCode::internal, "libcrypto makes no key of the passphrase");
  return made;
}

ChunkSeal::ChunkSeal(ChunkSeal&& other) noexcept : key_(other.key_), count_(other.count_) {
  OPENSSL_cleanse(other.key_.data(), other.key_.size());
}

ChunkSeal::~ChunkSeal() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

// No two chunks under one key have the same.
std::array<std::byte, ChunkSeal::kNonceSize> ChunkSeal::next_nonce(bool is_last) {
  std::array<std::byte, kNonceSize> nonce{};
  nonce[0] = is_last ? std::byte{1} : std::byte{0};
  store_le(nonce.data() + kNonceSize - sizeof count_, count_++);
  return nonce;
}

Bytes ChunkSeal::seal(ByteView plain, bool is_last) {
  const auto nonce = next_nonce(is_last);
  const CipherHandle context(EVP_CIPHER_CTX_new());
  Bytes sealed(plain.size() + kTagSize);
  int size = 0, rest = 0;
  DATUM_ASSERT(context != nullptr);
  DATUM_ASSERT(EVP_EncryptInit_ex2(context.get(), chunk_cipher(), as_input(key_.data()),
                                   as_input(nonce.data()), nullptr) == 1);
  DATUM_ASSERT(EVP_EncryptUpdate(context.get(), as_output(sealed.data()), &size,
                                 as_input(plain.data()), static_cast<int>(plain.size())) == 1);
  DATUM_ASSERT(EVP_EncryptFinal_ex(context.get(), as_output(sealed.data()) + size, &rest) == 1);
  DATUM_ASSERT(static_cast<std::size_t>(size + rest) == plain.size());
  DATUM_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagSize,
                                   sealed.data() + plain.size()) == 1);
  return sealed;
}

Result<Bytes> ChunkSeal::open(ByteView sealed, bool is_last) {
  if (sealed.size() < kTagSize) return fail(ErrorCode::corrupt, "a chunk without its seal");
  const auto nonce = next_nonce(is_last);
  const CipherHandle context(EVP_CIPHER_CTX_new());
  Bytes plain(sealed.size() - kTagSize);
  Bytes tag(sealed.end() - kTagSize, sealed.end());
  int size = 0, rest = 0;
  DATUM_ASSERT(context != nullptr);
  DATUM_ASSERT(EVP_DecryptInit_ex2(context.get(), chunk_cipher(), as_input(key_.data()),
                                   as_input(nonce.data()), nullptr) == 1);
  DATUM_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) ==
               1);
  std::byte none{};
  auto* const out = as_output(plain.empty() ? &none : plain.data());
  const bool is_good = EVP_DecryptUpdate(context.get(), out, &size, as_input(sealed.data()),
                                         static_cast<int>(plain.size())) == 1 &&
                       EVP_DecryptFinal_ex(context.get(), out + size, &rest) == 1;
  if (is_good) return plain;
  return fail(ErrorCode::corrupt, "it was changed, or the passphrase is another");
}

}  // namespace datum::crypto
