# The payload of a record of the control plane's journal: one fact, one struct. A kind's number
# stands in docs/formats/control-journal.md and is not the ordinal here: a new event goes to the end
# of the union. Rules of change: README.md. Never a token's secret, never a private key.
@0xe4a1c07d93b25f16;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema::control");

using Link = import "link.capnp";
using Value = import "value.capnp";

enum KeyUse {
  none @0;
  authority @1;
  signer @2;
}

enum Standing {
  none @0;
  enrolled @1;
  retired @2;
  revoked @3;
}

struct Event {
  union {
    planeCreated @0 :PlaneCreated;
    planeOpened @1 :PlaneOpened;
    planeClosed @2 :PlaneClosed;
    keyMade @3 :KeyMade;
    tokenMade @4 :TokenMade;
    tokenWithdrawn @5 :TokenWithdrawn;
    nodeRequested @6 :NodeRequested;
    requestDecided @7 :RequestDecided;
    enrolmentRefused @8 :EnrolmentRefused;
    nodeEnrolled @9 :NodeEnrolled;
    certificateIssued @10 :CertificateIssued;
    nodeReported @11 :NodeReported;
    credentialEnded @12 :CredentialEnded;
    nodeForgotten @13 :NodeForgotten;
    storeReplaced @14 :StoreReplaced;
    pushBegun @15 :PushBegun;
    declarationReleased @16 :DeclarationReleased;
    declarationAnswered @17 :DeclarationAnswered;
    statusChanged @18 :StatusChanged;
    orderIssued @19 :OrderIssued;
    pushStaged @20 :PushStaged;
    releasePlanned @21 :ReleasePlanned;
    stageBegun @22 :StageBegun;
    pushPaused @23 :PushPaused;
    pushResumed @24 :PushResumed;
    pushAborted @25 :PushAborted;
    orderAnswered @26 :OrderAnswered;
    pushGuarded @27 :PushGuarded;
    planeRestored @28 :PlaneRestored;
    newerSeen @29 :NewerSeen;
    newerAccepted @30 :NewerAccepted;
  }
}

struct TokenRule {
  id @0 :Text;
  secretHash @1 :Data;
  isMultiUse @2 :Bool;
  names @3 :Text;
  required @4 :List(Link.Fact);
  labels @5 :List(Link.Fact);
  isByHand @6 :Bool;
  expires @7 :Int64;
}

struct Applicant {
  node @0 :Text;
  key @1 :Data;
  fingerprint @2 :Data;
  token @3 :Text;
  address @4 :Text;
  hostVersion @5 :Text;
  store @6 :Data;
  profile @7 :List(Link.Fact);
  inventory @8 :List(Link.Fact);
}

struct NodeReport {
  accepted @0 :Link.Generation;
  lifecycle @1 :Value.NodeLifecycle;
  mode @2 :Value.Mode;
  condition @3 :Value.Condition;
  flags @4 :UInt32;
  counts @5 :Value.Counts;
  hostVersion @6 :Text;
  upgradingTo @7 :Text;
}

struct PlaneCreated {
  store @0 :Data;
  mesh @1 :Text;
  meshId @2 :Data;
  version @3 :Text;
}

struct PlaneOpened {
  boot @0 :Data;
  version @1 :Text;
  lastEnd @2 :Value.LastEnd;
}

struct PlaneClosed {
  reason @0 :Text;
}

struct KeyMade {
  use @0 :KeyUse;
  key @1 :Data;
  fingerprint @2 :Data;
  certificate @3 :Data;
}

struct TokenMade {
  rule @0 :TokenRule;
  by @1 :Value.Actor;
}

struct TokenWithdrawn {
  token @0 :Text;
  by @1 :Value.Actor;
}

struct NodeRequested {
  applicant @0 :Applicant;
}

struct RequestDecided {
  node @0 :Text;
  fingerprint @1 :Data;
  accepted @2 :Bool;
  reason @3 :Text;
  by @4 :Value.Actor;
}

struct EnrolmentRefused {
  token @0 :Text;
  node @1 :Text;
  fingerprint @2 :Data;
  address @3 :Text;
  cause @4 :Link.LinkCause;
  why @5 :Text;
}

struct NodeEnrolled {
  applicant @0 :Applicant;
  labels @1 :List(Link.Fact);
  serial @2 :Data;
  notAfter @3 :Int64;
}

struct CertificateIssued {
  node @0 :Text;
  serial @1 :Data;
  notAfter @2 :Int64;
}

struct NodeReported {
  node @0 :Text;
}

struct CredentialEnded {
  node @0 :Text;
  standing @1 :Standing;
  reason @2 :Text;
  by @3 :Value.Actor;
}

struct NodeForgotten {
  node @0 :Text;
  by @1 :Value.Actor;
}

struct StoreReplaced {
  node @0 :Text;
  store @1 :Data;
}

struct PushBegun {
  generation @0 :Link.Generation;
  source @1 :Text;
  revision @2 :Text;
  nodes @3 :UInt32;
  by @4 :Value.Actor;
}

struct DeclarationReleased {
  node @0 :Text;
  generation @1 :Link.Generation;
  manifest @2 :Data;
  declaration @3 :Link.Signed;
}

struct DeclarationAnswered {
  node @0 :Text;
  generation @1 :Link.Generation;
  step @2 :Link.DeclarationStep;
  at @3 :UInt64;
  reason @4 :Text;
}

struct StatusChanged {
  node @0 :Text;
  report @1 :NodeReport;
}

struct OrderIssued {
  node @0 :Text;
  kind @1 :Link.OrderKind;
  number @2 :UInt64;
  order @3 :Link.Signed;
  by @4 :Value.Actor;
}

struct PushStaged {
  generation @0 :Link.Generation;
  stages @1 :UInt32;
  soakNs @2 :Int64;
  allowedRemovals @3 :UInt32;
}

struct ReleasePlanned {
  node @0 :Text;
  generation @1 :Link.Generation;
  manifest @2 :Data;
  manifestBytes @3 :UInt64;
  stage @4 :UInt32;
}

struct StageBegun {
  generation @0 :Link.Generation;
  stage @1 :UInt32;
}

struct PushPaused {
  generation @0 :Link.Generation;
  node @1 :Text;
  reason @2 :Text;
}

struct PushResumed {
  generation @0 :Link.Generation;
  without @1 :List(Text);
  by @2 :Value.Actor;
}

struct PushAborted {
  generation @0 :Link.Generation;
  reason @1 :Text;
  by @2 :Value.Actor;
}

struct OrderAnswered {
  node @0 :Text;
  number @1 :UInt64;
  carriedOut @2 :Bool;
  at @3 :UInt64;
  reason @4 :Text;
}

struct PushGuarded {
  generation @0 :Link.Generation;
  revertUnlessLinkedNs @1 :Int64;
}

struct PlaneRestored {
  last @0 :Link.Generation;
  epoch @1 :UInt64;
  order @2 :UInt64;
  by @3 :Value.Actor;
}

struct NewerSeen {
  node @0 :Text;
  accepted @1 :Link.Generation;
}

struct NewerAccepted {
  node @0 :Text;
  accepted @1 :Link.Generation;
  by @2 :Value.Actor;
}
