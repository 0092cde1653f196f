// Digest over one observation; the digest over all of a pass is public (observer.hpp).
#pragma once

#include "datum/resource/observer.hpp"

namespace datum::resource {

// Over everything but `identity` and `digest` itself.
[[nodiscard]] Digest digest_observation(const core::Observation& seen);

}  // namespace datum::resource
