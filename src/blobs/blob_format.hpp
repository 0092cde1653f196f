// Bytes of one blob file: a header of 16 bytes (magic "DBL1", form, three zero bytes, plain size as
// 64-bit little-endian), then the payload. Pure; knows no file.
#pragma once

#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"

namespace datum::blobs {

inline constexpr std::size_t kHeaderSize = 16;

enum class Form : std::uint8_t {
  plain = 1,
  zstd = 2,
  list = 3,  // payload: digests of the parts, in order; each part but the last has kPartSize bytes
};

struct Header {
  Form form = Form::plain;
  std::uint64_t size = 0;  // of the plain content
};

// A whole file for content of at most kPartSize bytes, compressed where that saves a sixteenth.
[[nodiscard]] Bytes encode_content(ByteView content);
[[nodiscard]] Bytes encode_list(std::uint64_t size, const std::vector<Digest>& parts);

// `corrupt` for anything that no encoder here writes; `unsupported_version` for a later magic.
[[nodiscard]] Result<Header> read_header(ByteView file);
// The plain content of a file of form plain or zstd; checked against `digest`.
[[nodiscard]] Result<Bytes> decode_content(ByteView file, const Digest& digest);
[[nodiscard]] Result<std::vector<Digest>> decode_list(ByteView file);

// The longest file: a part that does not compress, or the list of 16 TiB (two million parts; more
// than any file system that Datum runs on gives one file).
inline constexpr std::size_t kMaxListBytes = 64 * 1024 * 1024;

}  // namespace datum::blobs
