#include "export_format.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "envelope.hpp"
#include "export_content.hpp"

namespace datum::journal {
namespace {

constexpr std::string_view kHeaderMagic = "DATUMJX1";
constexpr std::string_view kTrailerMagic = "DATUMJXE";
// 2 if there is more in it than a store's own records, so that a reader that knows only those says
// so.
constexpr std::uint32_t kPlainFormat = 1;
constexpr std::uint32_t kFormat = 2;
constexpr std::uint32_t kRewritten = 1;
constexpr std::uint32_t kCarriesContents = 2;
constexpr std::size_t kExportFlagsAt = 48;
constexpr std::size_t kOriginalAt = 56;
constexpr std::size_t kContentsAt = 56;  // of the trailer

// Larger than the largest value, small enough not to matter.
constexpr std::size_t kWindow = 512 * 1024;
static_assert(kWindow > kMinValueSize + kMaxPayload + kMaxEntryKeys * (2 + 64 + kMaxName) + 16);

constexpr std::size_t kExportCrcAt = 92;
constexpr std::size_t kTrailerCrcAt = 60;

Result<ExportFacts> read_header(ByteView bytes, std::uint64_t file_size) {
  const auto* const at = bytes.data();
  if (as_text(bytes.first(8)) != kHeaderMagic)
    return fail(ErrorCode::corrupt, "the file is no journal export");
  if (load_le<std::uint32_t>(at + kExportCrcAt) != crypto::crc32c(bytes.first(kExportCrcAt)))
    return fail(ErrorCode::corrupt, "the export's header is damaged");
  const auto flags = load_le<std::uint32_t>(at + kExportFlagsAt);
  if (load_le<std::uint32_t>(at + 8) > kFormat || flags > (kRewritten | kCarriesContents))
    return fail(ErrorCode::unsupported_version, "the export has a newer format");
  ExportFacts facts;
  if ((flags & kRewritten) != 0)
    std::memcpy(facts.original.bytes.data(), at + kOriginalAt, Digest::kSize);
  facts.carries_contents = (flags & kCarriesContents) != 0;
  facts.level = load_le<std::uint32_t>(at + 12);
  std::memcpy(facts.store.bytes.data(), at + 16, Id128::kSize);
  facts.first = load_le<std::uint64_t>(at + 32);
  facts.last = load_le<std::uint64_t>(at + 40);
  const auto most = (file_size - kExportHeader) / kMinValueSize;
  if (facts.first == 0 || facts.last + 1 < facts.first || facts.count() > most)
    return fail(ErrorCode::corrupt, "the export is shorter than its header says");
  return facts;
}

}  // namespace

Bytes make_export_header(const ExportFacts& facts) {
  Bytes bytes(kExportHeader);
  auto* const at = bytes.data();
  std::memcpy(at, kHeaderMagic.data(), kHeaderMagic.size());
  const std::uint32_t flags =
      (facts.original.empty() ? 0 : kRewritten) | (facts.carries_contents ? kCarriesContents : 0);
  store_le<std::uint32_t>(at + 8, flags == 0 ? kPlainFormat : kFormat);
  store_le<std::uint32_t>(at + 12, facts.level);
  std::memcpy(at + 16, facts.store.bytes.data(), Id128::kSize);
  store_le<std::uint64_t>(at + 32, facts.first);
  store_le<std::uint64_t>(at + 40, facts.last);
  store_le<std::uint32_t>(at + kExportFlagsAt, flags);
  std::memcpy(at + kOriginalAt, facts.original.bytes.data(), Digest::kSize);
  store_le<std::uint32_t>(at + kExportCrcAt, crypto::crc32c(ByteView(bytes).first(kExportCrcAt)));
  return bytes;
}

Bytes make_export_trailer(const ExportFacts& facts) {
  Bytes bytes(kTrailerHashed);
  auto* const at = bytes.data();
  std::memcpy(at, kTrailerMagic.data(), kTrailerMagic.size());
  store_le<std::uint64_t>(at + 8, facts.count());
  store_le<std::uint64_t>(at + 16, facts.last);
  std::memcpy(at + 24, facts.head.bytes.data(), Digest::kSize);
  store_le<std::uint32_t>(at + kContentsAt, facts.contents);
  store_le<std::uint32_t>(at + kTrailerCrcAt, crypto::crc32c(ByteView(bytes).first(kTrailerCrcAt)));
  return bytes;
}

Result<ExportSource> ExportSource::open(const std::string& file) {
  ExportSource source;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(error_from_errno(errno, "open " + file));
  source.fd_ = std::make_shared<const Fd>(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail(error_from_errno(errno, "stat " + file));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::invalid_argument, file + " is no regular file");
  source.size_ = static_cast<std::uint64_t>(info.st_size);
  return source;
}

Result<ByteView> ExportSource::view(std::uint64_t offset, std::size_t size) {
  if (size > size_ || offset > size_ - size) return fail(ErrorCode::corrupt, "the file ends early");
  if (offset < begin_ || offset + size > begin_ + window_.size()) {
    window_.resize(std::min<std::uint64_t>(std::max(size, kWindow), size_ - offset));
    begin_ = offset;
    const auto read = read_exact(fd_->get(), offset, window_);
    if (!read) {
      window_.clear();
      return fail(Error(read.error()));
    }
  }
  return ByteView(window_).subspan(offset - begin_, size);
}

Result<ByteView> ExportSource::view_value(std::uint64_t offset, Seq seq) {
  const auto named = [&](Error error) { return fail(corrupt_record(seq, error.message())); };
  auto header = view(offset, kHeaderSize);
  if (!header) return named(header.error());
  DATUM_ASSIGN(const std::size_t size, read_record_size(*header, seq));
  auto keys = view(offset + size, kKeysHeaderSize);
  if (!keys) return named(keys.error());
  DATUM_ASSIGN(const std::size_t keys_size, read_keys_size(*keys, seq));
  auto value = view(offset, size + keys_size);
  if (!value) return named(value.error());
  return *value;
}

// Ascending and each once: equal exports of equal stores are equal files.
static Status check_contents(ExportSource& source, std::uint64_t& offset, ExportFacts& facts,
                             crypto::Sha256& hasher, const ContentVisitor& visit) {
  Digest before;
  while (facts.carries_contents) {
    DATUM_ASSIGN(const ByteView magic, source.view(offset, 8));
    if (!is_content_header(magic)) return {};
    const auto begin = offset;
    DATUM_ASSIGN(const auto digest,
                 check_content(source, offset, [&](ByteView bytes) { hasher.update(bytes); }));
    if (facts.contents > 0 && !(before < digest))
      return fail(ErrorCode::corrupt, "the contents of the export are not in order");
    before = digest;
    ++facts.contents;
    if (visit) visit(begin, digest);
  }
  return {};
}

Result<ExportFacts> check_export(ExportSource& source, const ExportVisitor& visit, Seq& bad_seq,
                                 const ContentVisitor& visit_content) {
  bad_seq = 0;
  if (source.size() < kExportHeader + kExportTrailer)
    return fail(ErrorCode::corrupt, "the file is too short for a journal export");
  crypto::Sha256 hasher;
  DATUM_ASSIGN(const ByteView header, source.view(0, kExportHeader));
  DATUM_ASSIGN(ExportFacts facts, read_header(header, source.size()));
  hasher.update(header);
  ChainCheck chain(facts.first, facts.first);
  std::uint64_t offset = kExportHeader;
  while (chain.next() != facts.last + 1) {
    bad_seq = chain.next();
    DATUM_ASSIGN(const ByteView value, source.view_value(offset, bad_seq));
    DATUM_TRY(chain.take(value));
    hasher.update(value);
    DATUM_ASSIGN(const Record record, read_value(value, bad_seq));
    visit(offset, record);
    offset += value.size();
  }
  bad_seq = 0;
  facts.head = chain.head().hash;
  DATUM_TRY(check_contents(source, offset, facts, hasher, visit_content));
  if (source.size() - offset != kExportTrailer)
    return fail(ErrorCode::corrupt, "the export does not end where its header says");
  DATUM_ASSIGN(const ByteView trailer, source.view(offset, kExportTrailer));
  if (make_export_trailer(facts) != Bytes(trailer.begin(), trailer.begin() + kTrailerHashed))
    return fail(ErrorCode::corrupt, "the export's trailer does not fit its records");
  hasher.update(trailer.first(kTrailerHashed));
  const auto hash = hasher.finish();
  if (!std::equal(hash.view().begin(), hash.view().end(), trailer.begin() + kTrailerHashed))
    return fail(ErrorCode::corrupt, "the export's hash differs");
  return facts;
}

Result<ExportEdges> read_edges(ExportSource& source) {
  if (source.size() < kExportHeader + kExportTrailer)
    return fail(ErrorCode::corrupt, "the file is too short for a journal export");
  ExportEdges edges;
  DATUM_ASSIGN(const ByteView header, source.view(0, kExportHeader));
  DATUM_ASSIGN(edges.facts, read_header(header, source.size()));
  auto& facts = edges.facts;
  if (facts.count() == 0) return fail(ErrorCode::corrupt, "the export holds no record");
  DATUM_ASSIGN(const ByteView value, source.view_value(kExportHeader, facts.first));
  DATUM_ASSIGN(const Record first, read_value(value, facts.first));
  edges.previous = first.previous;
  DATUM_ASSIGN(const ByteView trailer, source.view(source.size() - kExportTrailer, kExportTrailer));
  const auto* const at = trailer.data();
  const bool is_whole =
      as_text(trailer.first(kTrailerMagic.size())) == kTrailerMagic &&
      load_le<std::uint32_t>(at + kTrailerCrcAt) == crypto::crc32c(trailer.first(kTrailerCrcAt)) &&
      load_le<std::uint64_t>(at + 8) == facts.count() &&
      load_le<std::uint64_t>(at + 16) == facts.last;
  if (!is_whole) return fail(ErrorCode::corrupt, "the export's trailer does not fit its header");
  std::memcpy(facts.head.bytes.data(), at + 24, Digest::kSize);
  return edges;
}

}  // namespace datum::journal
