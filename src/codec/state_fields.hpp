// Members of the folded state (schema/state.capnp).
#pragma once

#include "datum/core/state.hpp"
#include "fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::Acknowledgement) {
  DATUM_FIELD(actor, Actor);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(until, Until);
}
DATUM_STRUCT(core::ResourceState) {
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(condition, Condition);
  DATUM_FIELD(found, Found);
  DATUM_FIELD(observation, Observation);
  DATUM_FIELD(observed_at, ObservedAt);
  DATUM_FIELD(seen_in, SeenIn);
  DATUM_FIELD(blocked, Blocked);
}
DATUM_STRUCT(core::Owned) {
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(created, Created);
  DATUM_FIELD(protect, Protect);
  DATUM_FIELD(since, Since);
  DATUM_FIELD(left, Left);
  DATUM_FIELD(requirements, Requirements);
}
DATUM_STRUCT(core::Failure) {
  DATUM_FIELD(first, First);
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(digest, Digest);
}
DATUM_STRUCT(core::PendingNotification) {
  DATUM_FIELD(service, Service);
  DATUM_FIELD(restart, Restart);
  DATUM_FIELD(raised_at, RaisedAt);
  DATUM_FIELD(started, Started);
  DATUM_FIELD(again, Again);
  DATUM_FIELD(by, By);
  DATUM_FIELD(started_restart, StartedRestart);
  DATUM_FIELD(invocation, Invocation);
  DATUM_FIELD(boot, Boot);
  DATUM_FIELD(repeated, Repeated);
}
DATUM_STRUCT(core::AnnouncedState) {
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(before, Before);
}
DATUM_STRUCT(core::PassState) {
  DATUM_FIELD(id, Id);
  DATUM_FIELD(started, Started);
  DATUM_FIELD(started_mono, StartedMono);
  DATUM_FIELD(boot, Boot);
  DATUM_FIELD(counts, Counts);
  DATUM_FIELD(observations, Observations);
  DATUM_FIELD(plan, Plan);
  DATUM_FIELD(planned, Planned);
  DATUM_FIELD(waves, Waves);
  DATUM_FIELD(succeeded, Succeeded);
  DATUM_FIELD(failed, Failed);
  DATUM_FIELD(blocked, Blocked);
  DATUM_FIELD(skipped, Skipped);
  DATUM_FIELD(not_started, NotStarted);
  DATUM_FIELD(open, Open);
  DATUM_FIELD(wave_size, WaveSize);
  DATUM_FIELD(phases, Phases);
}
DATUM_STRUCT(core::LastPass) {
  DATUM_FIELD(id, Id);
  DATUM_FIELD(finished_at, FinishedAt);
  DATUM_FIELD(finished, Finished);
  DATUM_FIELD(wall, Wall);
  DATUM_FIELD(mode, Mode);
  DATUM_FIELD(declaration, Declaration);
}
DATUM_STRUCT(core::Kept) {
  DATUM_FIELD(until_generation, UntilGeneration);
  DATUM_FIELD(manifest, Manifest);
  DATUM_FIELD(pass, Pass);
}
DATUM_STRUCT(core::Correction) {
  DATUM_FIELD(wall, Wall);
  DATUM_FIELD(mono, Mono);
  DATUM_FIELD(boot, Boot);
}
DATUM_STRUCT(core::Contest) {
  DATUM_FIELD(corrections, Corrections);
  DATUM_FIELD(contested, Contested);
}
DATUM_STRUCT(core::Hold) {
  DATUM_FIELD(origin, Origin);
  DATUM_FIELD(until, Until);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::Leftover) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(target, Target);
}
DATUM_STRUCT(core::RunningTool) {
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(unit, Unit);
}
DATUM_STRUCT(core::State) {
  DATUM_FIELD(seq, Seq);
  DATUM_FIELD(store, Store);
  DATUM_FIELD(root, Root);
  DATUM_FIELD(host, Host);
  DATUM_FIELD(source, Source);
  DATUM_FIELD(version, Version);
  DATUM_FIELD(open, Open);
  DATUM_FIELD(boot, Boot);
  DATUM_FIELD(lifecycle, Lifecycle);
  DATUM_FIELD(loss, Loss);
  DATUM_FIELD(local_hold, LocalHold);
  DATUM_FIELD(link_hold, LinkHold);
  DATUM_FIELD(stored, Stored);
  DATUM_FIELD(accepted, Accepted);
  DATUM_FIELD(confirmed_version, ConfirmedVersion);
  DATUM_FIELD(reboot_required_by, RebootRequiredBy);
  DATUM_FIELD(pass, Pass);
  DATUM_FIELD(last_pass, LastPass);
  DATUM_FIELD(interrupted, Interrupted);
  DATUM_FIELD(last_plan, LastPlan);
  DATUM_FIELD(resources, Resources);
  DATUM_FIELD(owned, Owned);
  DATUM_FIELD(pending, Pending);
  DATUM_FIELD(acknowledged, Acknowledged);
  DATUM_FIELD(kept, Kept);
  DATUM_FIELD(contests, Contests);
  DATUM_FIELD(failures, Failures);
  DATUM_FIELD(suspects, Suspects);
  DATUM_FIELD(quarantined, Quarantined);
  DATUM_FIELD(leftovers, Leftovers);
  DATUM_FIELD(suspected_in, SuspectedIn);
  DATUM_FIELD(last_declared, LastDeclared);
  DATUM_FIELD(wall, Wall);
  DATUM_FIELD(running_tools, RunningTools);
  DATUM_FIELD(rolled_back, RolledBack);
  DATUM_FIELD(lost, Lost);
  DATUM_FIELD(orphans, Orphans);
  DATUM_FIELD(lost_declaration, LostDeclaration);
}

}  // namespace datum::codec
