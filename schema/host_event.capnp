# Events of the host itself: its store, lifecycle, enrolment, declarations, link and reboots. Members
# of the union in event.capnp. Rules of change: README.md.
@0xdeacd6fc92ea260a;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Value = import "value.capnp";

# --- store

struct StoreCreated {
  store @0 :Data;
  root @1 :Text;
  host @2 :Text;
  source @3 :Text;
  version @4 :Text;
}

struct StoreOpened {
  boot @0 :Data;
  version @1 :Text;
  lastEnd @2 :Value.LastEnd;
}

struct StoreClosed {
  reason @0 :Text;
}

struct CorruptDetected {
  movedTo @0 :Text;
  problem @1 :Text;
}

struct StoreLossDetected {
  kind @0 :Value.LossKind;
  lastKnownOwned @1 :List(Value.Target);
  witness @2 :Value.WitnessedHead;  # null: nothing showed it, or from before it was told
  declaration @3 :Value.DeclarationId;  # null: none was accepted or stored
}

struct StoreUnwritable {
  problem @0 :Text;
  sysErrno @1 :Int32;  # 0: none
}

struct StoreWritableAgain {
  dropped @0 :UInt64;
}

struct LevelRaised {
  from @0 :UInt32;
  to @1 :UInt32;
  backup @2 :Text;
}

struct CheckpointTaken {
  through @0 :UInt64;
  state @1 :Data;
}

struct RecordsArchived {
  from @0 :UInt64;
  to @1 :UInt64;
  file @2 :Text;
  head @3 :Data;
}

struct ClockJumped {
  before @0 :Int64;  # wall
  after @1 :Int64;  # wall
}

# --- lifecycle

struct LifecycleChanged {
  from @0 :Value.NodeLifecycle;
  to @1 :Value.NodeLifecycle;
  cause @2 :Text;
  actor @3 :Value.Actor;
}

struct ModeChanged {
  from @0 :Value.EffectiveMode;
  to @1 :Value.EffectiveMode;
  actor @2 :Value.Actor;
}

struct HoldSet {
  origin @0 :Value.HoldOrigin;
  until @1 :Int64;  # wall; 0: without end
  reason @2 :Text;
  actor @3 :Value.Actor;
}

struct HoldLifted {
  origin @0 :Value.HoldOrigin;
  actor @1 :Value.Actor;
}

struct ConfigRejected {
  file @0 :Text;
  line @1 :UInt32;
  column @2 :UInt32;
  problem @3 :Text;
}

struct VersionConfirmed {
  version @0 :Text;
  pass @1 :UInt64;
}

struct UpgradePending {
  from @0 :Text;
  to @1 :Text;
}

struct RolledBack {
  from @0 :Text;
  to @1 :Text;
  cause @2 :Text;
}

struct VersionRefused {
  version @0 :Text;
  reason @1 :Text;
}

# --- enrolment

struct KeyCreated {
  fingerprint @0 :Data;
}

struct EnrolmentRequested {
  address @0 :Text;
  tokenId @1 :Text;
  profile @2 :Data;
  actor @3 :Value.Actor;
}

struct EnrolmentGranted {
  mesh @0 :Data;
  node @1 :Text;
  serial @2 :Text;
  notAfter @3 :Int64;  # wall
  labels @4 :List(Text);
}

struct EnrolmentRefused {
  reason @0 :Text;
  remedy @1 :Text;
}

struct CertificateRenewed {
  serial @0 :Text;
  notAfter @1 :Int64;  # wall
}

struct NodeRevoked {
  reason @0 :Text;
}

struct RetirementBegun {
  declaration @0 :Value.DeclarationId;
}

struct NodeRetired {
  reason @0 :Text;
}

# --- declaration

struct DeclarationReceived {
  declaration @0 :Value.DeclarationId;
}

struct DeclarationStored {
  declaration @0 :Value.DeclarationId;
  provenance @1 :Value.Provenance;
}

struct DeclarationAccepted {
  declaration @0 :Value.DeclarationId;
  provenance @1 :Value.Provenance;
  actor @2 :Value.Actor;
}

struct DeclarationRejected {
  declaration @0 :Value.DeclarationId;
  reason @1 :Text;
}

struct DeclarationSuperseded {
  declaration @0 :Value.DeclarationId;
  by @1 :Value.DeclarationId;
}

# --- link

struct LinkUp {
  address @0 :Text;
}

struct LinkDown {
  reason @0 :Text;
}

struct LinkCoalesced {
  pairs @0 :UInt32;
}

# --- reboot

struct RebootRequired {
  by @0 :Text;
}

struct RebootSeen {
  boot @0 :Data;
}
