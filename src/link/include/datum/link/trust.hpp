// Whom a node takes for its control plane: only what its own mesh's authority issued, or, before it
// has a mesh, what the authority issued whose key its token pins. Pure but for the clock that is
// asked.
#pragma once

#include <string>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/crypto/certificate.hpp"
#include "datum/loop/loop.hpp"
#include "datum/wire/tls.hpp"

namespace datum::link {

// For wire::TlsContext. `clock` is borrowed and asked at each handshake. The error is `refused`, in
// words for people; a matter of clocks names both times.
[[nodiscard]] wire::JudgePeer trust_authorities(std::vector<crypto::Certificate> authorities,
                                                std::string mesh, loop::Clock& clock);
// The chain has to bring along the certificate of the authority with that key.
[[nodiscard]] wire::JudgePeer trust_pin(Digest pin, loop::Clock& clock);

}  // namespace datum::link
