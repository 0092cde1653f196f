// Events of a pass, its actions, notifications, ownership and judgements, of the link and of
// reboots. See event.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/facts.hpp"
#include "datum/core/plan.hpp"

namespace datum::core {

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
  PassId reverts = 0;  // the pass that this one undoes; 0: none, it enforces its declaration
  bool operator==(const PassStarted&) const = default;
};
// An entry of a purged directory that no resource declares, as it was seen.
struct UndeclaredEntry {
  std::string name;
  Found found = Found::absent;
  bool removable = true;
  bool is_drift = true;
  std::string reason;
  bool operator==(const UndeclaredEntry&) const = default;
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
  std::optional<Traces> traces;  // none from before they were recorded, or where nothing lies there
  std::string detail;            // of the obstacle, or what a correction brings with it
  std::string missing_parent;
  std::vector<UndeclaredEntry> not_declared;  // as many as a record holds
  std::uint32_t not_declared_more = 0;        // and how many it does not
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
  Digest old_content;            // blob that keeps it; zero if there is none or it is not kept
  std::optional<Traces> traces;  // of what was there; none where nothing was, or not recorded
  Digest attributes;             // blob of its extended attributes; zero if it had none
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
  std::optional<Traces> traces;  // of what was left; none where nothing was, or not recorded
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
  std::optional<Left> left;      // its target was changed all the same, and this was there then
  std::optional<Traces> traces;  // of that
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
  // A file of the action's still lies beside its target, or may come back with a power cut. Nothing
  // is removed before this is durable, and nothing at all in observe. Of an action whose end was
  // told (failed, skipped) a record with it says only that. A later record of the same pass and
  // ordinal without it says that the file is gone.
  bool temporary_left = false;
  std::optional<Traces> traces;  // as of a success
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
  std::optional<Left> left = {};    // of an orphan: by a store that was lost
  std::optional<Actor> actor = {};  // who decided so of an orphan
  bool operator==(const OwnershipCreated&) const = default;
};
struct OwnershipAdopted {
  PassId pass = 0;
  model::Target target;
  model::Reference reference;
  bool protect = false;
  std::vector<model::Target> requirements;
  Left left;
  std::optional<Actor> actor = {};  // who decided so of an orphan
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
// Owned by a store that was lost, with what that one knew of it.
struct TargetOrphaned {
  model::Target target;
  std::optional<model::Reference> reference = {};
  bool created = false;  // else adopted
  bool protect = false;
  std::optional<Left> left = {};
  std::vector<model::Target> requirements = {};
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
// An end that is long past lifts: no acknowledgement was ever made for that time.
inline constexpr WallNs kAcknowledgementLifted{1};
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
// The target is only observed until that generation is accepted; 0: no longer. Where there are no
// generations, `manifest` is what was declared then: another one ends it. `pass` 0: a person's act.
struct TargetKept {
  model::Target target;
  std::uint64_t until_generation = 0;
  Digest manifest;
  PassId pass = 0;
  Actor actor;
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

}  // namespace datum::core
