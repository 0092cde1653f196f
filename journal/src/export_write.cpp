// Writing an export: records as they are stored, in order, verified once more on the way out.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "datum/journal/log.hpp"
#include "envelope.hpp"
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
    return {};
  }

  int fd_;
  Bytes buffer_;
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

Status write_records(Reader& reader, ExportFacts& facts, Output& output) {
  if (facts.count() == 0) return {};
  ChainCheck chain(facts.first, facts.first);
  Status status;
  DATUM_TRY(reader.scan(facts.first, [&](const Record& record) {
    // The keys block follows the record wherever values lie.
    const ByteView value(record.stored.data(), record.stored.size() + record.keys.size());
    status = chain.take(value);
    if (status) status = output.put(value);
    return status && record.seq < facts.last ? Visit::go_on : Visit::stop;
  }));
  DATUM_TRY(status);
  if (chain.next() != facts.last + 1)
    return fail(ErrorCode::conflict, "records were removed while they were exported");
  facts.head = chain.head().hash;
  return {};
}

Status write_export(Reader& reader, ExportFacts& facts, int fd) {
  Output output(fd);
  DATUM_TRY(output.put(make_export_header(facts)));
  DATUM_TRY(write_records(reader, facts, output));
  DATUM_TRY(output.put(make_export_trailer(facts)));
  DATUM_TRY(output.put_hash());
  DATUM_TRY(output.flush());
  return sync_fd(fd, "the export");
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

Result<Head> export_records(Reader& reader, ExportRange range, const std::string& file) {
  DATUM_ASSIGN(const PathParts parts, split_path(file));
  DATUM_ASSIGN(const Fd folder, open_folder(parts.folder));
  if (::faccessat(folder.get(), parts.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return fail(ErrorCode::already_exists, file + " exists; an export replaces nothing");
  DATUM_ASSIGN(ExportFacts facts, facts_of(reader, range));
  const auto part = parts.name + ".part";
  DATUM_ASSIGN(const Fd fd, open_at(folder.get(), part, O_WRONLY | O_CREAT | O_TRUNC));
  auto written = write_export(reader, facts, fd.get());
  if (written) written = rename_new(folder.get(), part, parts.name);
  if (!written) {
    ::unlinkat(folder.get(), part.c_str(), 0);
    return fail(std::move(written).error());
  }
  DATUM_TRY(sync_fd(folder.get(), parts.folder));
  return Head{facts.last, facts.head, facts.first};
}

}  // namespace datum::journal
