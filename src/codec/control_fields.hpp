// Members of the events of the control plane (schema/control.capnp).
#pragma once

#include "datum/core/control_event.hpp"
#include "fields.hpp"
#include "link_fields.hpp"
#include "value_fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::control::TokenRule) {
  DATUM_FIELD(id, Id);
  DATUM_FIELD(secret_hash, SecretHash);
  DATUM_FIELD(is_multi_use, IsMultiUse);
  DATUM_FIELD(names, Names);
  DATUM_FIELD(required, Required);
  DATUM_FIELD(labels, Labels);
  DATUM_FIELD(is_by_hand, IsByHand);
  DATUM_FIELD(expires, Expires);
}
DATUM_STRUCT(core::control::Applicant) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(key, Key);
  DATUM_FIELD(fingerprint, Fingerprint);
  DATUM_FIELD(token, Token);
  DATUM_FIELD(address, Address);
  DATUM_FIELD(host_version, HostVersion);
  DATUM_FIELD(store, Store);
  DATUM_FIELD(profile, Profile);
  DATUM_FIELD(inventory, Inventory);
}
DATUM_STRUCT(core::control::NodeReport) {
  DATUM_FIELD(accepted, Accepted);
  DATUM_FIELD(lifecycle, Lifecycle);
  DATUM_FIELD(mode, Mode);
  DATUM_FIELD(condition, Condition);
  DATUM_FLAGS(flags, Flags);
  DATUM_FIELD(counts, Counts);
  DATUM_FIELD(host_version, HostVersion);
  DATUM_FIELD(upgrading_to, UpgradingTo);
}
DATUM_STRUCT(core::control::PlaneCreated) {
  DATUM_FIELD(store, Store);
  DATUM_FIELD(mesh, Mesh);
  DATUM_FIELD(mesh_id, MeshId);
  DATUM_FIELD(version, Version);
}
DATUM_STRUCT(core::control::PlaneOpened) {
  DATUM_FIELD(boot, Boot);
  DATUM_FIELD(version, Version);
  DATUM_FIELD(last_end, LastEnd);
}
DATUM_STRUCT(core::control::PlaneClosed) {
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::control::KeyMade) {
  DATUM_FIELD(use, Use);
  DATUM_FIELD(key, Key);
  DATUM_FIELD(fingerprint, Fingerprint);
  DATUM_FIELD(certificate, Certificate);
}
DATUM_STRUCT(core::control::TokenMade) {
  DATUM_FIELD(rule, Rule);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::TokenWithdrawn) {
  DATUM_FIELD(token, Token);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::NodeRequested) {
  DATUM_FIELD(applicant, Applicant);
}
DATUM_STRUCT(core::control::RequestDecided) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(fingerprint, Fingerprint);
  DATUM_FIELD(accepted, Accepted);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::EnrolmentRefused) {
  DATUM_FIELD(token, Token);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(fingerprint, Fingerprint);
  DATUM_FIELD(address, Address);
  DATUM_FIELD(cause, Cause);
  DATUM_FIELD(why, Why);
}
DATUM_STRUCT(core::control::NodeEnrolled) {
  DATUM_FIELD(applicant, Applicant);
  DATUM_FIELD(labels, Labels);
  DATUM_FIELD(serial, Serial);
  DATUM_FIELD(not_after, NotAfter);
}
DATUM_STRUCT(core::control::CertificateIssued) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(serial, Serial);
  DATUM_FIELD(not_after, NotAfter);
}
DATUM_STRUCT(core::control::NodeReported) {
  DATUM_FIELD(node, Node);
}
DATUM_STRUCT(core::control::CredentialEnded) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(standing, Standing);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::NodeForgotten) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::StoreReplaced) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(store, Store);
}
DATUM_STRUCT(core::control::PushBegun) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(source, Source);
  DATUM_FIELD(revision, Revision);
  DATUM_FIELD(nodes, Nodes);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::DeclarationReleased) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(manifest, Manifest);
  DATUM_FIELD(declaration, Declaration);
}
DATUM_STRUCT(core::control::DeclarationAnswered) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(step, Step);
  DATUM_FIELD(at, At);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::control::StatusChanged) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(report, Report);
}
DATUM_STRUCT(core::control::OrderIssued) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(number, Number);
  DATUM_FIELD(order, Order);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::PushStaged) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(stages, Stages);
  DATUM_FIELD(soak_ns, SoakNs);
  DATUM_FIELD(allowed_removals, AllowedRemovals);
}
DATUM_STRUCT(core::control::ReleasePlanned) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(manifest, Manifest);
  DATUM_FIELD(manifest_bytes, ManifestBytes);
  DATUM_FIELD(stage, Stage);
}
DATUM_STRUCT(core::control::StageBegun) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(stage, Stage);
}
DATUM_STRUCT(core::control::PushPaused) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::control::PushResumed) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(without, Without);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::PushAborted) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::PlaneRestored) {
  DATUM_FIELD(last, Last);
  DATUM_FIELD(epoch, Epoch);
  DATUM_FIELD(order, Order);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::NewerSeen) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(accepted, Accepted);
}
DATUM_STRUCT(core::control::NewerAccepted) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(accepted, Accepted);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::control::PushGuarded) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(revert_unless_linked_ns, RevertUnlessLinkedNs);
}
DATUM_STRUCT(core::control::OrderAnswered) {
  DATUM_FIELD(node, Node);
  DATUM_FIELD(number, Number);
  DATUM_FIELD(carried_out, CarriedOut);
  DATUM_FIELD(at, At);
  DATUM_FIELD(reason, Reason);
}

}  // namespace datum::codec
