// Where the bytes of a content digest come from: a fleet folder, a compiled manifest, the blob
// store. Content may be larger than memory, so it is only ever read as a stream.
#pragma once

#include <cstddef>
#include <memory>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"

namespace datum {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to out.size() bytes; 0 is the end.
  [[nodiscard]] virtual Result<std::size_t> read(MutableByteView out) = 0;
};

class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // A stream over the content with that SHA-256. `not_found` if this source does not have it. The
  // reader of the stream checks the digest (the bytes may have changed since they were named). Any
  // thread.
  [[nodiscard]] virtual Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const = 0;
};

}  // namespace datum
