# Values that events, plans, checkpoints and manifests share. Rules of change: README.md.
# Enumerations carry the numbers of the C++ types, which are stored; `none` is what a zero would be
# and is refused by readers, except where the type has a zero of its own (Obstacle).
# Text holds bytes as they were found: names of files and output of tools need not be UTF-8.
# Data is an id of 16 bytes or a SHA-256 of 32; empty stands for all zero ("none").
# Times are nanoseconds: `wall` since 1970-01-01 UTC, `boot` since boot, counting suspend.
@0xf0121990ed39f18f;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

enum ResourceType {
  none @0;
  file @1;
  directory @2;
  symlink @3;
  package @4;
  repository @5;
  service @6;
  user @7;
  group @8;
  sysctl @9;
  hostname @10;
  timezone @11;
  authorizedKey @12;
  setting @13;
  mount @14;
  timer @15;
}

enum TargetFamily {
  none @0;
  path @1;
  package @2;
  repository @3;
  unit @4;
  user @5;
  group @6;
  sysctl @7;
  hostname @8;
  timezone @9;
  authorizedKey @10;
  setting @11;
  mount @12;
  timer @13;
}

# Datum's closed set of error codes; the C++ numbers are free, these are not.
enum ErrorCode {
  none @0;
  invalidArgument @1;
  notFound @2;
  alreadyExists @3;
  permissionDenied @4;
  corrupt @5;
  unsupportedVersion @6;
  ioError @7;
  noSpace @8;
  readOnly @9;
  busy @10;
  timedOut @11;
  cancelled @12;
  conflict @13;
  refused @14;
  unavailable @15;
  limitExceeded @16;
  notDirectory @17;
  isDirectory @18;
  symlink @19;
  crossDevice @20;
  notEmpty @21;
  unsupported @22;
  internal @23;
}

enum Mode {
  none @0;
  observe @1;
  enforce @2;
}

enum ModeTerm {
  none @0;
  absent @1;
  configuration @2;
  argument @3;
  hold @4;
  window @5;
  policy @6;
  observeList @7;
}

enum Condition {
  none @0;
  converged @1;
  drifted @2;
  unknown @3;
  skipped @4;
}

enum Found {
  none @0;
  absent @1;
  file @2;
  directory @3;
  symlink @4;
  special @5;
  present @6;
  unseen @7;
}

enum Obstacle {
  none @0;
  mountPoint @1;
  hardLinks @2;
  noContent @3;
  notCorrected @4;
  notEmpty @5;
  immutable @6;
  unresolvedSecret @7;
  unmanagedContent @8;
  overridden @9;
  noSuchKey @10;
  noPassword @11;
}

enum ActionKind {
  none @0;
  create @1;
  update @2;
  replace @3;
  remove @4;
  purge @5;
  leave @6;
  release @7;
  adopt @8;
  rename @9;
}

enum Phase {
  waiting @0;
  announced @1;
  succeeded @2;
  failed @3;
  blocked @4;
  skipped @5;
  notStarted @6;
}

enum ActorKind {
  none @0;
  person @1;
  service @2;
  controlPlane @3;
  recovery @4;
}

enum LastEnd {
  none @0;
  created @1;
  clean @2;
  crashed @3;
  rebooted @4;
}

enum Trigger {
  none @0;
  start @1;
  declaration @2;
  timer @3;
  reconnect @4;
  manual @5;
}

enum Interruption {
  none @0;
  reboot @1;
  crash @2;
  timeout @3;
  stop @4;
  superseded @5;
  modeLowered @6;
}

enum RecoveredOutcome {
  none @0;
  tookEffect @1;
  didNot @2;
  untellable @3;
}

enum LossKind {
  none @0;
  missing @1;
  foreign @2;
  corrupt @3;
  behindWitness @4;
  rewound @5;
  cloned @6;
  suspected @7;
}

enum HoldOrigin {
  none @0;
  local @1;
  link @2;
}

enum NodeLifecycle {
  none @0;
  unmanaged @1;
  hosted @2;
  enrolled @3;
  disconnected @4;
}

struct Reference {
  type @0 :ResourceType;
  name @1 :Text;
}

struct Target {
  family @0 :TargetFamily;
  name @1 :Text;
}

struct EffectiveMode {
  mode @0 :Mode;
  term @1 :ModeTerm;
  reason @2 :Text;
}

# Bounded texts for people; sensitive values are redacted before they come here.
struct FieldDrift {
  field @0 :Text;
  desired @1 :Text;
  observed @2 :Text;
}

struct Actor {
  kind @0 :ActorKind;
  name @1 :Text;
  uid @2 :UInt32;
  command @3 :Text;
}

struct DeclarationId {
  mesh @0 :Data;
  node @1 :Text;
  epoch @2 :UInt64;
  number @3 :UInt64;
  manifest @4 :Data;
}

struct Provenance {
  source @0 :Text;
  revision @1 :Text;
  pushedBy @2 :Text;
  documents @3 :Data;
}

struct Counts {
  converged @0 :UInt32;
  drifted @1 :UInt32;
  unknown @2 :UInt32;
  skipped @3 :UInt32;
}

struct PlanCounts {
  create @0 :UInt32;
  update @1 :UInt32;
  replace @2 :UInt32;
  remove @3 :UInt32;
  purge @4 :UInt32;
  leave @5 :UInt32;
  release @6 :UInt32;
  adopt @7 :UInt32;
  refused @8 :UInt32;
  blocked @9 :UInt32;
  restarts @10 :UInt32;
  reloads @11 :UInt32;
}

# What the inode of an observed path said of itself.
struct Traces {
  mtime @0 :Int64;  # wall
  ctime @1 :Int64;  # wall
  uid @2 :UInt32;
  gid @3 :UInt32;
  mode @4 :UInt32;
}

# What Datum left in a target's place.
struct WitnessedHead {
  store @0 :Data;
  seq @1 :UInt64;
  hash @2 :Data;
}

struct Left {
  found @0 :Found;
  device @1 :UInt64;
  inode @2 :UInt64;
  content @3 :Data;
}
