// What may happen at the control plane, as events: each function looks at the State and at what is
// asked, and answers with the events that follow, or refuses with what to do. Pure: time, ids and
// keys come in with the call.
#pragma once

#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/control/enrolment.hpp"
#include "datum/control/state.hpp"
#include "datum/crypto/keys.hpp"

namespace datum::control {

using Events = std::vector<core::control::Event>;

// Of one profile or inventory: what is more does not fit into one record.
inline constexpr std::size_t kMaxFactBytes = 24 * 1024;
inline constexpr std::size_t kMaxFacts = 512;
// Requests that wait for a person: a token that leaked fills no more than this.
inline constexpr std::size_t kMaxRequests = 256;
// Tokens that are neither withdrawn nor over: a list that a person can read.
inline constexpr std::size_t kMaxTokens = 1'000;
// A token lives at most this long: it is a secret that lies about.
inline constexpr std::int64_t kMaxTokenLifeNs = 366 * 86'400 * kNsPerSecond;

// Of a store that was made of a backup: a new epoch, and order numbers that no node has seen, not
// from an earlier restore of the same backup either.
[[nodiscard]] Events restore_plane(const State& state, core::Actor by, WallNs now);

// The first records of a store: what it is and its keys.
struct Creation {
  Id128 store, mesh_id;
  std::string mesh;
  std::string version;
  core::control::KeyMade authority, signer;
};
[[nodiscard]] Events create_plane(const Creation& creation);
[[nodiscard]] Events open_plane(const State& state, const Id128& boot, std::string version);

// `invalid_argument` for a rule that nothing can meet, `limit_exceeded` beyond kMaxTokens.
[[nodiscard]] Result<Events> make_token(const State& state, const TokenRule& rule, core::Actor by,
                                        WallNs now);
[[nodiscard]] Result<Events> withdraw_token(const State& state, const std::string& id,
                                            core::Actor by);

// A request to become a node, as it came over a connection.
struct Enrol {
  core::EnrolmentRequest request;
  std::string token_id;  // of the request's token; empty: it has none that can be read
  Digest secret_hash;
  bool is_proved = false;
  std::string address;
  WallNs now;
  Id128 serial;  // of the certificate that it would get
  WallNs not_after;
};
struct Enrolment {
  EnrolmentDecision decision;
  Events events;  // empty: nothing new
};
[[nodiscard]] Enrolment enrol(const State& state, const Enrol& wanted);

// A person's word on a machine that waits. `which` is its name or the beginning of its key's
// fingerprint (8 digits at least). `not_found`; `conflict` where several are meant.
[[nodiscard]] Result<Events> decide_request(const State& state, const std::string& which,
                                            bool accept, std::string reason, core::Actor by);
[[nodiscard]] Result<Events> revoke(const State& state, const std::string& node, std::string reason,
                                    core::Actor by);
// The name and the key are free afterwards. A request that waits is forgotten too.
[[nodiscard]] Result<Events> forget(const State& state, const std::string& node, core::Actor by);

// Why this node is not let in, or nothing.
[[nodiscard]] std::optional<core::Goodbye> check_credential(const State& state,
                                                            const std::string& node,
                                                            const crypto::PublicKey& key);
// Whether this node has accepted what a restored control plane does not know and nobody has said to
// take: `events` is what is new of it.
struct Newer {
  bool is_refused = false;
  Events events;
};
[[nodiscard]] Newer check_newer(const State& state, const std::string& node,
                                const core::Generation& accepted);
// A person's word on it. `not_found`: no such node, or it waits for nothing.
[[nodiscard]] Result<Events> accept_newer(const State& state, const std::string& node,
                                          core::Actor by);
[[nodiscard]] Events greet(const State& state, const std::string& node, const core::Hello& hello);
[[nodiscard]] Events hear(const State& state, const std::string& node,
                          const core::Heartbeat& heartbeat);
// Nothing for an answer that is known, older, or to what was not released.
[[nodiscard]] Events take_answer(const State& state, const std::string& node,
                                 const core::DeclarationAnswer& answer);

}  // namespace datum::control
