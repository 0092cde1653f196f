// How old content lies in the blob store. The digest of a blob is written into the journal; of
// sensitive content it must say nothing. So that is wrapped: 8 bytes of magic and 32 of an HMAC in
// front of it make a digest that nobody can guess. Plain content that begins with the magic is
// wrapped too, so that unwrapping is never in doubt.
#pragma once

#include <memory>

#include "datum/base/content.hpp"
#include "datum/blobs/blob_store.hpp"

namespace datum::resource {

struct KeptContent {
  std::unique_ptr<ByteSource> stream;
  bool sensitive = false;
};
// The old content that a wave announced as `digest`, as it was on the machine. Errors as for
// opening and reading a blob. The stream must not outlive `blobs`.
[[nodiscard]] Result<KeptContent> open_kept(const ContentSource& blobs, const Digest& digest);

// Puts what `content` holds, wrapped if `salt` is not zero.
[[nodiscard]] Result<blobs::Stored> put_kept(blobs::BlobStore& blobs, ByteSource& content,
                                             const Digest& salt);

}  // namespace datum::resource
