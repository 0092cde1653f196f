# What goes over a link between a node and its control plane: each message is a root of its own, and
# the frame says which (docs/formats/link.md). Rules of change: README.md; a peer that does not know
# a message skips it. Times are nanoseconds of wall clock, `Ns` of a length.
@0xc4d1f6a27e5b9038;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Value = import "value.capnp";

enum LinkCause {
  none @0;
  stopping @1;
  busy @2;
  protocol @3;
  tooSlow @4;
  version @5;
  tokenUnknown @6;
  tokenExpired @7;
  tokenUsed @8;
  nameTaken @9;
  nameRefused @10;
  profileRefused @11;
  keyUnproved @12;
  revoked @13;
  retired @14;
  clone @15;
  replaced @16;
  clock @17;
  byPerson @18;
}

enum DeclarationStep {
  none @0;
  stored @1;
  accepted @2;
  rejected @3;
  applied @4;
}

enum OrderKind {
  none @0;
  hold @1;
  lift @2;
  revoke @3;
  retire @4;
}

struct Generation {
  epoch @0 :UInt64;
  number @1 :UInt64;
}

struct Fact {
  name @0 :Text;
  value @1 :Text;
}

struct Hello {
  version @0 :UInt16;
  hostVersion @1 :Text;
  store @2 :Data;
  last @3 :UInt64;
  head @4 :Data;
  boot @5 :Data;
  now @6 :Int64;
  accepted @7 :Generation;
}

struct Welcome {
  version @0 :UInt16;
  controlVersion @1 :Text;
  mesh @2 :Text;
  node @3 :Text;
  now @4 :Int64;
  newest @5 :Generation;
  journalKept @6 :UInt64;
  heartbeatNs @7 :Int64;
  order @8 :UInt64;
}

struct Goodbye {
  cause @0 :LinkCause;
  why @1 :Text;
  notBeforeNs @2 :Int64;
}

struct EnrolmentRequest {
  version @0 :UInt16;
  token @1 :Text;
  wantedName @2 :Text;
  key @3 :Data;
  proof @4 :Data;
  hostVersion @5 :Text;
  store @6 :Data;
  now @7 :Int64;
  profile @8 :List(Fact);
  inventory @9 :List(Fact);
}

struct EnrolmentPending {
  notBeforeNs @0 :Int64;
}

struct EnrolmentGrant {
  mesh @0 :Text;
  node @1 :Text;
  labels @2 :List(Fact);
  certificate @3 :Data;
  authorities @4 :List(Data);
  signers @5 :List(Data);
  meshId @6 :Data;
}

struct EnrolmentRefusal {
  cause @0 :LinkCause;
  why @1 :Text;
  remedy @2 :Text;
}

struct Signed {
  signer @0 :Data;
  body @1 :Data;
  signature @2 :Data;
}

struct DeclarationBody {
  id @0 :Value.DeclarationId;
  provenance @1 :Value.Provenance;
  issued @2 :Int64;
  manifestBytes @3 :UInt64;
  isFinal @4 :Bool;
  revertUnlessLinkedNs @5 :Int64;
  allowedRemovals @6 :UInt32;
}

struct PushedDeclaration {
  declaration @0 :Signed;
}

struct BlobRequest {
  wanted @0 :List(Data);
}

struct BlobPart {
  blob @0 :Data;
  offset @1 :UInt64;
  size @2 :UInt64;
  bytes @3 :Data;
}

struct DeclarationAnswer {
  generation @0 :Generation;
  step @1 :DeclarationStep;
  at @2 :UInt64;
  reason @3 :Text;
}

struct Heartbeat {
  last @0 :UInt64;
  now @1 :Int64;
  accepted @2 :Generation;
  lifecycle @3 :Value.NodeLifecycle;
  mode @4 :Value.Mode;
  condition @5 :Value.Condition;
  flags @6 :UInt32;
  counts @7 :Value.Counts;
  hostVersion @8 :Text;
  upgradingTo @9 :Text;
}

struct JournalPart {
  store @0 :Data;
  first @1 :UInt64;
  count @2 :UInt32;
  records @3 :Data;
}

struct JournalKept {
  through @0 :UInt64;
  returnWithinNs @1 :Int64;
}

struct OrderBody {
  mesh @0 :Text;
  node @1 :Text;
  number @2 :UInt64;
  kind @3 :OrderKind;
  issued @4 :Int64;
  until @5 :Int64;
  reason @6 :Text;
  by @7 :Text;
}

struct PushedOrder {
  order @0 :Signed;
}

struct OrderAnswer {
  number @0 :UInt64;
  carriedOut @1 :Bool;
  at @2 :UInt64;
  reason @3 :Text;
}
