// Whether a machine becomes a node: the decision over a token's rule, what the machine reported,
// and what is known of its name and key. Pure; every refusal says what to do.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/core/link_message.hpp"

namespace datum::control {

// What a token allows.
struct TokenRule {
  std::string id;  // 8 letters: Token::id_text
  Digest secret_hash;
  bool is_multi_use = false;
  std::string names = "*";           // a glob, as in agent.yaml
  std::vector<core::Fact> required;  // of the profile: exactly these values
  std::vector<core::Fact> labels;    // that nodes get
  bool is_by_hand = false;           // a person accepts each
  WallNs expires;
  bool operator==(const TokenRule&) const = default;
};

// Who came with it. A single-use token is taken again from the same key until the node's first
// heartbeat: its answer may have been lost on the way.
struct TokenUse {
  Digest key;  // fingerprint
  std::string node;
  bool has_reported = false;
  bool operator==(const TokenUse&) const = default;
};
struct TokenState {
  TokenRule rule;
  std::vector<TokenUse> uses;
  bool is_withdrawn = false;
  bool operator==(const TokenState&) const = default;
};

enum class Standing : std::uint8_t { enrolled = 1, retired = 2, revoked = 3 };
struct KnownNode {
  std::string name;
  Digest key;
  Standing standing = Standing::enrolled;
  bool operator==(const KnownNode&) const = default;
};

// What stands when a request comes in. Null: nothing is known.
struct EnrolmentScene {
  const TokenState* token = nullptr;  // with the id of the request's token, if its secret matched
  const KnownNode* with_name = nullptr;
  const KnownNode* with_key = nullptr;
  Digest key;                 // fingerprint of the request's key
  bool is_proved = false;     // the key signed the binding of this connection
  bool was_accepted = false;  // by a person
  WallNs now;
};

// A certificate begins when it is issued. A node whose clock is behind that would not take it.
inline constexpr std::int64_t kMostClockDifferenceNs = 60 * 60 * kNsPerSecond;

struct Granted {
  std::string node;
  std::vector<core::Fact> labels;
  bool operator==(const Granted&) const = default;
};
struct AwaitsPerson {
  std::string node;
  bool operator==(const AwaitsPerson&) const = default;
};
using EnrolmentDecision = std::variant<Granted, AwaitsPerson, core::EnrolmentRefusal>;

// The name that a request asks for: the wanted one, or the profile's `hostname`.
[[nodiscard]] std::string name_of(const core::EnrolmentRequest& request);
// The order of the checks is from what a stranger may learn (nothing but that its token is not
// known) to what only the holder of a good token is told.
[[nodiscard]] EnrolmentDecision decide_enrolment(const core::EnrolmentRequest& request,
                                                 const EnrolmentScene& scene);

}  // namespace datum::control
