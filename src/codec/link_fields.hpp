// Members of what goes over a link (schema/link.capnp).
#pragma once

#include "datum/core/link_message.hpp"
#include "fields.hpp"
#include "value_fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::Generation) {
  DATUM_FIELD(epoch, Epoch);
  DATUM_FIELD(number, Number);
}
DATUM_STRUCT(core::Fact) {
  DATUM_FIELD(name, Name);
  DATUM_FIELD(value, Value);
}
DATUM_STRUCT(core::Hello) {
  DATUM_FIELD(version, Version);
  DATUM_FIELD(host_version, HostVersion);
  DATUM_FIELD(store, Store);
  DATUM_FIELD(last, Last);
  DATUM_FIELD(head, Head);
  DATUM_FIELD(boot, Boot);
  DATUM_FIELD(now, Now);
  DATUM_FIELD(accepted, Accepted);
}
DATUM_STRUCT(core::Welcome) {
  DATUM_FIELD(version, Version);
  DATUM_FIELD(control_version, ControlVersion);
  DATUM_FIELD(mesh, Mesh);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(now, Now);
  DATUM_FIELD(newest, Newest);
  DATUM_FIELD(journal_kept, JournalKept);
  DATUM_FIELD(heartbeat_ns, HeartbeatNs);
  DATUM_FIELD(order, Order);
}
DATUM_STRUCT(core::Goodbye) {
  DATUM_FIELD(cause, Cause);
  DATUM_FIELD(why, Why);
  DATUM_FIELD(not_before_ns, NotBeforeNs);
}
DATUM_STRUCT(core::EnrolmentRequest) {
  DATUM_FIELD(version, Version);
  DATUM_FIELD(token, Token);
  DATUM_FIELD(wanted_name, WantedName);
  DATUM_FIELD(key, Key);
  DATUM_FIELD(proof, Proof);
  DATUM_FIELD(host_version, HostVersion);
  DATUM_FIELD(store, Store);
  DATUM_FIELD(now, Now);
  DATUM_FIELD(profile, Profile);
  DATUM_FIELD(inventory, Inventory);
}
DATUM_STRUCT(core::EnrolmentPending) {
  DATUM_FIELD(not_before_ns, NotBeforeNs);
}
DATUM_STRUCT(core::EnrolmentGrant) {
  DATUM_FIELD(mesh, Mesh);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(labels, Labels);
  DATUM_FIELD(certificate, Certificate);
  DATUM_FIELD(authorities, Authorities);
  DATUM_FIELD(signers, Signers);
  DATUM_FIELD(mesh_id, MeshId);
}
DATUM_STRUCT(core::EnrolmentRefusal) {
  DATUM_FIELD(cause, Cause);
  DATUM_FIELD(why, Why);
  DATUM_FIELD(remedy, Remedy);
}
DATUM_STRUCT(core::Signed) {
  DATUM_FIELD(signer, Signer);
  DATUM_FIELD(body, Body);
  DATUM_FIELD(signature, Signature);
}
DATUM_STRUCT(core::DeclarationBody) {
  DATUM_FIELD(id, Id);
  DATUM_FIELD(provenance, Provenance);
  DATUM_FIELD(issued, Issued);
  DATUM_FIELD(manifest_bytes, ManifestBytes);
  DATUM_FIELD(is_final, IsFinal);
  DATUM_FIELD(revert_unless_linked_ns, RevertUnlessLinkedNs);
  DATUM_FIELD(allowed_removals, AllowedRemovals);
}
DATUM_STRUCT(core::PushedDeclaration) {
  DATUM_FIELD(declaration, Declaration);
}
DATUM_STRUCT(core::BlobRequest) {
  DATUM_FIELD(wanted, Wanted);
}
DATUM_STRUCT(core::BlobPart) {
  DATUM_FIELD(blob, Blob);
  DATUM_FIELD(offset, Offset);
  DATUM_FIELD(size, Size);
  DATUM_FIELD(bytes, Bytes);
}
DATUM_STRUCT(core::DeclarationAnswer) {
  DATUM_FIELD(generation, Generation);
  DATUM_FIELD(step, Step);
  DATUM_FIELD(at, At);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::Heartbeat) {
  DATUM_FIELD(last, Last);
  DATUM_FIELD(now, Now);
  DATUM_FIELD(accepted, Accepted);
  DATUM_FIELD(lifecycle, Lifecycle);
  DATUM_FIELD(mode, Mode);
  DATUM_FIELD(condition, Condition);
  DATUM_FLAGS(flags, Flags);
  DATUM_FIELD(counts, Counts);
  DATUM_FIELD(host_version, HostVersion);
  DATUM_FIELD(upgrading_to, UpgradingTo);
}
DATUM_STRUCT(core::JournalPart) {
  DATUM_FIELD(store, Store);
  DATUM_FIELD(first, First);
  DATUM_FIELD(count, Count);
  DATUM_FIELD(records, Records);
}
DATUM_STRUCT(core::JournalKept) {
  DATUM_FIELD(through, Through);
  DATUM_FIELD(return_within_ns, ReturnWithinNs);
}
DATUM_STRUCT(core::OrderBody) {
  DATUM_FIELD(mesh, Mesh);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(number, Number);
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(issued, Issued);
  DATUM_FIELD(until, Until);
  DATUM_FIELD(reason, Reason);
  DATUM_FIELD(by, By);
}
DATUM_STRUCT(core::PushedOrder) {
  DATUM_FIELD(order, Order);
}
DATUM_STRUCT(core::OrderAnswer) {
  DATUM_FIELD(number, Number);
  DATUM_FIELD(carried_out, CarriedOut);
  DATUM_FIELD(at, At);
  DATUM_FIELD(reason, Reason);
}

}  // namespace datum::codec
