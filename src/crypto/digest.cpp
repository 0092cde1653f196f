// SHA-256 by libcrypto's plain functions, HMAC through EVP with one fetched algorithm; CRC-32C by
// the processor where it can, else by table, eight bytes a step.
#define OPENSSL_SUPPRESS_DEPRECATED  // see as_context
#include "datum/crypto/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "datum/base/assert.hpp"

namespace datum::crypto {

static const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  DATUM_ASSERT(algorithm != nullptr);
  return algorithm;
}

// The plain functions, not EVP: for the hundred bytes of a resource or an observation EVP's set-up
// takes as long as the hashing.
static SHA256_CTX* as_context(std::byte* context) {
  return reinterpret_cast<SHA256_CTX*>(context);
}

Sha256::Sha256() {
  static_assert(sizeof(SHA256_CTX) <= kContextBytes && alignof(SHA256_CTX) <= 8);
  DATUM_ASSERT(SHA256_Init(as_context(context_.data())) == 1);
}

void Sha256::update(ByteView bytes) {
  DATUM_ASSERT(SHA256_Update(as_context(context_.data()), bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
  Digest digest;
  auto* context = as_context(context_.data());
  DATUM_ASSERT(SHA256_Final(digest.bytes.data(), context) == 1);
  DATUM_ASSERT(SHA256_Init(context) == 1);
  return digest;
}

Digest sha256(ByteView bytes) {
  Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

Digest hmac_sha256(ByteView key, ByteView bytes) {
  Digest digest;
  unsigned size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  DATUM_ASSERT(HMAC(sha256_algorithm(), key.data(), static_cast<int>(key.size()), data,
                    bytes.size(), digest.bytes.data(), &size) != nullptr);
  DATUM_ASSERT(size == Digest::kSize);
  return digest;
}

namespace {
// Reflected polynomial of CRC-32C.
constexpr std::uint32_t kPolynomial = 0x82F63B78;

constexpr auto make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][i] = value;
  }
  for (std::size_t t = 1; t < 8; ++t)
    for (std::size_t i = 0; i < 256; ++i)
      tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 255];
  return tables;
}
constexpr auto kTables = make_tables();
}  // namespace

std::uint32_t crc32c_by_table(ByteView bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  const auto* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = load_le<std::uint32_t>(at) ^ crc;
    const std::uint32_t high = load_le<std::uint32_t>(at + 4);
    crc = kTables[7][low & 255] ^ kTables[6][(low >> 8) & 255] ^ kTables[5][(low >> 16) & 255] ^
          kTables[4][low >> 24] ^ kTables[3][high & 255] ^ kTables[2][(high >> 8) & 255] ^
          kTables[1][(high >> 16) & 255] ^ kTables[0][high >> 24];
  }
  for (; left > 0; --left, ++at)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(*at)) & 255];
  return ~crc;
}

#if defined(__x86_64__)
// The processor's own instruction for this polynomial, eight bytes a step.
__attribute__((target("sse4.2"))) static std::uint32_t crc32c_by_cpu(ByteView bytes,
                                                                     std::uint32_t seed) {
  std::uint64_t crc = ~seed;
  const auto* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto tail = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++at)
    tail = __builtin_ia32_crc32qi(tail, static_cast<unsigned char>(*at));
  return ~tail;
}

std::uint32_t crc32c(ByteView bytes, std::uint32_t seed) {
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  return has_instruction ? crc32c_by_cpu(bytes, seed) : crc32c_by_table(bytes, seed);
}
#else
std::uint32_t crc32c(ByteView bytes, std::uint32_t seed) {
  return crc32c_by_table(bytes, seed);
}
#endif

// The kernel's generator itself: libcrypto's takes a millisecond to set up, for a few bytes.
void fill_random(MutableByteView out) {
  for (std::size_t done = 0; done < out.size();) {
    const auto count = ::getrandom(out.data() + done, out.size() - done, 0);
    DATUM_ASSERT(count > 0 || errno == EINTR);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

Id128 random_id() {
  Id128 id;
  fill_random({reinterpret_cast<std::byte*>(id.bytes.data()), id.bytes.size()});
  return id;
}

}  // namespace datum::crypto
