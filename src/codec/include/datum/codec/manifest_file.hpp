// Compiled manifests: what `render --output FILE` writes, `--manifest FILE` reads and a node keeps.
// A file is self-contained: the manifest, an index, and each content above model::kInlineContent
// once. Layout and rules: docs/formats/manifest-file.md; schema/manifest.capnp. This module opens
// no file: bytes come from the caller (a map or one read) and go to the caller's sink.
#pragma once

#include <functional>
#include <memory>

#include "datum/base/bytes.hpp"
#include "datum/base/content.hpp"
#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::codec {

// Takes the next bytes of the output, in order; its error ends the writing and is handed back.
using ByteSink = std::function<Status(ByteView)>;

// Writes the file. Content that the manifest does not carry is read from `contents`, in order of
// digest, each once, streamed: memory holds the manifest and one buffer, whatever the contents
// weigh. Equal manifests give equal files.
//   not_found: `contents` lacks one that the manifest names
//   conflict: a content is not what its digest or size says (it changed since it was resolved)
//   and whatever the source or the sink fail with
// After an error what went to the sink is worthless. Durability is the sink's matter.
[[nodiscard]] Status write_manifest(const model::Manifest& manifest, const ContentSource& contents,
                                    const ByteSink& sink);

struct OpenedManifest {
  model::ManifestPtr manifest;                    // copied out; does not borrow from the bytes
  std::shared_ptr<const ContentSource> contents;  // borrows from the bytes and holds their owner
};

// Reads a file's bytes. `owner` keeps them readable and unchanged for as long as `contents` lives.
// Contents are not touched here: whoever reads a stream gets its digest checked at the end of it
// (`corrupt` instead of the end). The cost is one pass over manifest and index.
//   unsupported_version: a newer format
//   corrupt: anything else: damaged, cut short, longer, unsorted, a digest that does not fit, a
//            field that its type does not have or a value outside the type's limits
[[nodiscard]] Result<OpenedManifest> open_manifest(ByteView bytes,
                                                   std::shared_ptr<const void> owner);

// The manifest part alone, as a node keeps it beside its blobs: content above
// model::kInlineContent is named by digest and must come from somewhere else. Smaller content that
// the manifest does not carry is read from `contents`. Equal manifests give equal bytes, a multiple
// of 8. Errors as above.
[[nodiscard]] Result<Bytes> encode_manifest(const model::Manifest& manifest,
                                            const ContentSource& contents);
[[nodiscard]] Result<model::ManifestPtr> decode_manifest(ByteView bytes);

}  // namespace datum::codec
