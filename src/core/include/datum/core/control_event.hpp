// Everything that the control plane's journal can say, as plain values: its own union, beside the
// host's. `codec` owns the bytes, `control` decides and evolves. Numbers are stored and never
// reused; docs/formats/control-journal.md lists them with their members. Secrets are never here: of
// a token its hash, of a key its public half.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/core/facts.hpp"
#include "datum/core/link_message.hpp"

namespace datum::core::control {

enum class EventKind : std::uint16_t {
  // store
  plane_created = 1,
  plane_opened = 2,
  plane_closed = 3,
  key_made = 4,
  plane_restored = 5,
  // tokens
  token_made = 20,
  token_withdrawn = 21,
  // nodes
  node_requested = 30,
  request_decided = 31,
  enrolment_refused = 32,
  node_enrolled = 33,
  certificate_issued = 34,
  node_reported = 35,
  credential_ended = 36,
  node_forgotten = 37,
  store_replaced = 38,
  newer_seen = 39,
  newer_accepted = 40,
  // declarations
  push_begun = 50,
  declaration_released = 51,
  declaration_answered = 52,
  push_staged = 53,
  release_planned = 54,
  stage_begun = 55,
  push_paused = 56,
  push_resumed = 57,
  push_aborted = 58,
  push_guarded = 59,
  // status
  status_changed = 60,
  // orders
  order_issued = 70,
  order_answered = 71,
};

// What a token allows.
struct TokenRule {
  std::string id;  // 8 letters: Token::id_text
  Digest secret_hash;
  bool is_multi_use = false;
  std::string names = "*";     // a glob, as in agent.yaml
  std::vector<Fact> required;  // of the profile: exactly these values
  std::vector<Fact> labels;    // that nodes get
  bool is_by_hand = false;     // a person accepts each
  WallNs expires;
  bool operator==(const TokenRule&) const = default;
};

enum class KeyUse : std::uint8_t {
  authority = 1,  // issues certificates
  signer = 2,     // signs declarations and orders
};
[[nodiscard]] std::string_view to_string(KeyUse use);

// Of a node's credential.
enum class Standing : std::uint8_t { enrolled = 1, retired = 2, revoked = 3 };
[[nodiscard]] std::string_view to_string(Standing standing);

// What a machine says of itself when it wants to be a node.
struct Applicant {
  std::string node;    // the name that it asks for
  Bytes key;           // Ed25519, 32 bytes
  Digest fingerprint;  // of that key
  std::string token;   // id
  std::string address;
  std::string host_version;
  Id128 store;
  std::vector<Fact> profile;
  std::vector<Fact> inventory;
  bool operator==(const Applicant&) const = default;
};

// What a heartbeat says of a node, but for what changes with every one.
struct NodeReport {
  Generation accepted;
  NodeLifecycle lifecycle = NodeLifecycle::enrolled;
  Mode mode = Mode::observe;
  Condition condition = Condition::unknown;
  std::uint32_t flags = 0;  // StatusFlag
  Counts counts;
  std::string host_version;
  std::string upgrading_to;  // the version that it made room for; empty: for none
  bool operator==(const NodeReport&) const = default;
};

struct PlaneCreated {
  Id128 store;
  std::string mesh;
  Id128 mesh_id;
  std::string version;
  bool operator==(const PlaneCreated&) const = default;
};
struct PlaneOpened {
  Id128 boot;
  std::string version;
  LastEnd last_end = LastEnd::clean;
  bool operator==(const PlaneOpened&) const = default;
};
struct PlaneClosed {
  std::string reason;
  bool operator==(const PlaneClosed&) const = default;
};
struct KeyMade {
  KeyUse use = KeyUse::authority;
  Bytes key;           // Ed25519, 32 bytes
  Digest fingerprint;  // of that key
  Bytes certificate;   // DER; of an authority
  bool operator==(const KeyMade&) const = default;
};

struct TokenMade {
  TokenRule rule;
  Actor by;
  bool operator==(const TokenMade&) const = default;
};
struct TokenWithdrawn {
  std::string token;
  Actor by;
  bool operator==(const TokenWithdrawn&) const = default;
};

// Waits for a person.
struct NodeRequested {
  Applicant applicant;
  bool operator==(const NodeRequested&) const = default;
};
struct RequestDecided {
  std::string node;
  Digest fingerprint;
  bool accepted = false;
  std::string reason;
  Actor by;
  bool operator==(const RequestDecided&) const = default;
};
// Of somebody who had a token's secret; said once for the same cause, key and name.
struct EnrolmentRefused {
  std::string token;
  std::string node;
  Digest fingerprint;
  std::string address;
  LinkCause cause = LinkCause::token_unknown;
  std::string why;
  bool operator==(const EnrolmentRefused&) const = default;
};
// Also of a node that comes again with its token before its first report: then the latest counts.
struct NodeEnrolled {
  Applicant applicant;  // `node` is the name that it got
  std::vector<Fact> labels;
  Id128 serial;  // of its certificate
  WallNs not_after;
  bool operator==(const NodeEnrolled&) const = default;
};
struct CertificateIssued {
  std::string node;
  Id128 serial;
  WallNs not_after;
  bool operator==(const CertificateIssued&) const = default;
};
// The first time that it did: its token is used up for its key too.
struct NodeReported {
  std::string node;
  bool operator==(const NodeReported&) const = default;
};
struct CredentialEnded {
  std::string node;
  Standing standing = Standing::revoked;
  std::string reason;
  Actor by;
  bool operator==(const CredentialEnded&) const = default;
};
struct NodeForgotten {
  std::string node;
  Actor by;
  bool operator==(const NodeForgotten&) const = default;
};
struct StoreReplaced {
  std::string node;
  Id128 store;
  bool operator==(const StoreReplaced&) const = default;
};

struct PushBegun {
  Generation generation;
  std::string source;
  std::string revision;
  std::uint32_t nodes = 0;
  Actor by;
  bool operator==(const PushBegun&) const = default;
};
struct DeclarationReleased {
  std::string node;
  Generation generation;
  Digest manifest;
  Signed declaration;
  bool operator==(const DeclarationReleased&) const = default;
};
struct DeclarationAnswered {
  std::string node;
  Generation generation;
  DeclarationStep step = DeclarationStep::stored;
  Seq at = 0;  // the node's record
  std::string reason;
  bool operator==(const DeclarationAnswered&) const = default;
};

struct StatusChanged {
  std::string node;
  NodeReport report;
  bool operator==(const StatusChanged&) const = default;
};

struct OrderIssued {
  std::string node;  // empty: all
  OrderKind kind = OrderKind::hold;
  std::uint64_t number = 0;
  Signed order;
  Actor by;
  bool operator==(const OrderIssued&) const = default;
};

// Of a push that goes out in stages: how many, and how long each is watched at least.
struct PushStaged {
  Generation generation;
  std::uint32_t stages = 0;
  std::int64_t soak_ns = 0;
  std::uint32_t allowed_removals = 0;
  bool operator==(const PushStaged&) const = default;
};
// What a later stage releases.
struct ReleasePlanned {
  std::string node;
  Generation generation;
  Digest manifest;
  std::uint64_t manifest_bytes = 0;
  std::uint32_t stage = 0;  // from 0
  bool operator==(const ReleasePlanned&) const = default;
};
// The second stage and later ones; the first begins with the push.
struct StageBegun {
  Generation generation;
  std::uint32_t stage = 0;
  bool operator==(const StageBegun&) const = default;
};
struct PushPaused {
  Generation generation;
  std::string node;  // that it did not go well on
  std::string reason;
  bool operator==(const PushPaused&) const = default;
};
// A person goes on to the next stage without these nodes.
struct PushResumed {
  Generation generation;
  std::vector<std::string> without;
  Actor by;
  bool operator==(const PushResumed&) const = default;
};
// What is released stays so; nothing more is.
struct PushAborted {
  Generation generation;
  std::string reason;
  Actor by;
  bool operator==(const PushAborted&) const = default;
};

// Of a push that nodes undo by themselves unless they are heard within a time after they applied
// it.
struct PushGuarded {
  Generation generation;
  std::int64_t revert_unless_linked_ns = 0;
  bool operator==(const PushGuarded&) const = default;
};
// What the node said of the newest order to it.
struct OrderAnswered {
  std::string node;
  std::uint64_t number = 0;
  bool carried_out = false;
  Seq at = 0;  // the node's record; 0: it had carried it out before
  std::string reason;
  bool operator==(const OrderAnswered&) const = default;
};

// The store was made of a backup: what was given out after it is not known here.
struct PlaneRestored {
  Generation last;          // that the backup knows
  std::uint64_t epoch = 0;  // of every generation from now on: above all before
  std::uint64_t order = 0;  // orders from now on have higher numbers than any before
  Actor by;
  bool operator==(const PlaneRestored&) const = default;
};
// A node has accepted what the backup does not know of: it is not let in until a person says so.
struct NewerSeen {
  std::string node;
  Generation accepted;
  bool operator==(const NewerSeen&) const = default;
};
struct NewerAccepted {
  std::string node;
  Generation accepted;
  Actor by;
  bool operator==(const NewerAccepted&) const = default;
};

using Event =
    std::variant<PlaneCreated, PlaneOpened, PlaneClosed, KeyMade, TokenMade, TokenWithdrawn,
                 NodeRequested, RequestDecided, EnrolmentRefused, NodeEnrolled, CertificateIssued,
                 NodeReported, CredentialEnded, NodeForgotten, StoreReplaced, PushBegun,
                 DeclarationReleased, DeclarationAnswered, StatusChanged, OrderIssued, PushStaged,
                 ReleasePlanned, StageBegun, PushPaused, PushResumed, PushAborted, OrderAnswered,
                 PushGuarded, PlaneRestored, NewerSeen, NewerAccepted>;

[[nodiscard]] EventKind kind_of(const Event& event);
// The node that it is about; empty: none, or all.
[[nodiscard]] std::string_view node_of(const Event& event);

}  // namespace datum::core::control
