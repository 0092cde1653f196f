// Base 32 without letters that look alike (a-z and 0-9 without i, l, o, u), five bits a letter.
#include "datum/link/token.hpp"

#include <algorithm>

#include "datum/base/bytes.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::link {
namespace {

constexpr std::string_view kPrefix = "dtm1_";
constexpr std::string_view kLetters = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kSumBytes = 3;
constexpr std::size_t kBytes =
    Token::kIdBytes + Token::kSecretBytes + Digest::kSize + kSumBytes;  // 60
static_assert(kBytes % 5 == 0);                                         // whole letters
constexpr std::size_t kTextLetters = kBytes / 5 * 8;

using TokenBytes = std::array<std::byte, kBytes>;

// The last bytes of a CRC of the others.
std::array<std::byte, kSumBytes> sum_of(ByteView bytes) {
  std::array<std::byte, 4> crc;
  store_le(crc.data(), crypto::crc32c(bytes));
  std::array<std::byte, kSumBytes> sum;
  std::copy_n(crc.begin(), kSumBytes, sum.begin());
  return sum;
}

std::string to_letters(ByteView bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const auto byte : bytes) {
    bits = bits << 8 | static_cast<std::uint32_t>(byte);
    for (count += 8; count >= 5; count -= 5) text += kLetters[bits >> (count - 5) & 31];
  }
  return text;
}

// The value of a letter as people write it, 32 for none.
std::uint32_t value_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  if (letter == 'o') letter = '0';
  if (letter == 'i' || letter == 'l') letter = '1';
  const auto at = kLetters.find(letter);
  return at == std::string_view::npos ? 32 : static_cast<std::uint32_t>(at);
}

bool from_letters(std::string_view text, TokenBytes& bytes) {
  std::uint32_t bits = 0;
  int count = 0;
  auto out = bytes.begin();
  for (const char letter : text) {
    const auto value = value_of(letter);
    if (value == 32) return false;
    bits = bits << 5 | value;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    *out++ = static_cast<std::byte>(bits >> count);
  }
  return true;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::string Token::id_text() const {
  return to_letters(id);
}

Digest Token::secret_hash() const {
  crypto::Sha256 sha;
  sha.update(as_bytes("datum token 1"));
  sha.update(secret);
  return sha.finish();
}

Token make_token(const Digest& pin) {
  Token token;
  crypto::fill_random(token.id);
  crypto::fill_random(token.secret);
  token.pin = pin;
  return token;
}

std::string format_token(const Token& token) {
  TokenBytes bytes;
  auto out = std::copy(token.id.begin(), token.id.end(), bytes.begin());
  out = std::copy(token.secret.begin(), token.secret.end(), out);
  const auto pin = token.pin.view();
  out = std::copy(pin.begin(), pin.end(), out);
  const auto sum = sum_of(ByteView(bytes).first(kBytes - kSumBytes));
  std::copy(sum.begin(), sum.end(), out);
  return std::string(kPrefix) + to_letters(bytes);
}

Result<Token> parse_token(std::string_view text) {
  text = without_blanks(text);
  if (!text.starts_with(kPrefix))
    return fail(ErrorCode::invalid_argument,
                "this is no token: one begins with " + std::string(kPrefix));
  text.remove_prefix(kPrefix.size());
  if (text.size() != kTextLetters)
    return fail(ErrorCode::invalid_argument, "the token has " + std::to_string(text.size()) +
                                                 " letters behind " + std::string(kPrefix) +
                                                 " instead of " + std::to_string(kTextLetters) +
                                                 ": copy the whole of it");
  TokenBytes bytes;
  if (!from_letters(text, bytes))
    return fail(ErrorCode::invalid_argument,
                "the token has a letter that no token has: copy it again");
  const auto sum = sum_of(ByteView(bytes).first(kBytes - kSumBytes));
  if (!std::equal(sum.begin(), sum.end(), bytes.end() - kSumBytes))
    return fail(ErrorCode::invalid_argument, "a letter of the token is wrong: copy it again");
  Token token;
  const auto* at = bytes.data();
  std::copy_n(at, token.id.size(), token.id.begin());
  at += token.id.size();
  std::copy_n(at, token.secret.size(), token.secret.begin());
  at += token.secret.size();
  std::copy_n(reinterpret_cast<const std::uint8_t*>(at), Digest::kSize, token.pin.bytes.begin());
  return token;
}

}  // namespace datum::link
