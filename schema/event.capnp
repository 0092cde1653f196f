# The payload of a journal record: one fact, one struct. The envelope (number, times, chain, kind)
# is the journal's. A kind's number stands in docs/formats/events.md and is not the ordinal here: a
# new event goes to the end of the union. Rules of change: README.md.
@0xc8c49a7b06417519;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Host = import "host_event.capnp";
using Value = import "value.capnp";

struct Event {
  union {
    # store
    storeCreated @0 :Host.StoreCreated;
    storeOpened @1 :Host.StoreOpened;
    storeClosed @2 :Host.StoreClosed;
    corruptDetected @3 :Host.CorruptDetected;
    storeLossDetected @4 :Host.StoreLossDetected;
    storeUnwritable @5 :Host.StoreUnwritable;
    storeWritableAgain @6 :Host.StoreWritableAgain;
    levelRaised @7 :Host.LevelRaised;
    checkpointTaken @8 :Host.CheckpointTaken;
    recordsArchived @9 :Host.RecordsArchived;
    clockJumped @10 :Host.ClockJumped;
    # lifecycle
    lifecycleChanged @11 :Host.LifecycleChanged;
    modeChanged @12 :Host.ModeChanged;
    holdSet @13 :Host.HoldSet;
    holdLifted @14 :Host.HoldLifted;
    configRejected @15 :Host.ConfigRejected;
    versionConfirmed @16 :Host.VersionConfirmed;
    upgradePending @17 :Host.UpgradePending;
    rolledBack @18 :Host.RolledBack;
    versionRefused @19 :Host.VersionRefused;
    # enrolment
    keyCreated @20 :Host.KeyCreated;
    enrolmentRequested @21 :Host.EnrolmentRequested;
    enrolmentGranted @22 :Host.EnrolmentGranted;
    enrolmentRefused @23 :Host.EnrolmentRefused;
    certificateRenewed @24 :Host.CertificateRenewed;
    nodeRevoked @25 :Host.NodeRevoked;
    retirementBegun @26 :Host.RetirementBegun;
    nodeRetired @27 :Host.NodeRetired;
    # declaration
    declarationReceived @28 :Host.DeclarationReceived;
    declarationStored @29 :Host.DeclarationStored;
    declarationAccepted @30 :Host.DeclarationAccepted;
    declarationRejected @31 :Host.DeclarationRejected;
    declarationSuperseded @32 :Host.DeclarationSuperseded;
    # pass
    passStarted @33 :PassStarted;
    resourceObserved @34 :ResourceObserved;
    observationSummarized @35 :ObservationSummarized;
    planComputed @36 :PlanComputed;
    passFinished @37 :PassFinished;
    passInterrupted @38 :PassInterrupted;
    passResumed @39 :PassResumed;
    resourcesForgotten @40 :ResourcesForgotten;
    # action
    actionsAnnounced @41 :ActionsAnnounced;
    actionSucceeded @42 :ActionSucceeded;
    actionFailed @43 :ActionFailed;
    actionsNotStarted @44 :ActionsNotStarted;
    actionBlocked @45 :ActionBlocked;
    actionSkipped @46 :ActionSkipped;
    actionToolAdopted @47 :ActionToolAdopted;
    actionStillRunning @48 :ActionStillRunning;
    actionTimedOut @49 :ActionTimedOut;
    actionQuarantined @50 :ActionQuarantined;
    actionRecovered @51 :ActionRecovered;
    # notification
    notificationRaised @52 :NotificationRaised;
    deliveryStarted @53 :DeliveryStarted;
    notificationDelivered @54 :NotificationDelivered;
    deliveryFailed @55 :DeliveryFailed;
    notificationDropped @56 :NotificationDropped;
    # ownership
    ownershipCreated @57 :OwnershipCreated;
    ownershipAdopted @58 :OwnershipAdopted;
    ownershipRenamed @59 :OwnershipRenamed;
    ownershipReleased @60 :OwnershipReleased;
    ownershipRemoved @61 :OwnershipRemoved;
    targetOrphaned @62 :TargetOrphaned;
    oldContentNotKept @63 :OldContentNotKept;
    # judgement
    targetContested @64 :TargetContested;
    targetAcknowledged @65 :TargetAcknowledged;
    passReverted @66 :PassReverted;
    targetKept @67 :TargetKept;
    # link
    linkUp @68 :Host.LinkUp;
    linkDown @69 :Host.LinkDown;
    linkCoalesced @70 :Host.LinkCoalesced;
    # reboot
    rebootRequired @71 :Host.RebootRequired;
    rebootSeen @72 :Host.RebootSeen;
  }
}

# --- pass

struct PassStarted {
  trigger @0 :Value.Trigger;
  actor @1 :Value.Actor;
  mode @2 :Value.EffectiveMode;
  declaration @3 :Value.DeclarationId;
  provenance @4 :Value.Provenance;
  resources @5 :UInt32;
  allowedRemovals @6 :UInt32;
  version @7 :Text;
  reverts @8 :UInt64;  # the pass that this one undoes; 0: none
}

struct ResourceObserved {
  pass @0 :UInt64;
  reference @1 :Value.Reference;
  target @2 :Value.Target;
  condition @3 :Value.Condition;
  found @4 :Value.Found;
  drifts @5 :List(Value.FieldDrift);
  reason @6 :Text;
  obstacle @7 :Value.Obstacle;
  observation @8 :Data;
  content @9 :Data;
  traces @10 :Value.Traces;  # null: not recorded, or nothing lies there
  detail @11 :Text;  # of the obstacle, or what a correction brings with it
  missingParent @12 :Text;
  notDeclared @13 :List(UndeclaredEntry);  # of a purged directory, as many as fit
  notDeclaredMore @14 :UInt32;  # and how many did not
}

struct UndeclaredEntry {
  name @0 :Text;
  found @1 :Value.Found;
  removable @2 :Bool;
  drift @3 :Bool;
  reason @4 :Text;
}

struct ObservationSummarized {
  pass @0 :UInt64;
  counts @1 :Value.Counts;
  observations @2 :Data;
}

struct PlanComputed {
  pass @0 :UInt64;
  plan @1 :Data;
  counts @2 :Value.PlanCounts;
}

struct PassFinished {
  pass @0 :UInt64;
  condition @1 :Value.Condition;
  flags @2 :UInt32;  # bits of StatusFlag
  counts @3 :Value.Counts;
  planned @4 :Value.PlanCounts;
  succeeded @5 :UInt32;
  failed @6 :UInt32;
  blocked @7 :UInt32;
  skipped @8 :UInt32;
  notStarted @9 :UInt32;
  observedOnly @10 :UInt32;
  observedOnlyDrifted @11 :UInt32;
  observations @12 :Data;
  plan @13 :Data;
  durationNs @14 :Int64;  # boot clock
}

struct PassInterrupted {
  pass @0 :UInt64;
  cause @1 :Value.Interruption;
  detail @2 :Text;
}

struct PassResumed {
  pass @0 :UInt64;
  actor @1 :Value.Actor;
}

struct ResourcesForgotten {
  pass @0 :UInt64;
  targets @1 :List(Value.Target);
}

struct AnnouncedAction {
  ordinal @0 :UInt32;
  kind @1 :Value.ActionKind;
  target @2 :Value.Target;
  before @3 :Value.Found;
  oldContent @4 :Data;  # blob; empty: not kept
  traces @5 :Value.Traces;  # null: nothing was there, or they were not recorded
  attributes @6 :Data;  # blob; empty: it had no extended attributes that are carried
}

# --- action

struct ActionsAnnounced {
  pass @0 :UInt64;
  wave @1 :UInt32;
  plan @2 :Data;
  actions @3 :List(AnnouncedAction);
}

struct ActionSucceeded {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  kind @2 :Value.ActionKind;
  target @3 :Value.Target;
  reference @4 :Value.Reference;
  condition @5 :Value.Condition;
  observation @6 :Data;
  left @7 :Value.Left;
  atomic @8 :Bool;
  durationNs @9 :Int64;  # boot clock
  traces @10 :Value.Traces;  # of what was left; null: nothing was, or not recorded
}

struct ActionFailed {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  reference @3 :Value.Reference;
  error @4 :Value.ErrorCode;
  message @5 :Text;
  output @6 :Text;
  sameAs @7 :UInt64;  # sequence of an identical failure; 0: none
  failure @8 :Data;
  left @9 :Value.Left;  # its target was changed all the same, to this; null: not changed, or not recorded
  traces @10 :Value.Traces;  # of what was left; null: nothing was, or not recorded
}

struct ActionsNotStarted {
  pass @0 :UInt64;
  ordinals @1 :List(UInt32);
  reason @2 :Text;
}

struct ActionBlocked {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  reference @3 :Value.Reference;
  by @4 :List(Value.Reference);
  reason @5 :Text;
}

struct ActionSkipped {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  reference @3 :Value.Reference;
  reason @4 :Text;
}

struct ActionToolAdopted {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  unit @2 :Text;
}

struct ActionStillRunning {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  unit @3 :Text;
}

struct ActionTimedOut {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  limitNs @3 :Int64;
}

struct ActionQuarantined {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  deaths @3 :UInt32;
}

struct ActionRecovered {
  pass @0 :UInt64;
  ordinal @1 :UInt32;
  target @2 :Value.Target;
  outcome @3 :Value.RecoveredOutcome;
  left @4 :Value.Left;
  temporaryLeft @5 :Bool;
  traces @6 :Value.Traces;  # of what was left; null: nothing was, or not recorded
}

# --- notification

struct NotificationRaised {
  pass @0 :UInt64;
  unit @1 :Value.Target;
  service @2 :Value.Reference;
  by @3 :Value.Reference;
  restart @4 :Bool;
}

struct DeliveryStarted {
  unit @0 :Value.Target;
  restart @1 :Bool;
  invocation @2 :Text;
}

struct NotificationDelivered {
  unit @0 :Value.Target;
  restart @1 :Bool;
  repeated @2 :Bool;
}

struct DeliveryFailed {
  unit @0 :Value.Target;
  restart @1 :Bool;
  message @2 :Text;
}

struct NotificationDropped {
  unit @0 :Value.Target;
  reason @1 :Text;
}

# --- ownership

struct OwnershipCreated {
  pass @0 :UInt64;
  target @1 :Value.Target;
  reference @2 :Value.Reference;
  protect @3 :Bool;
  requirements @4 :List(Value.Target);
  left @5 :Value.Left;  # null: of this store, as the action left it
  actor @6 :Value.Actor;  # null: a pass, and not somebody who decided about an orphan
}

struct OwnershipAdopted {
  pass @0 :UInt64;
  target @1 :Value.Target;
  reference @2 :Value.Reference;
  protect @3 :Bool;
  requirements @4 :List(Value.Target);
  left @5 :Value.Left;
  actor @6 :Value.Actor;  # null: a pass, and not somebody who decided about an orphan
}

struct OwnershipRenamed {
  pass @0 :UInt64;
  target @1 :Value.Target;
  from @2 :Value.Reference;
  to @3 :Value.Reference;
  protect @4 :Bool;
  requirements @5 :List(Value.Target);
}

struct OwnershipReleased {
  pass @0 :UInt64;
  target @1 :Value.Target;
  reference @2 :Value.Reference;
  reason @3 :Text;
}

struct OwnershipRemoved {
  pass @0 :UInt64;
  target @1 :Value.Target;
  reference @2 :Value.Reference;
}

struct TargetOrphaned {
  target @0 :Value.Target;
  reference @1 :Value.Reference;  # null: from before it was told
  created @2 :Bool;
  protect @3 :Bool;
  left @4 :Value.Left;
  requirements @5 :List(Value.Target);
}

struct OldContentNotKept {
  pass @0 :UInt64;
  target @1 :Value.Target;
  size @2 :UInt64;
  reason @3 :Text;
}

# --- judgement

struct TargetContested {
  target @0 :Value.Target;
  corrections @1 :UInt32;
  since @2 :Int64;  # wall
}

struct TargetAcknowledged {
  target @0 :Value.Target;
  actor @1 :Value.Actor;
  reason @2 :Text;
  until @3 :Int64;  # wall; 0: without end
}

struct PassReverted {
  pass @0 :UInt64;
  by @1 :UInt64;
}

struct TargetKept {
  target @0 :Value.Target;
  untilGeneration @1 :UInt64;
  manifest @2 :Data;  # where there are no generations: as long as this one is declared
  pass @3 :UInt64;  # the reverting one; 0: a person said so
  actor @4 :Value.Actor = (kind = service);
}
