// Whether a machine becomes a node: the decision over a token's rule, what the machine reported,
// and what is known of its name and key. Pure; every refusal says what to do.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/control/state.hpp"
#include "datum/core/link_message.hpp"

namespace datum::control {

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
