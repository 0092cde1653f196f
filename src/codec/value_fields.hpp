// Members of the values that events, plans and states share (schema/value.capnp).
#pragma once

#include "datum/core/event.hpp"
#include "fields.hpp"

namespace datum::codec {

DATUM_STRUCT(model::Reference) {
  DATUM_FIELD(type, Type);
  DATUM_FIELD(name, Name);
}
DATUM_STRUCT(model::Target) {
  DATUM_FIELD(family, Family);
  DATUM_FIELD(name, Name);
}
DATUM_STRUCT(core::EffectiveMode) {
  DATUM_FIELD(mode, Mode);
  DATUM_FIELD(term, Term);
  DATUM_FIELD(reason, Reason);
}
DATUM_STRUCT(core::FieldDrift) {
  DATUM_FIELD(field, Field);
  DATUM_FIELD(desired, Desired);
  DATUM_FIELD(observed, Observed);
}
DATUM_STRUCT(core::Traces) {
  DATUM_FIELD(mtime, Mtime);
  DATUM_FIELD(ctime, Ctime);
  DATUM_FIELD(uid, Uid);
  DATUM_FIELD(gid, Gid);
  DATUM_FIELD(mode, Mode);
}
DATUM_STRUCT(core::Actor) {
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(name, Name);
  DATUM_FIELD(uid, Uid);
  DATUM_FIELD(command, Command);
}
DATUM_STRUCT(core::DeclarationId) {
  DATUM_FIELD(mesh, Mesh);
  DATUM_FIELD(node, Node);
  DATUM_FIELD(epoch, Epoch);
  DATUM_FIELD(number, Number);
  DATUM_FIELD(manifest, Manifest);
}
DATUM_STRUCT(core::Provenance) {
  DATUM_FIELD(source, Source);
  DATUM_FIELD(revision, Revision);
  DATUM_FIELD(pushed_by, PushedBy);
  DATUM_FIELD(documents, Documents);
}
DATUM_STRUCT(core::Counts) {
  DATUM_FIELD(converged, Converged);
  DATUM_FIELD(drifted, Drifted);
  DATUM_FIELD(unknown, Unknown);
  DATUM_FIELD(skipped, Skipped);
}
DATUM_STRUCT(core::PlanCounts) {
  DATUM_FIELD(create, Create);
  DATUM_FIELD(update, Update);
  DATUM_FIELD(replace, Replace);
  DATUM_FIELD(remove, Remove);
  DATUM_FIELD(purge, Purge);
  DATUM_FIELD(leave, Leave);
  DATUM_FIELD(release, Release);
  DATUM_FIELD(adopt, Adopt);
  DATUM_FIELD(refused, Refused);
  DATUM_FIELD(blocked, Blocked);
  DATUM_FIELD(restarts, Restarts);
  DATUM_FIELD(reloads, Reloads);
}
DATUM_STRUCT(core::WitnessedHead) {
  DATUM_FIELD(store, Store);
  DATUM_FIELD(seq, Seq);
  DATUM_FIELD(hash, Hash);
}
DATUM_STRUCT(core::Left) {
  DATUM_FIELD(found, Found);
  DATUM_FIELD(device, Device);
  DATUM_FIELD(inode, Inode);
  DATUM_FIELD(content, Content);
}

}  // namespace datum::codec
