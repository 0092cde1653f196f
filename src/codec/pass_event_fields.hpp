// Members of the events of passes, actions, notifications, ownership and judgement
// (schema/event.capnp).
#pragma once

#include "datum/core/event.hpp"
#include "fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::PassStarted) {
  DATUM_FIELD(trigger, Trigger);
  DATUM_FIELD(actor, Actor);
  DATUM_FIELD(mode, Mode);
  DATUM_FIELD(declaration, Declaration);
  DATUM_FIELD(provenance, Provenance);
  DATUM_FIELD(resources, Resources);
  DATUM_FIELD(allowed_removals, AllowedRemovals);
  DATUM_FIELD(version, Version);
  DATUM_FIELD(reverts, Reverts);
}
DATUM_STRUCT(core::UndeclaredEntry) {
  DATUM_FIELD(name, Name);
  DATUM_FIELD(found, Found);
  DATUM_FIELD(removable, Removable);
  DATUM_FIELD(is_drift, Drift);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::ResourceObserved) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(condition, Condition);
  DATUM_FIELD(found, Found);
  DATUM_FIELD(drifts, Drifts);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(obstacle, Obstacle);
  DATUM_FIELD(observation, Observation);
  DATUM_FIELD(content, Content);
  DATUM_FIELD(traces, Traces);
  DATUM_FIELD(detail, Detail);
  DATUM_FIELD(missing_parent, MissingParent);
  DATUM_FIELD(not_declared, NotDeclared);
  DATUM_FIELD(not_declared_more, NotDeclaredMore);
}
DATUM_STRUCT(core::ObservationSummarized) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(counts, Counts);
  DATUM_FIELD(observations, Observations);
}
DATUM_STRUCT(core::PlanComputed) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(plan, Plan);
  DATUM_FIELD(counts, Counts);
}
DATUM_STRUCT(core::PassFinished) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(condition, Condition);
  DATUM_FLAGS(flags, Flags);
  DATUM_FIELD(counts, Counts);
  DATUM_FIELD(planned, Planned);
  DATUM_FIELD(succeeded, Succeeded);
  DATUM_FIELD(failed, Failed);
  DATUM_FIELD(blocked, Blocked);
  DATUM_FIELD(skipped, Skipped);
  DATUM_FIELD(not_started, NotStarted);
  DATUM_FIELD(observed_only, ObservedOnly);
  DATUM_FIELD(observed_only_drifted, ObservedOnlyDrifted);
  DATUM_FIELD(observations, Observations);
  DATUM_FIELD(plan, Plan);
  DATUM_FIELD(duration_ns, DurationNs);
}
DATUM_STRUCT(core::PassInterrupted) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(cause, Cause);
  DATUM_FIELD(detail, Detail);
}
DATUM_STRUCT(core::PassResumed) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::ResourcesForgotten) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(targets, Targets);
}
DATUM_STRUCT(core::AnnouncedAction) {
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(before, Before);
  DATUM_FIELD(old_content, OldContent);
  DATUM_FIELD(traces, Traces);
  DATUM_FIELD(attributes, Attributes);
}
DATUM_STRUCT(core::ActionsAnnounced) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(wave, Wave);
  DATUM_FIELD(plan, Plan);
  DATUM_FIELD(actions, Actions);
}
DATUM_STRUCT(core::ActionSucceeded) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(condition, Condition);
  DATUM_FIELD(observation, Observation);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(atomic, Atomic);
  DATUM_FIELD(duration_ns, DurationNs);
  DATUM_FIELD(traces, Traces);
}
DATUM_STRUCT(core::ActionFailed) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(error, Error);
  DATUM_FIELD(message, Message);
  DATUM_FIELD(output, Output);
  DATUM_FIELD(same_as, SameAs);
  DATUM_FIELD(failure, Failure);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(traces, Traces);
}
DATUM_STRUCT(core::ActionsNotStarted) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinals, Ordinals);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::ActionBlocked) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(by, By);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::ActionSkipped) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::ActionToolAdopted) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(unit, Unit);
}
DATUM_STRUCT(core::ActionStillRunning) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(unit, Unit);
}
DATUM_STRUCT(core::ActionTimedOut) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(limit_ns, LimitNs);
}
DATUM_STRUCT(core::ActionQuarantined) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(deaths, Deaths);
}
DATUM_STRUCT(core::ActionRecovered) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(outcome, Outcome);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(temporary_left, TemporaryLeft);
  DATUM_FIELD(traces, Traces);
}
DATUM_STRUCT(core::NotificationRaised) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(unit, Unit);
  DATUM_FIELD(service, Service);
  DATUM_FIELD(by, By);
  DATUM_FIELD(restart, Restart);
}
DATUM_STRUCT(core::DeliveryStarted) {
  DATUM_FIELD(unit, Unit);
  DATUM_FIELD(restart, Restart);
  DATUM_FIELD(invocation, Invocation);
}
DATUM_STRUCT(core::NotificationDelivered) {
  DATUM_FIELD(unit, Unit);
  DATUM_FIELD(restart, Restart);
  DATUM_FIELD(repeated, Repeated);
}
DATUM_STRUCT(core::DeliveryFailed) {
  DATUM_FIELD(unit, Unit);
  DATUM_FIELD(restart, Restart);
  DATUM_FIELD(message, Message);
}
DATUM_STRUCT(core::NotificationDropped) {
  DATUM_FIELD(unit, Unit);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::OwnershipCreated) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(protect, Protect);
  DATUM_FIELD(requirements, Requirements);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::OwnershipAdopted) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(protect, Protect);
  DATUM_FIELD(requirements, Requirements);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::OwnershipRenamed) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
  DATUM_FIELD(protect, Protect);
  DATUM_FIELD(requirements, Requirements);
}
DATUM_STRUCT(core::OwnershipReleased) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::OwnershipRemoved) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
}
DATUM_STRUCT(core::TargetOrphaned) {
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(created, Created);
  DATUM_FIELD(protect, Protect);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(requirements, Requirements);
}
DATUM_STRUCT(core::OldContentNotKept) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(size, Size);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::TargetContested) {
  DATUM_FIELD(target, Target);
  DATUM_FIELD(corrections, Corrections);
  DATUM_FIELD(since, Since);
}
DATUM_STRUCT(core::TargetAcknowledged) {
  DATUM_FIELD(target, Target);
  DATUM_FIELD(actor, Actor);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(until, Until);
}
DATUM_STRUCT(core::PassReverted) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::TargetKept) {
  DATUM_FIELD(target, Target);
  DATUM_FIELD(until_generation, UntilGeneration);
  DATUM_FIELD(manifest, Manifest);
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(actor, Actor);
}

}  // namespace datum::codec
