#include "export_content.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "datum/journal/export.hpp"
#include "envelope.hpp"

namespace datum::journal {
namespace {

constexpr std::string_view kContentMagic = "DATUMJXC";
constexpr std::size_t kContentCrcAt = 44;
constexpr std::uint32_t kCompressed = 1;
constexpr std::uint32_t kLast = 2;
constexpr std::size_t kChunkCrcAt = 20;
// Fast enough to keep up with a disk.
constexpr int kLevel = 3;

struct Chunk {
  std::uint32_t plain = 0;
  std::uint32_t stored = 0;
  std::uint32_t flags = 0;
  std::uint32_t crc = 0;  // of the stored bytes

  [[nodiscard]] bool is_last() const { return (flags & kLast) != 0; }
  [[nodiscard]] std::size_t size() const { return kChunkHeader + padded(stored); }
};

Error damaged(std::string_view what) {
  return {ErrorCode::corrupt, std::string(what)};
}

Bytes make_chunk(ByteView plain, bool last) {
  Bytes bytes(kChunkHeader + ZSTD_compressBound(plain.size()) + 8);
  std::uint32_t flags = last ? kLast : 0;
  std::size_t stored = ZSTD_compress(bytes.data() + kChunkHeader, bytes.size() - kChunkHeader,
                                     plain.data(), plain.size(), kLevel);
  if (ZSTD_isError(stored) != 0 || stored >= plain.size()) {
    std::copy(plain.begin(), plain.end(), bytes.begin() + kChunkHeader);
    stored = plain.size();
  } else {
    flags |= kCompressed;
  }
  const auto end = kChunkHeader + padded(stored);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(kChunkHeader + stored),
            bytes.begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
  bytes.resize(end);
  auto* const at = bytes.data();
  store_le<std::uint32_t>(at, static_cast<std::uint32_t>(plain.size()));
  store_le<std::uint32_t>(at + 4, static_cast<std::uint32_t>(stored));
  store_le<std::uint32_t>(at + 8, flags);
  store_le<std::uint32_t>(at + 12, crypto::crc32c(ByteView(bytes).subspan(kChunkHeader)));
  store_le<std::uint32_t>(at + 16, 0);
  store_le<std::uint32_t>(at + kChunkCrcAt, crypto::crc32c(ByteView(bytes).first(kChunkCrcAt)));
  return bytes;
}

Result<Chunk> read_chunk_header(ByteView bytes) {
  const auto* const at = bytes.data();
  if (load_le<std::uint32_t>(at + kChunkCrcAt) != crypto::crc32c(bytes.first(kChunkCrcAt)))
    return fail(damaged("the header of a part is damaged"));
  Chunk chunk;
  chunk.plain = load_le<std::uint32_t>(at);
  chunk.stored = load_le<std::uint32_t>(at + 4);
  chunk.flags = load_le<std::uint32_t>(at + 8);
  chunk.crc = load_le<std::uint32_t>(at + 12);
  const bool fits = chunk.plain <= kContentChunk && chunk.stored <= chunk.plain &&
                    (chunk.flags & ~(kCompressed | kLast)) == 0;
  if (!fits) return fail(damaged("a part is not of this format"));
  return chunk;
}

// `stored` with its padding.
Result<Bytes> unpack(const Chunk& chunk, ByteView stored) {
  if (crypto::crc32c(stored) != chunk.crc) return fail(damaged("a part is damaged"));
  const auto packed = stored.first(chunk.stored);
  if ((chunk.flags & kCompressed) == 0) {
    if (chunk.stored != chunk.plain) return fail(damaged("a part has another length"));
    return Bytes(packed.begin(), packed.end());
  }
  Bytes plain(chunk.plain);
  const auto got = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != plain.size())
    return fail(damaged("a part cannot be decompressed"));
  return plain;
}

Result<Bytes> read_full(ByteSource& source) {
  Bytes bytes(kContentChunk);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    DATUM_ASSIGN(const auto count, source.read(MutableByteView(bytes).subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  bytes.resize(filled);
  return bytes;
}

class ContentStream final : public ByteSource {
 public:
  ContentStream(std::shared_ptr<const Fd> file, std::uint64_t size, std::uint64_t offset)
      : file_(std::move(file)), size_(size), offset_(offset) {}

  Result<std::size_t> read(MutableByteView out) override {
    while (at_ == plain_.size() && !ended_) DATUM_TRY(next());
    const auto count = std::min(out.size(), plain_.size() - at_);
    std::copy_n(plain_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  Status next() {
    if (offset_ + kChunkHeader > size_) return fail(damaged("the file ends early"));
    std::array<std::byte, kChunkHeader> header{};
    DATUM_TRY(read_exact(file_->get(), offset_, header));
    DATUM_ASSIGN(const auto chunk, read_chunk_header(header));
    if (offset_ + chunk.size() > size_) return fail(damaged("the file ends early"));
    Bytes stored(chunk.size() - kChunkHeader);
    DATUM_TRY(read_exact(file_->get(), offset_ + kChunkHeader, stored));
    DATUM_ASSIGN(plain_, unpack(chunk, stored));
    at_ = 0;
    offset_ += chunk.size();
    ended_ = chunk.is_last();
    return {};
  }

  std::shared_ptr<const Fd> file_;
  std::uint64_t size_;
  std::uint64_t offset_;
  Bytes plain_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace

Digest content_digest(ByteView bytes) {
  return crypto::sha256(bytes);
}

bool is_content_header(ByteView bytes) {
  return as_text(bytes.first(kContentMagic.size())) == kContentMagic;
}

Status write_content(const Digest& digest, ByteSource& source, const PutBytes& put) {
  Bytes header(kContentHeader);
  std::memcpy(header.data(), kContentMagic.data(), kContentMagic.size());
  std::memcpy(header.data() + 8, digest.bytes.data(), Digest::kSize);
  store_le<std::uint32_t>(header.data() + kContentCrcAt,
                          crypto::crc32c(ByteView(header).first(kContentCrcAt)));
  DATUM_TRY(put(header));
  crypto::Sha256 hasher;
  DATUM_ASSIGN(auto plain, read_full(source));
  for (;;) {
    hasher.update(plain);
    Bytes following;
    if (plain.size() == kContentChunk) {
      DATUM_ASSIGN(following, read_full(source));
    }
    DATUM_TRY(put(make_chunk(plain, following.empty())));
    if (following.empty()) break;
    plain = std::move(following);
  }
  if (hasher.finish() != digest)
    return fail(ErrorCode::conflict,
                "content sha256:" + digest.hex() + " is not what its name says");
  return {};
}

Result<Digest> check_content(ExportSource& source, std::uint64_t& offset,
                             const std::function<void(ByteView)>& seen) {
  DATUM_ASSIGN(const auto header, source.view(offset, kContentHeader));
  if (load_le<std::uint32_t>(header.data() + kContentCrcAt) !=
      crypto::crc32c(header.first(kContentCrcAt)))
    return fail(damaged("the header of a content is damaged"));
  Digest digest;
  std::memcpy(digest.bytes.data(), header.data() + 8, Digest::kSize);
  seen(header);
  offset += kContentHeader;
  const auto named = [&digest](const Error& error) {
    return fail(error.code(), "content sha256:" + digest.hex() + ": " + error.message());
  };
  crypto::Sha256 hasher;
  for (bool last = false; !last;) {
    const auto chunk_header = source.view(offset, kChunkHeader);
    if (!chunk_header) return named(chunk_header.error());
    const auto chunk = read_chunk_header(*chunk_header);
    if (!chunk) return named(chunk.error());
    const auto whole = source.view(offset, chunk->size());
    if (!whole) return named(whole.error());
    const auto plain = unpack(*chunk, whole->subspan(kChunkHeader));
    if (!plain) return named(plain.error());
    hasher.update(*plain);
    seen(*whole);
    offset += chunk->size();
    last = chunk->is_last();
  }
  if (hasher.finish() != digest) return named(damaged("the bytes are not what their name says"));
  return digest;
}

std::unique_ptr<ByteSource> open_content(std::shared_ptr<const Fd> file, std::uint64_t size,
                                         std::uint64_t offset) {
  return std::make_unique<ContentStream>(std::move(file), size, offset + kContentHeader);
}

}  // namespace datum::journal
