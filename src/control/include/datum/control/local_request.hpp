// What a command asks of the control plane over its local socket, and what it is answered. Both
// ends use this; docs/formats/control-socket.md is the same in words. Pure.
//
// A connection carries one request: for a push first its blobs, each as frames `blob` and one
// `blob_end` with its digest, then the request: what does not fit in a frame goes ahead in frames
// `request_part`, and the frame `request` has its end. The answer: any number of `output` and
// `errors` (text for the caller's standard streams), and `end` with the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/core/link_message.hpp"

namespace datum::control {

enum class LocalFrame : std::uint8_t {
  request = 1,
  blob = 2,
  blob_end = 3,
  request_part = 4,
  output = 17,
  errors = 18,
  end = 19,
};

// A push to 10,000 nodes names each with its manifest: 130 to 200 bytes.
inline constexpr std::size_t kMaxLocalRequest = std::size_t{4} * 1024 * 1024;

enum class LocalVerb : std::uint8_t {
  status,
  nodes,
  node,
  accept,
  refuse,
  forget,
  revoke,
  token_create,
  token_list,
  token_withdraw,
  profiles,  // of the nodes that a push may reach: what a fleet is resolved with
  push,
  push_resume,
  push_abort,
  hold,
  lift,
  orders,
  drift,
};
[[nodiscard]] std::string_view to_string(LocalVerb verb);
// It records nothing and sends nobody anything.
[[nodiscard]] bool only_reads(LocalVerb verb);

// One node's part of a push.
struct PushedManifest {
  std::string node;
  Digest manifest;  // of its bytes, which were sent or are there already
  std::uint64_t bytes = 0;
  bool operator==(const PushedManifest&) const = default;
};

struct LocalRequest {
  LocalVerb verb = LocalVerb::status;
  std::string command_line;  // "datum-control revoke": recorded with the caller's name
  bool json = false;
  bool colour = false;
  std::uint64_t width = 0;
  std::string target;  // a node, or a token's id
  std::string reason;
  // token create
  std::string names = "*";
  std::int64_t ttl_ns = 0;
  bool multi = false;
  bool by_hand = false;
  std::vector<core::Fact> required;
  std::vector<core::Fact> labels;
  std::int64_t silent_ns = 0;  // status: who is silent for so long; 0: how many hosts match
  // hold, lift: for whom, with `labels`; orders: `all` lists answered ones too
  std::vector<std::string> nodes;
  bool all = false;
  std::int64_t for_ns = 0;  // 0: without end
  // push
  std::string source, revision;
  std::uint32_t allow_removals = 0;
  std::string stages;  // "1,10%"; empty: all at once
  std::int64_t soak_ns = 0;
  std::int64_t revert_unless_linked_ns = 0;  // 0: never
  std::vector<PushedManifest> manifests;
  bool operator==(const LocalRequest&) const = default;
};

[[nodiscard]] std::string encode_request(const LocalRequest& request);
// `invalid_argument` for anything that encode_request does not write.
[[nodiscard]] Result<LocalRequest> parse_request(std::string_view text);

// The answer to `profiles`: what is known of the nodes that a push may reach.
struct NodeProfile {
  std::string node;
  std::vector<core::Fact> profile;
  std::vector<core::Fact> labels;
};
[[nodiscard]] std::string encode_profiles(const std::vector<NodeProfile>& profiles);
[[nodiscard]] Result<std::vector<NodeProfile>> parse_profiles(std::string_view text);

}  // namespace datum::control
