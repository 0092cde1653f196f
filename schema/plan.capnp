# The body of a plan: what `planComputed` names by digest. Canonical: equal plans are equal bytes.
# Rules of change: README.md.
@0x8ba3a283b4ad18b3;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Value = import "value.capnp";

struct PlanDocument {
  format @0 :UInt16;  # 1
  plan @1 :Plan;
}

# Everything but the identity of what was seen: two machines arrive at the same bytes.
struct Action {
  ordinal @0 :UInt32;
  kind @1 :Value.ActionKind;
  target @2 :Value.Target;
  reference @3 :Value.Reference;
  changes @4 :List(Value.FieldDrift);
  after @5 :List(UInt32);
  blockedOn @6 :List(Value.Reference);
  repeatable @7 :Bool;
  observeOnly @8 :Bool;
  privileged @9 :Bool;
  stagedBytes @10 :UInt64;
  refusal @11 :Text;
  note @12 :Text;
  found @13 :Value.Found;
}

struct PlannedNotification {
  service @0 :Value.Reference;
  restart @1 :Bool;
  by @2 :List(Value.Reference);
  observeOnly @3 :Bool;
}

struct Brake {
  removals @0 :UInt32;
  owned @1 :UInt32;
  allowed @2 :UInt32;
  engaged @3 :Bool;
}

struct Plan {
  actions @0 :List(Action);
  notifications @1 :List(PlannedNotification);
  brake @2 :Brake;
  counts @3 :Value.PlanCounts;
}
