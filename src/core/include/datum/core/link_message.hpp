// What a node and its control plane say to each other over a link, as plain values. `codec` owns
// the bytes, `wire` carries them, `link` knows what follows from them. The order of a conversation
// and the meaning of each message: docs/formats/link.md. Numbers are of the protocol and never
// reused; what a peer does not know it skips.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/core/facts.hpp"
#include "datum/core/status.hpp"

namespace datum::core {

// What this program speaks. A peer of another version is talked to in the lower of the two.
inline constexpr std::uint16_t kLinkVersion = 1;
// Of bytes in one message that carries a part of something: a frame holds it with its head.
inline constexpr std::size_t kMaxLinkPart = 128 * 1024;

enum class LinkKind : std::uint8_t {
  hello = 1,
  welcome = 2,
  goodbye = 3,
  enrolment_request = 10,
  enrolment_pending = 11,
  enrolment_grant = 12,
  enrolment_refusal = 13,
  declaration = 20,
  blob_request = 21,
  blob_part = 22,
  declaration_answer = 23,
  heartbeat = 30,
  journal_part = 40,
  journal_kept = 41,
  order = 50,
  order_answer = 51,
};

// Epoch first, then number: it only grows, and a restored control plane begins a new epoch.
struct Generation {
  std::uint64_t epoch = 0, number = 0;
  auto operator<=>(const Generation&) const = default;
};

struct Fact {
  std::string name, value;
  bool operator==(const Fact&) const = default;
};

// Why a connection ends, or an enrolment does not happen. Each has its remedy in the docs.
enum class LinkCause : std::uint8_t {
  stopping = 1,
  busy = 2,      // come back later
  protocol = 3,  // a message that is none, or out of turn
  too_slow = 4,  // it did not take what was sent
  version = 5,   // no version in common
  token_unknown = 6,
  token_expired = 7,
  token_used = 8,
  name_taken = 9,
  name_refused = 10,  // the token's rule does not allow it
  profile_refused = 11,
  key_unproved = 12,
  revoked = 13,
  retired = 14,
  clone = 15,      // another machine shows the same identity
  replaced = 16,   // a newer connection of the same node
  clock = 17,      // the two clocks are too far apart for certificates
  by_person = 18,  // who decides said no
};
[[nodiscard]] std::string_view to_string(LinkCause cause);

// The first message of a node with a certificate.
struct Hello {
  std::uint16_t version = kLinkVersion;
  std::string host_version;
  Id128 store;
  Seq last = 0;  // newest durable record
  Digest head;   // of the chain at `last`
  Id128 boot;
  WallNs now;
  Generation accepted;
  bool operator==(const Hello&) const = default;
};
// The answer to it, and to a renewed certificate.
struct Welcome {
  std::uint16_t version = kLinkVersion;
  std::string control_version;
  std::string mesh, node;
  WallNs now;
  Generation newest;     // released to this node; zero: none
  Seq journal_kept = 0;  // everything through it is kept upstream
  std::int64_t heartbeat_ns = 0;
  std::uint64_t order = 0;  // of the order that follows at once; 0: none does
  bool operator==(const Welcome&) const = default;
};
// The last message of either side.
struct Goodbye {
  LinkCause cause = LinkCause::stopping;
  std::string why;
  std::int64_t not_before_ns = 0;  // from now on: when it makes sense to come back
  bool operator==(const Goodbye&) const = default;
};

// The only message of a node without a certificate. Profile and inventory are the input to the
// decision, so they come with the request.
struct EnrolmentRequest {
  std::uint16_t version = kLinkVersion;
  std::string token;
  std::string wanted_name;
  Bytes key;    // Ed25519, 32 bytes
  Bytes proof;  // that key's signature over the binding of the TLS session
  std::string host_version;
  Id128 store;
  WallNs now;
  std::vector<Fact> profile;
  std::vector<Fact> inventory;
  bool operator==(const EnrolmentRequest&) const = default;
};
// A person decides; the node closes and comes back.
struct EnrolmentPending {
  std::int64_t not_before_ns = 0;
  bool operator==(const EnrolmentPending&) const = default;
};
// To a node that has a certificate already: the next one, for the same key.
struct EnrolmentGrant {
  std::string mesh, node;
  std::vector<Fact> labels;
  Bytes certificate;               // DER
  std::vector<Bytes> authorities;  // DER: who issues here
  std::vector<Bytes> signers;      // Ed25519 keys, 32 bytes each: who signs declarations
  Id128 mesh_id;                   // as declarations name it
  bool operator==(const EnrolmentGrant&) const = default;
};
struct EnrolmentRefusal {
  LinkCause cause = LinkCause::token_unknown;
  std::string why, remedy;
  bool operator==(const EnrolmentRefusal&) const = default;
};

// What is signed, as bytes: `body` is the encoding of a DeclarationBody or OrderBody, verified
// before it is read.
struct Signed {
  Digest signer;  // fingerprint of the key
  Bytes body;
  Bytes signature;  // 64 bytes
  bool operator==(const Signed&) const = default;
};
struct DeclarationBody {
  DeclarationId
      id;  // `manifest` is the blob's digest: of the bytes that codec::encode_manifest gives
  Provenance provenance;
  WallNs issued;
  std::uint64_t manifest_bytes = 0;
  bool is_final = false;                     // may leave nothing behind: retirement
  std::int64_t revert_unless_linked_ns = 0;  // 0: never
  std::uint32_t allowed_removals = 0;        // beyond the machine's own limits
  bool operator==(const DeclarationBody&) const = default;
};
struct PushedDeclaration {
  Signed declaration;
  bool operator==(const PushedDeclaration&) const = default;
};
// What the node does not have yet of a declaration: the manifest, then its content.
struct BlobRequest {
  std::vector<Digest> wanted;
  bool operator==(const BlobRequest&) const = default;
};
struct BlobPart {
  Digest blob;
  std::uint64_t offset = 0, size = 0;  // of the whole blob; size 0 with no bytes: it is not there
  Bytes bytes;
  bool operator==(const BlobPart&) const = default;
};
enum class DeclarationStep : std::uint8_t { stored = 1, accepted = 2, rejected = 3, applied = 4 };
[[nodiscard]] std::string_view to_string(DeclarationStep step);
// Sent once what it says is durable at the node.
struct DeclarationAnswer {
  Generation generation;
  DeclarationStep step = DeclarationStep::stored;
  Seq at = 0;          // the record that says so
  std::string reason;  // of a rejection
  bool operator==(const DeclarationAnswer&) const = default;
};

struct Heartbeat {
  Seq last = 0;
  WallNs now;
  Generation accepted;
  NodeLifecycle lifecycle = NodeLifecycle::enrolled;
  Mode mode = Mode::observe;
  Condition condition = Condition::unknown;
  std::uint32_t flags = 0;  // StatusFlag
  Counts counts;
  std::string host_version;
  std::string upgrading_to;  // it makes room for that version, and ends; empty: for none
  bool operator==(const Heartbeat&) const = default;
};

// Values of an export (a record and its keys block each), one behind the other, dense from `first`.
struct JournalPart {
  Id128 store;
  Seq first = 0;
  std::uint32_t count = 0;
  Bytes records;
  bool operator==(const JournalPart&) const = default;
};
// Everything through it is committed at the control plane. Also the answer to each heartbeat.
struct JournalKept {
  Seq through = 0;
  // All nodes of the mesh come back within such a time, evenly, where they lose their links at one
  // moment; 0: none is asked for.
  std::int64_t return_within_ns = 0;
  bool operator==(const JournalKept&) const = default;
};

enum class OrderKind : std::uint8_t { hold = 1, lift = 2, revoke = 3, retire = 4 };
[[nodiscard]] std::string_view to_string(OrderKind kind);
struct OrderBody {
  std::string mesh, node;    // node empty: all
  std::uint64_t number = 0;  // grows per mesh: an older order is not carried out
  OrderKind kind = OrderKind::hold;
  WallNs issued, until;  // until 0: without end
  std::string reason, by;
  bool operator==(const OrderBody&) const = default;
};
struct PushedOrder {
  Signed order;
  bool operator==(const PushedOrder&) const = default;
};
// Sent once the order's record and its number are durable at the node, or it was refused for good.
struct OrderAnswer {
  std::uint64_t number = 0;
  bool carried_out = false;
  Seq at = 0;          // the node's newest record then; 0: it was carried out before
  std::string reason;  // of a refusal
  bool operator==(const OrderAnswer&) const = default;
};

// Same order as LinkKind.
using LinkMessage =
    std::variant<Hello, Welcome, Goodbye, EnrolmentRequest, EnrolmentPending, EnrolmentGrant,
                 EnrolmentRefusal, PushedDeclaration, BlobRequest, BlobPart, DeclarationAnswer,
                 Heartbeat, JournalPart, JournalKept, PushedOrder, OrderAnswer>;

[[nodiscard]] LinkKind kind_of(const LinkMessage& message);
[[nodiscard]] std::string_view to_string(LinkKind kind);

}  // namespace datum::core
