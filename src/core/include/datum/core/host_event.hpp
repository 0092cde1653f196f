// Events of the store, the node's lifecycle, its enrolment and its declarations. See event.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/facts.hpp"

namespace datum::core {

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
// A TargetOrphaned follows for each target of the list, and for those that one record cannot hold.
struct StoreLossDetected {
  LossKind kind = LossKind::missing;
  std::vector<model::Target> last_known_owned;
  WitnessedHead witness;  // what showed it; empty: nothing did
  // Of the highest generation that the lost store had accepted or stored.
  std::optional<DeclarationId> declaration;
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

}  // namespace datum::core
