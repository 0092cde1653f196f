// The file around a manifest: header, manifest part, index, contents. The layout stands in
// docs/formats/manifest-file.md, in short:
//
//   0  8  "DATUMMF1"        16  8  bytes of the manifest part     40  32  SHA-256 of bytes 0 to 39,
//   8  4  format, 1         24  8  number of contents                     manifest part and index
//  12  4  zeros             32  8  bytes of all contents          72  24  zeros
//
// then the manifest part, an entry of 48 bytes for each content (digest, offset in the file, size;
// ascending by digest), and the contents one behind the other in that order.
#include "datum/codec/manifest_file.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "datum/base/assert.hpp"
#include "datum/model/content_hash.hpp"
#include "manifest_parts.hpp"

namespace datum::codec {
namespace {

constexpr std::string_view kMagic = "DATUMMF1";
constexpr std::uint32_t kManifestFormat = 1;
constexpr std::size_t kHeaderBytes = 96;
constexpr std::size_t kHashedHeaderBytes = 40;
constexpr std::size_t kEntryBytes = 48;
// One read and one write of a content: large enough that calls cost nothing beside the hashing.
constexpr std::size_t kBufferBytes = 256 * 1024;

struct Header {
  std::uint64_t manifest_bytes = 0;
  std::uint64_t contents = 0;
  std::uint64_t content_bytes = 0;
  Digest digest;

  [[nodiscard]] Bytes encode() const {
    Bytes bytes(kHeaderBytes);
    std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
    store_le(bytes.data() + 8, kManifestFormat);
    store_le(bytes.data() + 16, manifest_bytes);
    store_le(bytes.data() + 24, contents);
    store_le(bytes.data() + 32, content_bytes);
    std::memcpy(bytes.data() + kHashedHeaderBytes, digest.bytes.data(), Digest::kSize);
    return bytes;
  }
  [[nodiscard]] std::uint64_t index_bytes() const { return contents * kEntryBytes; }
};

Digest digest_of(const Header& header, ByteView manifest, ByteView index) {
  model::ContentHasher hasher;
  hasher.update(ByteView(header.encode()).first(kHashedHeaderBytes));
  hasher.update(manifest);
  hasher.update(index);
  return hasher.finish();
}

Bytes encode_index(const NamedContents& named, std::uint64_t first) {
  Bytes index;
  index.reserve(named.size() * kEntryBytes);
  for (const auto& [digest, content] : named) {
    const auto at = index.size();
    index.resize(at + kEntryBytes);
    std::memcpy(index.data() + at, digest.bytes.data(), Digest::kSize);
    store_le(index.data() + at + 32, first);
    store_le(index.data() + at + 40, content.size);
    first += content.size;
  }
  return index;
}

tl::unexpected<Error> changed(const Digest& digest) {
  return fail(ErrorCode::conflict,
              "content " + digest.hex() + " has changed since it was resolved");
}

// Passes one content on, piece by piece, and checks afterwards that it was what it is called.
Status copy_content(const Digest& digest, std::uint64_t size, const ContentSource& contents,
                    Bytes& buffer, const ByteSink& sink) {
  DATUM_ASSIGN(const auto stream, contents.open(digest));
  model::ContentHasher hasher;
  std::uint64_t copied = 0;
  for (;;) {
    DATUM_ASSIGN(const auto count, stream->read(buffer));
    if (count == 0) break;
    copied += count;
    if (copied > size) return changed(digest);
    const auto piece = ByteView(buffer).first(count);
    hasher.update(piece);
    DATUM_TRY(sink(piece));
  }
  return copied == size && hasher.finish() == digest ? Status{} : Status(changed(digest));
}

Status write_contents(const NamedContents& named, const ContentSource& contents,
                      const ByteSink& sink) {
  Bytes buffer(kBufferBytes);
  for (const auto& [digest, content] : named) {
    if (content.bytes == nullptr) {
      DATUM_TRY(copy_content(digest, content.size, contents, buffer, sink));
      continue;
    }
    const auto bytes = as_bytes(*content.bytes);
    if (bytes.size() != content.size || model::content_digest(bytes) != digest)
      return changed(digest);
    DATUM_TRY(sink(bytes));
  }
  return {};
}

Result<Header> read_header(ByteView bytes) {
  if (bytes.size() < kHeaderBytes) return fail(ErrorCode::corrupt, "shorter than its header");
  if (as_text(bytes.first(kMagic.size())) != kMagic)
    return fail(ErrorCode::corrupt, "no compiled manifest");
  const auto format = load_le<std::uint32_t>(bytes.data() + 8);
  if (format > kManifestFormat)
    return fail(ErrorCode::unsupported_version, "format " + std::to_string(format));
  Header header;
  header.manifest_bytes = load_le<std::uint64_t>(bytes.data() + 16);
  header.contents = load_le<std::uint64_t>(bytes.data() + 24);
  header.content_bytes = load_le<std::uint64_t>(bytes.data() + 32);
  std::memcpy(header.digest.bytes.data(), bytes.data() + kHashedHeaderBytes, Digest::kSize);
  // Each on its own first, so that the sum cannot wrap.
  const std::uint64_t size = bytes.size();
  const bool fits = header.manifest_bytes <= size && header.contents <= size / kEntryBytes &&
                    header.content_bytes <= size;
  if (!fits ||
      kHeaderBytes + header.manifest_bytes + header.index_bytes() + header.content_bytes != size)
    return fail(ErrorCode::corrupt, "not as long as its header says");
  // Format, zeros and whatever else stands there: there is one header for these numbers.
  const auto expected = header.encode();
  if (!std::equal(expected.begin(), expected.end(), bytes.begin()))
    return fail(ErrorCode::corrupt, "a header with something else in it");
  return header;
}

struct Entry {
  Digest digest;
  ByteView bytes;
};

// The entries, ascending, and where those begin whose digests share their first bits: digests are
// spread evenly, so a look-up goes straight to one or two entries. However a file spreads its own,
// the search stays logarithmic.
class Index {
 public:
  explicit Index(std::vector<Entry> entries) : entries_(std::move(entries)) {
    while (bits_ < kMaxBits && (std::size_t{1} << bits_) < entries_.size()) ++bits_;
    begins_.resize((std::size_t{1} << bits_) + 1);
    for (const auto& each : entries_) ++begins_[bucket_of(each.digest) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // The place of the entry, or nothing.
  [[nodiscard]] std::optional<std::size_t> find(const Digest& digest) const {
    const auto bucket = bucket_of(digest);
    const auto at = [&](std::size_t place) {
      return entries_.begin() + static_cast<std::ptrdiff_t>(place);
    };
    const auto end = at(begins_[bucket + 1]);
    const auto found = std::lower_bound(
        at(begins_[bucket]), end, digest,
        [](const Entry& each, const Digest& wanted) { return each.digest < wanted; });
    if (found == end || found->digest != digest) return std::nullopt;
    return static_cast<std::size_t>(found - entries_.begin());
  }
  [[nodiscard]] const Entry& operator[](std::size_t place) const { return entries_[place]; }

 private:
  static constexpr unsigned kMaxBits = 24;  // as many bits of the digest as bucket_of reads

  [[nodiscard]] std::size_t bucket_of(const Digest& digest) const {
    const auto lead = (std::size_t{digest.bytes[0]} << 16U) | (std::size_t{digest.bytes[1]} << 8U) |
                      digest.bytes[2];
    return lead >> (kMaxBits - bits_);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> begins_;  // of each bucket, and where the last one ends
  unsigned bits_ = 0;
};

// The contents must lie one behind the other, from the index to the end.
Result<Index> read_index(ByteView bytes, const Header& header) {
  std::vector<Entry> index;
  index.reserve(header.contents);
  const auto* at = bytes.data() + kHeaderBytes + header.manifest_bytes;
  std::uint64_t offset = kHeaderBytes + header.manifest_bytes + header.index_bytes();
  for (std::uint64_t i = 0; i < header.contents; ++i, at += kEntryBytes) {
    Entry entry;
    std::memcpy(entry.digest.bytes.data(), at, Digest::kSize);
    const auto size = load_le<std::uint64_t>(at + 40);
    if (load_le<std::uint64_t>(at + 32) != offset || size > bytes.size() - offset)
      return fail(ErrorCode::corrupt, "a content in another place than the index says");
    if (!index.empty() && !(index.back().digest < entry.digest))
      return fail(ErrorCode::corrupt, "an index that does not ascend");
    entry.bytes = bytes.subspan(offset, size);
    offset += size;
    index.push_back(entry);
  }
  if (offset != bytes.size()) return fail(ErrorCode::corrupt, "contents that no index names");
  return Index(std::move(index));
}

// What the manifest names is in the index with that size, and nothing else is.
Status check_contents(const model::Manifest& manifest, const Index& index) {
  std::vector<bool> named(index.size());
  std::size_t count = 0;
  DATUM_TRY(visit_contents(manifest, [&](const model::Content& content) -> Status {
    if (!is_named(content)) return {};
    const auto place = index.find(content.digest);
    if (!place || index[*place].bytes.size() != content.size)
      return fail(ErrorCode::corrupt, "content " + content.digest.hex() + " is missing");
    if (!named[*place]) ++count;
    named[*place] = true;
    return {};
  }));
  if (count != index.size()) return fail(ErrorCode::corrupt, "contents that no resource names");
  return {};
}

// Compares what was read with the digest before it hands out the last piece.
class CheckedStream : public ByteSource {
 public:
  CheckedStream(const Entry& entry, std::shared_ptr<const void> owner)
      : digest_(entry.digest), rest_(entry.bytes), owner_(std::move(owner)) {}

  Result<std::size_t> read(MutableByteView out) override {
    if (broken_) return damaged();
    const auto count = std::min(out.size(), rest_.size());
    if (count == 0) return 0U;
    const auto piece = rest_.first(count);
    hasher_.update(piece);
    if (count == rest_.size() && hasher_.finish() != digest_) {
      broken_ = true;
      return damaged();
    }
    std::memcpy(out.data(), piece.data(), count);
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> damaged() const {
    return fail(ErrorCode::corrupt,
                "content " + digest_.hex() + ": the manifest's file holds other bytes");
  }

  Digest digest_;
  ByteView rest_;
  std::shared_ptr<const void> owner_;
  model::ContentHasher hasher_;
  bool broken_ = false;
};

class FileContents : public ContentSource {
 public:
  FileContents(Index index, std::shared_ptr<const void> owner)
      : index_(std::move(index)), owner_(std::move(owner)) {}

  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto place = index_.find(digest);
    if (!place)
      return fail(ErrorCode::not_found, "content " + digest.hex() + ": not in the manifest's file");
    return std::make_unique<CheckedStream>(index_[*place], owner_);
  }

 private:
  Index index_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

Status write_manifest(const model::Manifest& manifest, const ContentSource& contents,
                      const ByteSink& sink) {
  DATUM_ASSIGN(const auto body, encode_manifest(manifest, contents));
  DATUM_ASSIGN(const auto named, named_contents(manifest));
  Header header;
  header.manifest_bytes = body.size();
  header.contents = named.size();
  for (const auto& [digest, content] : named) header.content_bytes += content.size;
  const auto index = encode_index(named, kHeaderBytes + body.size() + header.index_bytes());
  header.digest = digest_of(header, body, index);
  DATUM_TRY(sink(header.encode()));
  DATUM_TRY(sink(body));
  if (!index.empty()) DATUM_TRY(sink(index));
  return write_contents(named, contents, sink);
}

Result<OpenedManifest> open_manifest(ByteView bytes, std::shared_ptr<const void> owner) {
  DATUM_ASSIGN(const auto header, read_header(bytes));
  const auto body = bytes.subspan(kHeaderBytes, header.manifest_bytes);
  const auto index_bytes = bytes.subspan(kHeaderBytes + body.size(), header.index_bytes());
  if (digest_of(header, body, index_bytes) != header.digest)
    return fail(ErrorCode::corrupt, "the digest is not that of manifest and index");
  DATUM_ASSIGN(auto index, read_index(bytes, header));
  OpenedManifest opened;
  DATUM_ASSIGN(opened.manifest, decode_manifest(body));
  DATUM_TRY(check_contents(*opened.manifest, index));
  opened.contents = std::make_shared<const FileContents>(std::move(index), std::move(owner));
  return opened;
}

}  // namespace datum::codec
