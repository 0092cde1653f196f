// The digest that names content: SHA-256 of its bytes. What a Content's digest is taken over is the
// model's to say, so layers that name or check content get it here.
#pragma once

#include "datum/crypto/digest.hpp"

namespace datum::model {

// In pieces; `finish` gives the digest and starts anew. One thread.
using ContentHasher = crypto::Sha256;

[[nodiscard]] inline Digest content_digest(ByteView bytes) {
  return crypto::sha256(bytes);
}

}  // namespace datum::model
