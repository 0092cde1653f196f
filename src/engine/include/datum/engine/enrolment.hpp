// A machine becomes a node: its key is made and durable, what it is is reported, its token is shown
// to the one control plane that it was made at, and what is granted is stored. Each step is durable
// and in the journal before the next one, so that it can be cut off anywhere and begun again, and
// comes to the same end. The token is nowhere but in the message.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "datum/core/link_message.hpp"
#include "datum/engine/identity.hpp"
#include "datum/engine/store.hpp"
#include "datum/loop/network.hpp"
#include "datum/loop/task.hpp"

namespace datum::engine {

struct EnrolmentPlan {
  std::string token;     // a secret
  std::string token_id;  // names it
  Digest pin;
  std::vector<loop::Address> addresses;  // at least one
  std::string wanted_name;               // empty: the profile's
  std::string version;                   // of this program
  std::vector<core::Fact> profile, inventory;
  core::Actor actor;
  bool new_key = false;  // the one that is there is not taken any more
};

// From what a person gives: the token as text, and "name:port" for each address. The rest is for
// the caller to fill in. `invalid_argument`, with no letter of the token.
[[nodiscard]] Result<EnrolmentPlan> make_enrolment_plan(std::string token,
                                                        const std::vector<std::string>& addresses);

struct Enrolled {
  NodeIdentity identity;
  bool was_already = false;  // by an earlier run, of which this one told what was not told yet
};
struct EnrolmentWaits {
  std::int64_t not_before_ns = 0;
};
struct EnrolmentRefused {
  core::LinkCause cause = core::LinkCause::token_unknown;
  std::string why, remedy;
};
using EnrolmentEnd = std::variant<Enrolled, EnrolmentWaits, EnrolmentRefused>;

// One attempt. `tells_request` is false for one that only asks again what was asked a moment ago:
// the journal has it then. Errors: no way to a control plane, another one than the pinned, a grant
// that is none, a disk that fails; nothing is half done after any of them. `conflict`: the machine
// is a node already, and no new key was asked for.
[[nodiscard]] loop::Task<Result<EnrolmentEnd>> enrol(loop::Loop& loop, loop::Network& network,
                                                     os::Files& files, Store& store,
                                                     EnrolmentPlan plan, bool tells_request);

// What the journal is told of an identity that lies durable.
[[nodiscard]] core::RecordEnrolment record_enrolment(const NodeIdentity& identity,
                                                     const core::Actor& actor);

// A machine's report fits a stranger's frame: what is beyond it is cut, and said in the last fact.
inline constexpr std::size_t kMaxReport = 48 * 1024;
[[nodiscard]] std::vector<core::Fact> bound_report(std::vector<core::Fact> facts,
                                                   std::size_t limit = kMaxReport);

}  // namespace datum::engine
