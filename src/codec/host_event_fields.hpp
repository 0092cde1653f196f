// Members of the events of the host itself (schema/host_event.capnp).
#pragma once

#include "datum/core/event.hpp"
#include "fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::StoreCreated) {
  DATUM_FIELD(store, Store);
  DATUM_FIELD(root, Root);
  DATUM_FIELD(host, Host);
  DATUM_FIELD(source, Source);
  DATUM_FIELD(version, Version);
}
DATUM_STRUCT(core::StoreOpened) {
  DATUM_FIELD(boot, Boot);
  DATUM_FIELD(version, Version);
  DATUM_FIELD(last_end, LastEnd);
}
DATUM_STRUCT(core::StoreClosed) {
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::CorruptDetected) {
  DATUM_FIELD(moved_to, MovedTo);
  DATUM_FIELD(problem, Problem);
}
DATUM_STRUCT(core::StoreLossDetected) {
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(last_known_owned, LastKnownOwned);
  DATUM_FIELD(witness, Witness);
  DATUM_FIELD(declaration, Declaration);
}
DATUM_STRUCT(core::StoreUnwritable) {
  DATUM_FIELD(problem, Problem);
  DATUM_FIELD(sys_errno, SysErrno);
}
DATUM_STRUCT(core::StoreWritableAgain) {
  DATUM_FIELD(dropped, Dropped);
}
DATUM_STRUCT(core::LevelRaised) {
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
  DATUM_FIELD(backup, Backup);
}
DATUM_STRUCT(core::CheckpointTaken) {
  DATUM_FIELD(through, Through);
  DATUM_FIELD(state, State);
}
DATUM_STRUCT(core::RecordsArchived) {
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
  DATUM_FIELD(file, File);
  DATUM_FIELD(head, Head);
}
DATUM_STRUCT(core::ClockJumped) {
  DATUM_FIELD(before, Before);
  DATUM_FIELD(after, After);
}
DATUM_STRUCT(core::LifecycleChanged) {
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
  DATUM_FIELD(cause, Cause);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::ModeChanged) {
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::HoldSet) {
  DATUM_FIELD(origin, Origin);
  DATUM_FIELD(until, Until);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::HoldLifted) {
  DATUM_FIELD(origin, Origin);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::ConfigRejected) {
  DATUM_FIELD(file, File);
  DATUM_FIELD(line, Line);
  DATUM_FIELD(column, Column);
  DATUM_FIELD(problem, Problem);
}
DATUM_STRUCT(core::VersionConfirmed) {
  DATUM_FIELD(version, Version);
  DATUM_FIELD(pass, Pass);
}
DATUM_STRUCT(core::UpgradePending) {
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
}
DATUM_STRUCT(core::RolledBack) {
  DATUM_FIELD(from, From);
  DATUM_FIELD(to, To);
  DATUM_FIELD(cause, Cause);
}
DATUM_STRUCT(core::VersionRefused) {
  DATUM_FIELD(version, Version);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::KeyCreated) {
  DATUM_FIELD(fingerprint, Fingerprint);
}
DATUM_STRUCT(core::EnrolmentRequested) {
  DATUM_FIELD(address, Address);
  DATUM_FIELD(token_id, TokenId);
  DATUM_FIELD(profile, Profile);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::EnrolmentGranted) {
  DATUM_FIELD(mesh, Mesh);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(serial, Serial);
  DATUM_FIELD(not_after, NotAfter);
  DATUM_FIELD(labels, Labels);
}
DATUM_STRUCT(core::EnrolmentRefused) {
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(remedy, Remedy);
}
DATUM_STRUCT(core::CertificateRenewed) {
  DATUM_FIELD(serial, Serial);
  DATUM_FIELD(not_after, NotAfter);
}
DATUM_STRUCT(core::NodeRevoked) {
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::RetirementBegun) {
  DATUM_FIELD(declaration, Declaration);
}
DATUM_STRUCT(core::NodeRetired) {
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::DeclarationReceived) {
  DATUM_FIELD(declaration, Declaration);
}
DATUM_STRUCT(core::DeclarationStored) {
  DATUM_FIELD(declaration, Declaration);
  DATUM_FIELD(provenance, Provenance);
}
DATUM_STRUCT(core::DeclarationAccepted) {
  DATUM_FIELD(declaration, Declaration);
  DATUM_FIELD(provenance, Provenance);
  DATUM_FIELD(actor, Actor);
}
DATUM_STRUCT(core::DeclarationRejected) {
  DATUM_FIELD(declaration, Declaration);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::DeclarationSuperseded) {
  DATUM_FIELD(declaration, Declaration);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::LinkUp) {
  DATUM_FIELD(address, Address);
}
DATUM_STRUCT(core::LinkDown) {
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::LinkCoalesced) {
  DATUM_FIELD(pairs, Pairs);
}
DATUM_STRUCT(core::RebootRequired) {
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::RebootSeen) {
  DATUM_FIELD(boot, Boot);
}

}  // namespace datum::codec
