// What a command asks of the service over the local socket, and what it is answered. Both ends use
// this; docs/formats/local-socket.md is the same in words. Pure.
//
// A connection carries one request: a frame `request`, then, where it says so, the compiled
// manifest in frames `manifest` and a last one `manifest_end`, then a saved plan in the same way.
// The answer: `accepted` as soon as
// the service has taken it up, then any number of `output` and `errors` (text for the caller's
// standard streams), and `end` with the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/base/time.hpp"
#include "datum/core/mode.hpp"

namespace datum::host {

enum class LocalFrame : std::uint8_t {
  request = 1,
  manifest = 2,
  manifest_end = 3,
  plan = 4,
  plan_end = 5,
  accepted = 16,
  output = 17,
  errors = 18,
  end = 19,
};

// A line of flags and a reason or two.
inline constexpr std::size_t kMaxLocalRequest = 64 * 1024;

enum class LocalVerb : std::uint8_t {
  observe,
  reconcile,
  acknowledge,
  keep,
  hold,    // its file has changed
  reload,  // agent.yaml has changed
  facts,   // what only the running service knows
  enrol,   // this machine becomes a node
  revert,
  archive,
  adopt,   // orphans of a lost store: owned again, and left as they are
  remove,  // orphans of a lost store: the next pass removes them
};
[[nodiscard]] std::string_view to_string(LocalVerb verb);

struct LocalRequest {
  LocalVerb verb = LocalVerb::facts;
  std::string state;         // folder of the store that the caller means
  std::string command_line;  // "datum reconcile": recorded with the caller's name
  // observe, reconcile; mode and allow_removals of revert too
  bool has_manifest = false;
  std::string source;  // where the manifest came from, for the record
  std::optional<core::Mode> mode;
  std::uint32_t allow_removals = 0;
  bool retry = false;
  bool has_plan = false;   // reconcile: a saved plan follows
  std::uint64_t pass = 0;  // revert: which one; never 0 there
  // archive: all records up to this one; 0: what is due
  std::uint64_t through = 0;
  // how the answer is to look
  bool json = false, all = false, colour = false;
  std::uint64_t width = 80;
  // acknowledge, keep, adopt, remove
  // As Target::text says it; any bytes. adopt, remove: empty means all orphans.
  std::string target;
  std::string reason;
  WallNs until;
  bool lift = false;
  // enrol; `retry`: only asks again whether a person has decided
  std::string token;    // a secret
  std::string control;  // addresses, a blank between them
  std::string name;
  bool new_key = false;
  bool operator==(const LocalRequest&) const = default;
};

[[nodiscard]] std::string encode_request(const LocalRequest& request);
// `invalid_argument`: not what encode_request writes; what it does not know it refuses, since a
// flag that is not understood must not be as if it were not there.
[[nodiscard]] Result<LocalRequest> parse_request(std::string_view text);

// What `facts` is answered with.
struct ServiceFacts {
  std::string unrecorded;        // why nothing can be recorded; empty: it can
  std::string problem;           // what keeps passes from running; empty: nothing
  std::string rejected;          // why agent.yaml is not in force; empty: it is
  std::int64_t interval_ns = 0;  // between two passes; 0: none runs by itself
  WallNs next_beat;              // when the next one begins, if the clock goes on as now
  bool pass_runs = false;
  std::string link;  // who this node is and what its link does; empty: it is no node
  bool operator==(const ServiceFacts&) const = default;
};
[[nodiscard]] std::string encode_facts(const ServiceFacts& facts);
[[nodiscard]] Result<ServiceFacts> parse_facts(std::string_view text);

}  // namespace datum::host
