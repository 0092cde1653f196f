// Plans to bytes and back: the body that `PlanComputed` names by digest, and what `plan --out`
// writes. The schema is schema/plan.capnp.
//
// The identities of what was seen (device, inode, size, ctime: `Action::identity`) are NOT in these
// bytes: a plan is what is to be done, and two machines, or one machine after a restored backup,
// must arrive at the same digest. A decoded plan has zero identities, so its actions have to be
// observed again before they run.
#pragma once

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/plan.hpp"

namespace datum::codec {

// Canonical: plans that are equal but for identities give equal bytes, others give others. The
// plan's digest is the SHA-256 of these bytes. A multiple of 8 bytes. Any thread.
[[nodiscard]] Bytes encode_plan(const core::Plan& plan);

// Everything but the identities. `corrupt`: not a plan: damaged, an enumeration out of range,
// ordinals that do not count from 0, an `after` that is not ascending or names no action. Any
// thread.
[[nodiscard]] Result<core::Plan> decode_plan(ByteView bytes);

}  // namespace datum::codec
