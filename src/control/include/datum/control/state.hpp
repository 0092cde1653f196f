// What all events of the control plane add up to, and how each changes it. Pure: the same live and
// replayed. Of what happens all the time (heartbeats, connections, how far journals are kept)
// nothing is here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datum/core/control_event.hpp"

namespace datum::control {

using core::control::Standing;
using core::control::TokenRule;

// Who came with a token. A single-use token is taken again from the same key until the node's first
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
  core::Actor by;
  WallNs made;
  // The last refusal of somebody who had its secret: the same again is not said again.
  std::optional<core::control::EnrolmentRefused> refused;
  bool operator==(const TokenState&) const = default;
};

// The newest order to a node: it stands for all before it.
struct StandingOrder {
  std::uint64_t number = 0;
  core::OrderKind kind = core::OrderKind::hold;
  WallNs at, until;  // until 0: without end
  std::string reason;
  core::Actor by;
  core::Signed order;
  std::optional<core::control::OrderAnswered> answer;
  bool operator==(const StandingOrder&) const = default;
};

struct Node {
  core::control::Applicant self;  // as it enrolled; its name, key and store
  Standing standing = Standing::enrolled;
  std::string ended;  // why it is no longer enrolled
  std::vector<core::Fact> labels;
  WallNs enrolled;
  Id128 serial;  // of its certificate
  WallNs not_after;
  bool has_reported = false;
  // The newest declaration released to it.
  core::Generation newest;
  core::Signed declaration;
  Digest manifest;
  WallNs released;
  // The newest generation of which it said so.
  core::Generation stored, accepted, applied, rejected;
  std::string rejected_why;
  std::optional<core::control::NodeReport> report;
  WallNs report_changed;
  std::optional<StandingOrder> order;
  // It reported to have accepted what a restored control plane does not know; and that is as a
  // person wants it.
  core::Generation newer, newer_accepted;
  bool operator==(const Node&) const = default;
};

// A machine that waits for a person, or was judged by one and has not come back since.
struct Request {
  core::control::Applicant applicant;
  WallNs at;
  std::optional<bool> accepted;
  std::string reason;
  bool operator==(const Request&) const = default;
};

struct Push {
  core::control::PushBegun begun;
  WallNs at;
  // In stages; one stage: all at once.
  std::uint32_t stages = 1;
  std::int64_t soak_ns = 0;
  std::uint32_t allowed_removals = 0;
  std::int64_t revert_unless_linked_ns = 0;  // 0: never
  std::uint32_t stage = 0;                   // that runs, from 0
  WallNs stage_begun;
  std::map<std::string, core::control::ReleasePlanned> planned;  // of later stages, by node
  std::optional<core::control::PushPaused> paused;
  std::set<std::string> without;  // nodes that a person went on without
  bool is_aborted = false;
  bool operator==(const Push&) const = default;
};

struct State {
  Seq seq = 0;
  Id128 store;
  std::string mesh;
  Id128 mesh_id;
  bool is_open = false;  // opened, and not closed since
  Id128 boot;            // of the last opening
  std::vector<core::control::KeyMade> keys;
  std::map<std::string, TokenState> tokens;  // by id
  std::map<std::string, Node> nodes;         // by name
  std::map<Digest, Request> requests;        // by the key's fingerprint
  core::Generation last;                     // that was given out
  std::optional<Push> push;                  // the newest
  std::uint64_t last_order = 0;
  std::optional<core::control::PlaneRestored> restored;  // the last time
  bool operator==(const State&) const = default;

  [[nodiscard]] const Node* find_node(const std::string& name) const;
  [[nodiscard]] const Node* find_key(const Digest& fingerprint) const;
};

// Where an event stands in the journal.
struct EventPlace {
  Seq seq = 0;
  WallNs wall;
};
void evolve(State& state, const core::control::Event& event, const EventPlace& place);

}  // namespace datum::control
