// Writing an export: records as they are stored, in order, verified once more on the way out.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "datum/journal/export.hpp"
#include "datum/journal/keys.hpp"
#include "envelope.hpp"
#include "export_content.hpp"
#include "export_format.hpp"

namespace datum::journal {
namespace {

// Collects small writes; hashes everything that passes.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) { buffer_.reserve(kBuffer); }

  Status put(ByteView bytes) {
    hasher_.update(bytes);
    return put_unhashed(bytes);
  }
  Status put_hash() {
    const auto hash = hasher_.finish();
    return put_unhashed(hash.view());
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  Status flush() {
    auto written = write_all(fd_, buffer_);
    buffer_.clear();
    return written;
  }

 private:
  static constexpr std::size_t kBuffer = 256 * 1024;

  Status put_unhashed(ByteView bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) DATUM_TRY(flush());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    bytes_ += bytes.size();
    return {};
  }

  int fd_;
  Bytes buffer_;
  std::uint64_t bytes_ = 0;
  crypto::Sha256 hasher_;
};

Result<ExportFacts> facts_of(Reader& reader, const ExportRange& range) {
  DATUM_ASSIGN(const Head head, reader.read_head());
  ExportFacts facts;
  // After the head: a level raised since then is higher than any record's, never lower.
  facts.level = reader.level();
  facts.store = reader.store_id();
  facts.first = range.from;
  facts.last = range.to == 0 ? head.seq : range.to;
  const bool is_empty = head.seq == 0 && range.from == 1 && range.to == 0;
  if (is_empty) return facts;
  if (range.from == 0 || facts.last < facts.first)
    return fail(ErrorCode::invalid_argument, "the range of the export is empty");
  if (facts.first < head.first || facts.last > head.seq)
    return fail(ErrorCode::not_found, "the journal holds records " + std::to_string(head.first) +
                                          " to " + std::to_string(head.seq) + " only");
  return facts;
}

using TakeValue = std::function<Status(const Record&, ByteView)>;
// The chain of what is there is verified on the way.
Status read_values(Reader& reader, ExportFacts& facts, const TakeValue& take) {
  if (facts.count() == 0) return {};
  ChainCheck chain(facts.first, facts.first);
  Status status;
  DATUM_TRY(reader.scan(facts.first, [&](const Record& record) {
    // The keys block follows the record wherever values lie.
    const ByteView value(record.stored.data(), record.stored.size() + record.keys.size());
    status = chain.take(value);
    if (status) status = take(record, value);
    return status && record.seq < facts.last ? Visit::go_on : Visit::stop;
  }));
  DATUM_TRY(status);
  if (chain.next() != facts.last + 1)
    return fail(ErrorCode::conflict, "records were removed while they were exported");
  facts.head = chain.head().hash;
  return {};
}

// Records with other payloads, chained anew.
class Rewriter {
 public:
  explicit Rewriter(std::function<Result<Bytes>(const Record&)> rewrite)
      : rewrite_(std::move(rewrite)) {}

  Result<Bytes> take(const Record& record) {
    if (!begun_) previous_ = record.previous;
    begun_ = true;
    DATUM_ASSIGN(const Bytes payload, rewrite_(record));
    if (payload.size() > kMaxPayload)
      return fail(ErrorCode::limit_exceeded, "a rewritten payload is larger than a record holds");
    Entry entry;
    entry.kind = record.kind;
    entry.flags = record.flags;
    entry.stamp = record.stamp;
    entry.payload = payload;
    const auto keys = keys_of(record);
    Bytes value(value_size(payload.size(), keys));
    previous_ = write_value(value, entry, keys, record.seq, record.level, previous_);
    return value;
  }
  [[nodiscard]] const Digest& head() const { return previous_; }

 private:
  std::function<Result<Bytes>(const Record&)> rewrite_;
  Digest previous_;
  bool begun_ = false;
};

Status write_records(Reader& reader, ExportFacts& facts, Rewriter* rewriter, Output& output) {
  DATUM_TRY(read_values(reader, facts, [&](const Record& record, ByteView value) -> Status {
    if (rewriter == nullptr) return output.put(value);
    DATUM_ASSIGN(const auto rewritten, rewriter->take(record));
    return output.put(rewritten);
  }));
  if (rewriter != nullptr) facts.head = rewriter->head();
  return {};
}

Status write_contents(const ExportOptions& options, ExportFacts& facts, ExportMade& made,
                      Output& output) {
  auto digests = options.digests;
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  for (const auto& digest : digests) {
    auto stream = options.content->open(digest);
    if (!stream && stream.error().code() == ErrorCode::not_found) {
      made.missing.push_back(digest);
      continue;
    }
    if (!stream) return fail(std::move(stream).error());
    DATUM_TRY(write_content(digest, **stream, [&](ByteView bytes) { return output.put(bytes); }));
    ++facts.contents;
  }
  made.contents = facts.contents;
  return {};
}

// The header names the original head, which only a first walk over the records tells.
Status find_original(Reader& reader, ExportFacts& facts) {
  DATUM_TRY(read_values(reader, facts, [](const Record&, ByteView) { return Status{}; }));
  facts.original = facts.head;
  return {};
}

Result<ExportMade> write_file(Reader& reader, ExportFacts& facts, const ExportOptions& options,
                              int fd) {
  ExportMade made;
  std::optional<Rewriter> rewriter;
  if (options.rewrite && facts.count() != 0) {
    rewriter.emplace(options.rewrite);
    DATUM_TRY(find_original(reader, facts));
  }
  facts.carries_contents = !options.digests.empty() && options.content != nullptr;
  Output output(fd);
  DATUM_TRY(output.put(make_export_header(facts)));
  DATUM_TRY(write_records(reader, facts, rewriter ? &*rewriter : nullptr, output));
  if (facts.carries_contents) DATUM_TRY(write_contents(options, facts, made, output));
  DATUM_TRY(output.put(make_export_trailer(facts)));
  DATUM_TRY(output.put_hash());
  DATUM_TRY(output.flush());
  DATUM_TRY(sync_fd(fd, "the export"));
  made.head = Head{facts.last, facts.head, facts.first};
  made.original = rewriter ? facts.original : facts.head;
  made.bytes = output.bytes();
  return made;
}

// File systems without RENAME_NOREPLACE get a link and an unlink, which do not replace either.
Status rename_new(int folder, const std::string& from, const std::string& to) {
  if (::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EINVAL || errno == ENOSYS) {
    if (::linkat(folder, from.c_str(), folder, to.c_str(), 0) == 0) {
      if (::unlinkat(folder, from.c_str(), 0) == 0) return {};
    }
  }
  return fail(error_from_errno(errno, "rename to " + to));
}

}  // namespace

Result<ExportMade> write_export(Reader& reader, const ExportOptions& options,
                                const std::string& file) {
  DATUM_ASSIGN(const PathParts parts, split_path(file));
  DATUM_ASSIGN(const Fd folder, open_folder(parts.folder));
  if (::faccessat(folder.get(), parts.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return fail(ErrorCode::already_exists, file + " exists; an export replaces nothing");
  DATUM_ASSIGN(ExportFacts facts, facts_of(reader, options.range));
  const auto part = parts.name + ".part";
  DATUM_ASSIGN(const Fd fd, open_at(folder.get(), part, O_WRONLY | O_CREAT | O_TRUNC));
  auto made = write_file(reader, facts, options, fd.get());
  Status renamed;
  if (made) renamed = rename_new(folder.get(), part, parts.name);
  if (!made || !renamed) {
    ::unlinkat(folder.get(), part.c_str(), 0);
    return fail(made ? std::move(renamed).error() : std::move(made).error());
  }
  DATUM_TRY(sync_fd(folder.get(), parts.folder));
  return made;
}

Result<Head> export_records(Reader& reader, ExportRange range, const std::string& file) {
  ExportOptions options;
  options.range = range;
  DATUM_ASSIGN(const auto made, write_export(reader, options, file));
  return made.head;
}

}  // namespace datum::journal
