// An enrolment token as text: one word that a person can paste, with all that a node needs to trust
// the right control plane before it says anything. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"

namespace datum::link {

// "dtm1_" and 96 letters of base 32. The prefix lets scanners for secrets find one that was leaked.
struct Token {
  static constexpr std::size_t kIdBytes = 5;
  static constexpr std::size_t kSecretBytes = 20;  // 160 bits: nobody guesses one in its life

  std::array<std::byte, kIdBytes> id{};  // names it in lists and events; no secret
  std::array<std::byte, kSecretBytes> secret{};
  Digest pin;  // fingerprint of the authority's key
  bool operator==(const Token&) const = default;

  [[nodiscard]] std::string id_text() const;  // 8 letters
  // What the control plane keeps instead of the secret.
  [[nodiscard]] Digest secret_hash() const;
};

// `secret` and `id` from the kernel's generator.
[[nodiscard]] Token make_token(const Digest& pin);
// A secret: not for logs, events or argument vectors.
[[nodiscard]] std::string format_token(const Token& token);
// Blanks around it are passed over, capitals and 'o' for '0', 'i' or 'l' for '1' are taken.
// `invalid_argument` for anything else; a letter that was left out or mistyped is found by a sum,
// and the message has no letter of the token.
[[nodiscard]] Result<Token> parse_token(std::string_view text);

}  // namespace datum::link
