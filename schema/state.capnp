# The folded state, as a checkpoint keeps it. It can always be thrown away: the events give it
# again. So it does not evolve: a change of it takes the next format number, others are not read.
@0xa6493fe639eb8e68;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Value = import "value.capnp";
using Event = import "event.capnp";
using HostEvent = import "host_event.capnp";

struct Checkpoint {
  format @0 :UInt16;  # 6
  state @1 :State;
}

struct Acknowledgement {
  actor @0 :Value.Actor;
  reason @1 :Text;
  until @2 :Int64;  # wall; 0: without end
}

struct ResourceState {
  reference @0 :Value.Reference;
  condition @1 :Value.Condition;
  found @2 :Value.Found;
  observation @3 :Data;
  observedAt @4 :UInt64;
  seenIn @5 :UInt64;
  blocked @6 :Bool;
}

struct Owned {
  reference @0 :Value.Reference;
  created @1 :Bool;
  protect @2 :Bool;
  since @3 :UInt64;
  left @4 :Value.Left;
  requirements @5 :List(Value.Target);
}

struct Failure {
  first @0 :UInt64;
  pass @1 :UInt64;
  digest @2 :Data;
}

struct PendingNotification {
  service @0 :Value.Reference;
  restart @1 :Bool;
  raisedAt @2 :UInt64;
  started @3 :Bool;
  again @4 :Bool;
  by @5 :List(Value.Reference);
  startedRestart @6 :Bool;
  invocation @7 :Text;
  boot @8 :Data;
  repeated @9 :Bool;
}

struct RunningTool {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  unit @2 :Text;
}

struct AnnouncedState {
  ordinal @0 :UInt32;
  kind @1 :Value.ActionKind;
  target @2 :Value.Target;
  before @3 :Value.Found;
}

struct PassState {
  id @0 :UInt64;
  started @1 :Event.PassStarted;
  startedMono @2 :Int64;  # boot
  boot @3 :Data;
  counts @4 :Value.Counts;
  observations @5 :Data;
  plan @6 :Data;
  planned @7 :Value.PlanCounts;
  waves @8 :UInt32;
  succeeded @9 :UInt32;
  failed @10 :UInt32;
  blocked @11 :UInt32;
  skipped @12 :UInt32;
  notStarted @13 :UInt32;
  open @14 :List(OpenEntry);
  waveSize @15 :UInt32;
  phases @16 :List(Value.Phase);
}

struct LastPass {
  id @0 :UInt64;
  finishedAt @1 :UInt64;
  finished @2 :Event.PassFinished;
  wall @3 :Int64;  # wall
  mode @4 :Value.EffectiveMode;
  declaration @5 :Value.DeclarationId;
}

struct Kept {
  untilGeneration @0 :UInt64;
  manifest @1 :Data;
  pass @2 :UInt64;
}

struct Correction {
  wall @0 :Int64;  # wall
  mono @1 :Int64;  # boot
  boot @2 :Data;
}

struct Contest {
  corrections @0 :List(Correction);  # oldest first
  contested @1 :Bool;
}

struct Hold {
  origin @0 :Value.HoldOrigin;
  until @1 :Int64;  # wall; 0: without end
  reason @2 :Text;
  actor @3 :Value.Actor;
}

struct Leftover {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
}

struct State {
  seq @0 :UInt64;
  store @1 :Data;
  root @2 :Text;
  host @3 :Text;
  source @4 :Text;
  version @5 :Text;
  open @6 :Bool;
  boot @7 :Data;
  lifecycle @8 :Value.NodeLifecycle;
  loss @9 :HostEvent.StoreLossDetected;
  localHold @10 :Hold;
  linkHold @11 :Hold;
  stored @12 :Value.DeclarationId;
  accepted @13 :Value.DeclarationId;
  confirmedVersion @14 :Text;
  rebootRequiredBy @15 :Text;
  pass @16 :PassState;
  lastPass @17 :LastPass;
  interrupted @18 :Event.PassInterrupted;
  lastPlan @19 :Data;
  resources @20 :List(ResourceEntry);
  owned @21 :List(OwnedEntry);
  pending @22 :List(PendingEntry);
  acknowledged @23 :List(AcknowledgedEntry);
  kept @24 :List(KeptEntry);
  contests @25 :List(ContestEntry);
  failures @26 :List(FailureEntry);
  suspects @27 :List(DeathsEntry);
  quarantined @28 :List(DeathsEntry);
  leftovers @29 :List(Leftover);
  suspectedIn @30 :Data;
  lastDeclared @31 :Data;
  wall @32 :Int64;  # wall
  runningTools @33 :List(RunningToolEntry);
  rolledBack @34 :HostEvent.RolledBack;  # null: none, or a newer version was confirmed since
  lost @35 :Value.WitnessedHead;
  orphans @36 :List(OwnedEntry);
  lostDeclaration @37 :Value.DeclarationId;
}


# --- entries of maps, in ascending order of their keys

struct OpenEntry {
  key @0 :UInt32;
  value @1 :AnnouncedState;
}

struct ResourceEntry {
  key @0 :Value.Target;
  value @1 :ResourceState;
}

struct OwnedEntry {
  key @0 :Value.Target;
  value @1 :Owned;
}

struct PendingEntry {
  key @0 :Value.Target;
  value @1 :PendingNotification;
}

struct RunningToolEntry {
  key @0 :Value.Target;
  value @1 :RunningTool;
}

struct AcknowledgedEntry {
  key @0 :Value.Target;
  value @1 :Acknowledgement;
}

struct KeptEntry {
  key @0 :Value.Target;
  value @1 :Kept;
}

struct ContestEntry {
  key @0 :Value.Target;
  value @1 :Contest;
}

struct FailureEntry {
  key @0 :Value.Target;
  value @1 :Failure;
}

struct DeathsEntry {
  key @0 :Value.Target;
  value @1 :UInt32;
}
