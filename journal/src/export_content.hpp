// A content inside an export (docs/formats/export.md): a header with its digest, then its bytes in
// chunks, each with lengths and checksums of its own, so that nothing has to be held whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "datum/base/content.hpp"
#include "export_format.hpp"

namespace datum::journal {

inline constexpr std::size_t kContentHeader = 48;
inline constexpr std::size_t kChunkHeader = 24;
// Plain bytes of a chunk: two of them fit the window through which exports are read.
inline constexpr std::size_t kContentChunk = 256 * 1024;

[[nodiscard]] bool is_content_header(ByteView bytes);

using PutBytes = std::function<Status(ByteView)>;
// Writes one content. `conflict` if the bytes are not what their name says.
[[nodiscard]] Status write_content(const Digest& digest, ByteSource& source, const PutBytes& put);

// Checks the content at `offset` whole and moves `offset` behind it. `seen` gets every stored byte.
[[nodiscard]] Result<Digest> check_content(ExportSource& source, std::uint64_t& offset,
                                           const std::function<void(ByteView)>& seen);

// The bytes of a content that check_content found good, once more, from `offset`.
[[nodiscard]] std::unique_ptr<ByteSource> open_content(std::shared_ptr<const Fd> file,
                                                       std::uint64_t size, std::uint64_t offset);

}  // namespace datum::journal
