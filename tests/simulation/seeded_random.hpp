// Random bytes of a program that links this: the kernel's, until a seed is given; from then on
// those of the seed, on this thread and all others. So that keys, ids and jitter are the same when
// a run is repeated. What libcrypto draws for itself (a handshake's nonces) is not touched: nothing
// that a simulation sees depends on it.
#pragma once

#include <cstdint>

namespace datum::simulation {

void seed_random(std::uint64_t seed);

}  // namespace datum::simulation
