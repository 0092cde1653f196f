// Every fact that a journal of Datum can hold, as plain values. The journal owns sequence, time and
// chain; `codec` owns the bytes. Numbers of kinds are stored and never reused. Names are past
// tense.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "datum/core/mode.hpp"
#include "datum/core/observation.hpp"
#include "datum/core/plan.hpp"

namespace datum::core {

// Who caused an act. Numbers are stored.
enum class ActorKind : std::uint8_t { person = 1, service = 2, control_plane = 3, recovery = 4 };
struct Actor {
  ActorKind kind = ActorKind::service;
  std::string name;       // login name where known
  std::uint32_t uid = 0;  // real user id of the caller
  std::string command;    // of a person: the verb, no arguments
  bool operator==(const Actor&) const = default;
};

// A declaration: its manifest, generation and origin. A local pass has no mesh and number 0.
struct DeclarationId {
  Id128 mesh;
  std::string node;
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  Digest manifest;
  bool operator==(const DeclarationId&) const = default;
};
struct Provenance {
  std::string source;     // "fleet /srv/fleet", "manifest FILE", "bundle", "link"
  std::string revision;   // of the fleet's repository
  std::string pushed_by;  // actor at the control plane
  Digest documents;       // blob: file and line of every resource; zero if none
  bool operator==(const Provenance&) const = default;
};

struct Counts {
  std::uint32_t converged = 0, drifted = 0, unknown = 0, skipped = 0;
  bool operator==(const Counts&) const = default;
};

enum class LastEnd : std::uint8_t { created = 1, clean = 2, crashed = 3, rebooted = 4 };
enum class Trigger : std::uint8_t {
  start = 1,
  declaration = 2,
  timer = 3,
  reconnect = 4,
  manual = 5
};
enum class Interruption : std::uint8_t {
  reboot = 1,
  crash = 2,
  timeout = 3,
  stop = 4,
  superseded = 5,
  mode_lowered = 6,
};
enum class RecoveredOutcome : std::uint8_t { took_effect = 1, did_not = 2, untellable = 3 };
enum class LossKind : std::uint8_t {
  missing = 1,
  foreign = 2,
  corrupt = 3,
  behind_witness = 4,
  rewound = 5,
  cloned = 6,
  suspected = 7,
};
enum class HoldOrigin : std::uint8_t { local = 1, link = 2 };
enum class NodeLifecycle : std::uint8_t {
  unmanaged = 1,
  hosted = 2,
  enrolled = 3,
  disconnected = 4
};
[[nodiscard]] std::string_view to_string(LastEnd value);
[[nodiscard]] std::string_view to_string(Trigger value);
[[nodiscard]] std::string_view to_string(Interruption value);
[[nodiscard]] std::string_view to_string(RecoveredOutcome value);
[[nodiscard]] std::string_view to_string(LossKind value);
[[nodiscard]] std::string_view to_string(HoldOrigin value);
[[nodiscard]] std::string_view to_string(NodeLifecycle value);

// What Datum left in a target's place: ownership ends where this no longer holds.
struct Left {
  Found found = Found::absent;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  Digest content;
  bool operator==(const Left&) const = default;
};

// --- store
struct StoreCreated {
  Id128 store;
  std::string root, host, source, version;
  bool operator==(const StoreCreated&) const = default;
};
struct StoreOpened {
  Id128 boot;
  std::string version;
  LastEnd last_end = LastEnd::created;
  bool operator==(const StoreOpened&) const = default;
};
struct StoreClosed {
  std::string reason;
  bool operator==(const StoreClosed&) const = default;
};
struct CorruptDetected {
  std::string moved_to, problem;
  bool operator==(const CorruptDetected&) const = default;
};
struct StoreLossDetected {
  LossKind kind = LossKind::missing;
  std::vector<model::Target> last_known_owned;
  bool operator==(const StoreLossDetected&) const = default;
};
struct StoreUnwritable {
  std::string problem;
  std::int32_t sys_errno = 0;
  bool operator==(const StoreUnwritable&) const = default;
};
struct StoreWritableAgain {
  std::uint64_t dropped = 0;
  bool operator==(const StoreWritableAgain&) const = default;
};
struct LevelRaised {
  std::uint32_t from = 0, to = 0;
  std::string backup;
  bool operator==(const LevelRaised&) const = default;
};
struct CheckpointTaken {
  Seq through = 0;
  Digest state;
  bool operator==(const CheckpointTaken&) const = default;
};
struct RecordsArchived {
  Seq from = 0, to = 0;
  std::string file;
  Digest head;
  bool operator==(const RecordsArchived&) const = default;
};
struct ClockJumped {
  WallNs before, after;
  bool operator==(const ClockJumped&) const = default;
};
// --- lifecycle
struct LifecycleChanged {
  NodeLifecycle from = NodeLifecycle::unmanaged, to = NodeLifecycle::unmanaged;
  std::string cause;
  Actor actor;
  bool operator==(const LifecycleChanged&) const = default;
};
struct ModeChanged {
  EffectiveMode from, to;
  Actor actor;
  bool operator==(const ModeChanged&) const = default;
};
struct HoldSet {
  HoldOrigin origin = HoldOrigin::local;
  WallNs until;
  std::string reason;
  Actor actor;
  bool operator==(const HoldSet&) const = default;
};  // until 0: without end
struct HoldLifted {
  HoldOrigin origin = HoldOrigin::local;
  Actor actor;
  bool operator==(const HoldLifted&) const = default;
};
struct ConfigRejected {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string problem;
  bool operator==(const ConfigRejected&) const = default;
};
struct VersionConfirmed {
  std::string version;
  PassId pass = 0;
  bool operator==(const VersionConfirmed&) const = default;
};
struct UpgradePending {
  std::string from, to;
  bool operator==(const UpgradePending&) const = default;
};
struct RolledBack {
  std::string from, to, cause;
  bool operator==(const RolledBack&) const = default;
};
struct VersionRefused {
  std::string version, reason;
  bool operator==(const VersionRefused&) const = default;
};
// --- enrolment
struct KeyCreated {
  Digest fingerprint;
  bool operator==(const KeyCreated&) const = default;
};
struct EnrolmentRequested {
  std::string address, token_id;
  Digest profile;
  Actor actor;
  bool operator==(const EnrolmentRequested&) const = default;
};
struct EnrolmentGranted {
  Id128 mesh;
  std::string node, serial;
  WallNs not_after;
  std::vector<std::string> labels;
  bool operator==(const EnrolmentGranted&) const = default;
};
struct EnrolmentRefused {
  std::string reason, remedy;
  bool operator==(const EnrolmentRefused&) const = default;
};
struct CertificateRenewed {
  std::string serial;
  WallNs not_after;
  bool operator==(const CertificateRenewed&) const = default;
};
struct NodeRevoked {
  std::string reason;
  bool operator==(const NodeRevoked&) const = default;
};
struct RetirementBegun {
  DeclarationId declaration;
  bool operator==(const RetirementBegun&) const = default;
};
struct NodeRetired {
  std::string reason;
  bool operator==(const NodeRetired&) const = default;
};
// --- declaration
struct DeclarationReceived {
  DeclarationId declaration;
  bool operator==(const DeclarationReceived&) const = default;
};
struct DeclarationStored {
  DeclarationId declaration;
  Provenance provenance;
  bool operator==(const DeclarationStored&) const = default;
};
struct DeclarationAccepted {
  DeclarationId declaration;
  Provenance provenance;
  Actor actor;
  bool operator==(const DeclarationAccepted&) const = default;
};
struct DeclarationRejected {
  DeclarationId declaration;
  std::string reason;
  bool operator==(const DeclarationRejected&) const = default;
};
struct DeclarationSuperseded {
  DeclarationId declaration, by;
  bool operator==(const DeclarationSuperseded&) const = default;
};
// --- pass. Every event below carries the pass it belongs to.
struct PassStarted {
  Trigger trigger = Trigger::manual;
  Actor actor;
  EffectiveMode mode;
  DeclarationId declaration;
  Provenance provenance;
  std::uint32_t resources = 0;
  std::uint32_t allowed_removals = 0;
  std::string version;
  bool operator==(const PassStarted&) const = default;
};
struct ResourceObserved {
  PassId pass = 0;
  model::Reference reference;
  model::Target target;
  Condition condition = Condition::unknown;
  Found found = Found::unseen;
  std::vector<FieldDrift> drifts;
  std::string reason;
  Obstacle obstacle = Obstacle::none;
  Digest observation;
  Digest content;
  bool operator==(const ResourceObserved&) const = default;
};
struct ObservationSummarized {
  PassId pass = 0;
  Counts counts;
  Digest observations;
  bool operator==(const ObservationSummarized&) const = default;
};
struct PlanComputed {
  PassId pass = 0;
  Digest plan;
  PlanCounts counts;
  bool operator==(const PlanComputed&) const = default;
};  // the body is the blob `plan`
struct PassFinished {
  PassId pass = 0;
  Condition condition = Condition::unknown;  // of the host
  std::uint32_t flags = 0;                   // StatusFlag bits
  Counts counts;
  PlanCounts planned;
  std::uint32_t succeeded = 0, failed = 0, blocked = 0, skipped = 0, not_started = 0;
  std::uint32_t observed_only = 0;          // resources held in observe by policy or local list
  std::uint32_t observed_only_drifted = 0;  // of these, drifted
  Digest observations;                      // digest over all observations
  Digest plan;                              // zero when the plan was empty
  std::int64_t duration_ns = 0;             // clock that counts suspend
  bool operator==(const PassFinished&) const = default;
};
struct PassInterrupted {
  PassId pass = 0;
  Interruption cause = Interruption::crash;
  std::string detail;
  bool operator==(const PassInterrupted&) const = default;
};
struct PassResumed {
  PassId pass = 0;
  Actor actor;
  bool operator==(const PassResumed&) const = default;
};
// Resources that no document of this pass declares any more: they leave the host's status. One pass
// may need several records (a record is bounded). Ownership is another matter and not touched.
struct ResourcesForgotten {
  PassId pass = 0;
  std::vector<model::Target> targets;
  bool operator==(const ResourcesForgotten&) const = default;
};
// --- action
struct AnnouncedAction {
  std::uint32_t ordinal = 0;
  ActionKind kind = ActionKind::update;
  model::Target target;
  Found before = Found::absent;
  Digest old_content;  // blob that keeps it; zero if there is none or it is not kept
  bool operator==(const AnnouncedAction&) const = default;
};
// One wave may be announced in several records of one commit (a record is bounded).
struct ActionsAnnounced {
  PassId pass = 0;
  std::uint32_t wave = 0;
  Digest plan;
  std::vector<AnnouncedAction> actions;
  bool operator==(const ActionsAnnounced&) const = default;
};
struct ActionSucceeded {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  ActionKind kind = ActionKind::update;
  model::Target target;
  model::Reference reference;
  Condition condition = Condition::converged;  // of the observation after it
  Digest observation;                          // its digest
  Left left;
  bool atomic = true;  // false: written in place
  std::int64_t duration_ns = 0;
  bool operator==(const ActionSucceeded&) const = default;
};
struct ActionFailed {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  model::Reference reference;
  ErrorCode error = ErrorCode::internal;
  std::string message, output;
  Seq same_as = 0;  // an identical failure recorded before; then message and output are empty
  Digest failure;   // of (error, message): what makes two failures identical; zero if untold
  bool operator==(const ActionFailed&) const = default;
};
struct ActionsNotStarted {
  PassId pass = 0;
  std::vector<std::uint32_t> ordinals;
  std::string reason;
  bool operator==(const ActionsNotStarted&) const = default;
};
struct ActionBlocked {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  model::Reference reference;
  std::vector<model::Reference> by;
  std::string reason;
  bool operator==(const ActionBlocked&) const = default;
};
struct ActionSkipped {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  model::Reference reference;
  std::string reason;
  bool operator==(const ActionSkipped&) const = default;
};
struct ActionToolAdopted {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  std::string unit;
  bool operator==(const ActionToolAdopted&) const = default;
};
struct ActionStillRunning {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  std::string unit;
  bool operator==(const ActionStillRunning&) const = default;
};
struct ActionTimedOut {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  std::int64_t limit_ns = 0;
  bool operator==(const ActionTimedOut&) const = default;
};
// `deaths` 0: lifted by a person.
struct ActionQuarantined {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  std::uint32_t deaths = 0;
  bool operator==(const ActionQuarantined&) const = default;
};
struct ActionRecovered {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  RecoveredOutcome outcome = RecoveredOutcome::untellable;
  Left left;
  bool operator==(const ActionRecovered&) const = default;
};
// --- notification
struct NotificationRaised {
  PassId pass = 0;
  model::Target unit;
  model::Reference service, by;
  bool restart = false;
  bool operator==(const NotificationRaised&) const = default;
};
struct DeliveryStarted {
  model::Target unit;
  bool restart = false;
  std::string invocation;
  bool operator==(const DeliveryStarted&) const = default;
};
struct NotificationDelivered {
  model::Target unit;
  bool restart = false;
  bool repeated = false;
  bool operator==(const NotificationDelivered&) const = default;
};
struct DeliveryFailed {
  model::Target unit;
  bool restart = false;
  std::string message;
  bool operator==(const DeliveryFailed&) const = default;
};
struct NotificationDropped {
  model::Target unit;
  std::string reason;
  bool operator==(const NotificationDropped&) const = default;
};
// --- ownership
struct OwnershipCreated {
  PassId pass = 0;
  model::Target target;
  model::Reference reference;
  bool protect = false;
  std::vector<model::Target> requirements;
  bool operator==(const OwnershipCreated&) const = default;
};
struct OwnershipAdopted {
  PassId pass = 0;
  model::Target target;
  model::Reference reference;
  bool protect = false;
  std::vector<model::Target> requirements;
  Left left;
  bool operator==(const OwnershipAdopted&) const = default;
};
// The record of an owned target follows its document: name, protection, requirements. `from` equals
// `to` where only the latter two changed.
struct OwnershipRenamed {
  PassId pass = 0;
  model::Target target;
  model::Reference from, to;
  bool protect = false;
  std::vector<model::Target> requirements;
  bool operator==(const OwnershipRenamed&) const = default;
};
struct OwnershipReleased {
  PassId pass = 0;
  model::Target target;
  model::Reference reference;
  std::string reason;
  bool operator==(const OwnershipReleased&) const = default;
};
struct OwnershipRemoved {
  PassId pass = 0;
  model::Target target;
  model::Reference reference;
  bool operator==(const OwnershipRemoved&) const = default;
};
struct TargetOrphaned {
  model::Target target;
  bool operator==(const TargetOrphaned&) const = default;
};
struct OldContentNotKept {
  PassId pass = 0;
  model::Target target;
  std::uint64_t size = 0;
  std::string reason;
  bool operator==(const OldContentNotKept&) const = default;
};
// --- judgement
struct TargetContested {
  model::Target target;
  std::uint32_t corrections = 0;
  WallNs since;
  bool operator==(const TargetContested&) const = default;
};
struct TargetAcknowledged {
  model::Target target;
  Actor actor;
  std::string reason;
  WallNs until;
  bool operator==(const TargetAcknowledged&) const = default;
};
struct PassReverted {
  PassId pass = 0, by = 0;
  bool operator==(const PassReverted&) const = default;
};
// `until_generation` 0: lifted.
struct TargetKept {
  model::Target target;
  std::uint64_t until_generation = 0;
  bool operator==(const TargetKept&) const = default;
};
// --- link, reboot
struct LinkUp {
  std::string address;
  bool operator==(const LinkUp&) const = default;
};
struct LinkDown {
  std::string reason;
  bool operator==(const LinkDown&) const = default;
};
struct LinkCoalesced {
  std::uint32_t pairs = 0;
  bool operator==(const LinkCoalesced&) const = default;
};
struct RebootRequired {
  std::string by;
  bool operator==(const RebootRequired&) const = default;
};
struct RebootSeen {
  Id128 boot;
  bool operator==(const RebootSeen&) const = default;
};

// Numbers are stored in the envelope's `kind`. A new event gets the next number of its group.
enum class EventKind : std::uint16_t {
  store_created = 1,
  store_opened,
  store_closed,
  corrupt_detected,
  store_loss_detected,
  store_unwritable,
  store_writable_again,
  level_raised,
  checkpoint_taken,
  records_archived,
  clock_jumped,
  lifecycle_changed = 20,
  mode_changed,
  hold_set,
  hold_lifted,
  config_rejected,
  version_confirmed,
  upgrade_pending,
  rolled_back,
  version_refused,
  key_created = 40,
  enrolment_requested,
  enrolment_granted,
  enrolment_refused,
  certificate_renewed,
  node_revoked,
  retirement_begun,
  node_retired,
  declaration_received = 60,
  declaration_stored,
  declaration_accepted,
  declaration_rejected,
  declaration_superseded,
  pass_started = 80,
  resource_observed,
  observation_summarized,
  plan_computed,
  pass_finished,
  pass_interrupted,
  pass_resumed,
  resources_forgotten,
  actions_announced = 100,
  action_succeeded,
  action_failed,
  actions_not_started,
  action_blocked,
  action_skipped,
  action_tool_adopted,
  action_still_running,
  action_timed_out,
  action_quarantined,
  action_recovered,
  notification_raised = 120,
  delivery_started,
  notification_delivered,
  delivery_failed,
  notification_dropped,
  ownership_created = 140,
  ownership_adopted,
  ownership_renamed,
  ownership_released,
  ownership_removed,
  target_orphaned,
  old_content_not_kept,
  target_contested = 160,
  target_acknowledged,
  pass_reverted,
  target_kept,
  link_up = 180,
  link_down,
  link_coalesced,
  reboot_required = 200,
  reboot_seen,
};

// Same order as EventKind.
using Event = std::variant<
    StoreCreated, StoreOpened, StoreClosed, CorruptDetected, StoreLossDetected, StoreUnwritable,
    StoreWritableAgain, LevelRaised, CheckpointTaken, RecordsArchived, ClockJumped,
    LifecycleChanged, ModeChanged, HoldSet, HoldLifted, ConfigRejected, VersionConfirmed,
    UpgradePending, RolledBack, VersionRefused, KeyCreated, EnrolmentRequested, EnrolmentGranted,
    EnrolmentRefused, CertificateRenewed, NodeRevoked, RetirementBegun, NodeRetired,
    DeclarationReceived, DeclarationStored, DeclarationAccepted, DeclarationRejected,
    DeclarationSuperseded, PassStarted, ResourceObserved, ObservationSummarized, PlanComputed,
    PassFinished, PassInterrupted, PassResumed, ResourcesForgotten, ActionsAnnounced,
    ActionSucceeded, ActionFailed, ActionsNotStarted, ActionBlocked, ActionSkipped,
    ActionToolAdopted, ActionStillRunning, ActionTimedOut, ActionQuarantined, ActionRecovered,
    NotificationRaised, DeliveryStarted, NotificationDelivered, DeliveryFailed, NotificationDropped,
    OwnershipCreated, OwnershipAdopted, OwnershipRenamed, OwnershipReleased, OwnershipRemoved,
    TargetOrphaned, OldContentNotKept, TargetContested, TargetAcknowledged, PassReverted,
    TargetKept, LinkUp, LinkDown, LinkCoalesced, RebootRequired, RebootSeen>;

[[nodiscard]] EventKind kind_of(const Event& event);
[[nodiscard]] std::string_view to_string(EventKind kind);  // "passStarted", as in docs and JSON
// The pass an event belongs to, 0 if none. For PassStarted the caller knows: it is its own
// sequence.
[[nodiscard]] PassId pass_of(const Event& event);
// The targets an event is about (for the index `targets`); borrowed from the event.
[[nodiscard]] std::vector<const model::Target*> targets_of(const Event& event);

}  // namespace datum::core
