// Members of a plan (schema/plan.capnp). Left out on purpose: Action::identity, which says what was
// seen and not what is to be done.
#pragma once

#include "datum/core/plan.hpp"
#include "fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::Action) {
  DATUM_FIELD(ordinal, Ordinal);
  DATUM_FIELD(kind, Kind);
  DATUM_FIELD(target, Target);
  DATUM_FIELD(reference, Reference);
  DATUM_FIELD(changes, Changes);
  DATUM_FIELD(after, After);
  DATUM_FIELD(blocked_on, BlockedOn);
  DATUM_FIELD(repeatable, Repeatable);
  DATUM_FIELD(observe_only, ObserveOnly);
  DATUM_FIELD(privileged, Privileged);
  DATUM_FIELD(staged_bytes, StagedBytes);
  DATUM_FIELD(refusal, Refusal);
  DATUM_FIELD(note, Note);
  DATUM_FIELD(found, Found);
}
DATUM_STRUCT(core::PlannedNotification) {
  DATUM_FIELD(service, Service);
  DATUM_FIELD(restart, Restart);
  DATUM_FIELD(by, By);
  DATUM_FIELD(observe_only, ObserveOnly);
}
DATUM_STRUCT(core::Brake) {
  DATUM_FIELD(removals, Removals);
  DATUM_FIELD(owned, Owned);
  DATUM_FIELD(allowed, Allowed);
  DATUM_FIELD(engaged, Engaged);
}
DATUM_STRUCT(core::Plan) {
  DATUM_FIELD(actions, Actions);
  DATUM_FIELD(notifications, Notifications);
  DATUM_FIELD(brake, Brake);
  DATUM_FIELD(counts, Counts);
}

}  // namespace datum::codec
