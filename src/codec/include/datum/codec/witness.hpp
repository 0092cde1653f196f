// A store's witness to bytes and back. The schema is schema/witness.capnp, the file around it
// docs/formats/witness.md.
#pragma once

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/witness.hpp"

namespace datum::codec {

// Canonical: equal witnesses give equal bytes. Any thread.
[[nodiscard]] Bytes encode_witness(const core::Witness& witness);

// Gives back exactly what was encoded. `unsupported_version`: another format number; `corrupt`:
// anything else that is no witness. Any thread.
[[nodiscard]] Result<core::Witness> decode_witness(ByteView bytes);

}  // namespace datum::codec
