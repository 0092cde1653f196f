// Tokens as text.
#include "datum/link/token.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "datum/crypto/digest.hpp"

using namespace datum;
using namespace datum::link;

namespace {

// Every byte told apart, so that a byte in the wrong place shows.
Token fixed() {
  Token token;
  for (std::size_t i = 0; i < token.id.size(); ++i) token.id[i] = static_cast<std::byte>(i + 1);
  for (std::size_t i = 0; i < token.secret.size(); ++i)
    token.secret[i] = static_cast<std::byte>(i + 100);
  token.pin = crypto::sha256(as_bytes("authority"));
  return token;
}

}  // namespace

TEST_CASE("link: a token is read as it was written") {
  const auto text = format_token(fixed());
  CHECK(text.size() == 5 + 96);
  CHECK(text.starts_with("dtm1_" + fixed().id_text()));
  const auto read = parse_token(text);
  REQUIRE(read);
  CHECK(*read == fixed());
}

TEST_CASE("link: tokens that were made differ, and hold the pin they were made for") {
  const auto pin = crypto::sha256(as_bytes("authority"));
  const auto one = make_token(pin);
  const auto other = make_token(pin);
  CHECK(one.pin == pin);
  CHECK(one.id != other.id);
  CHECK(one.secret != other.secret);
  CHECK(one.secret_hash() != other.secret_hash());
}

TEST_CASE("link: a token is taken as people copy it") {
  auto text = format_token(fixed());
  for (std::size_t i = 5; i < text.size(); ++i) {
    if (text[i] == '0') text[i] = 'O';
    if (text[i] == '1') text[i] = 'l';
    if (text[i] == 'a') text[i] = 'A';
  }
  const auto read = parse_token("  " + text + "\n");
  REQUIRE(read);
  CHECK(*read == fixed());
}

TEST_CASE("link: a token with one letter changed, doubled or left out is found, and not told") {
  const auto text = format_token(fixed());
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto changed = text;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    for (const auto& wrong : {changed, text.substr(0, at) + text.substr(at + 1),
                              text.substr(0, at) + text[at] + text.substr(at)}) {
      const auto read = parse_token(wrong);
      REQUIRE_FALSE(read);
      CHECK(read.error().code() == ErrorCode::invalid_argument);
      CHECK(read.error().message().find(text.substr(10, 8)) == std::string::npos);
    }
  }
}

TEST_CASE("link: what is no token is refused") {
  for (const auto& text : {std::string(), std::string("   "), std::string("dtm1_"),
                           std::string("secret"), "dtm2_" + std::string(96, '0'),
                           "dtm1_" + std::string(96, 'u'), "dtm1_" + std::string(1'000'000, '0')})
    CHECK_FALSE(parse_token(text).has_value());
}
