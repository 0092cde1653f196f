// The folded state to bytes and back: what history keeps as a checkpoint. A checkpoint can always
// be thrown away, since the events give it again; so bytes of another format number are simply
// `unsupported_version` and the caller folds from the beginning. The schema is schema/state.capnp.
#pragma once

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/state.hpp"

namespace datum::codec {

// Canonical: equal states give equal bytes. A multiple of 8 bytes. Any thread.
[[nodiscard]] Bytes encode_state(const core::State& state);

// Gives back exactly what was encoded. `unsupported_version`: another format number; `corrupt`:
// anything else that is not a state, keys out of order included. Any thread.
[[nodiscard]] Result<core::State> decode_state(ByteView bytes);

}  // namespace datum::codec
