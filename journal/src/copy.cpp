// A growing file of values (docs/formats/control-journal.md says where they lie). The header is
// that of an export whose end is not known: its last sequence is the one before its first.
#include "datum/journal/copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "envelope.hpp"
#include "export_format.hpp"
#include "file_io.hpp"
#include "record_file.hpp"

namespace datum::journal {
namespace {

constexpr std::uint32_t kCopyLevel = 1;
constexpr std::size_t kSequenceAt = 16;  // in a record's header

Bytes copy_header(const Id128& store) {
  ExportFacts facts;
  facts.level = kCopyLevel;
  facts.store = store;
  return make_export_header(facts);
}

// What a file holds: the whole records at its beginning, and where they end.
struct CopyContents {
  Head head;
  std::uint64_t end = kExportHeader;
  std::vector<std::uint64_t> offsets;  // where each record begins
};

// Damage in the last record is a torn append; damage before it is damage, which the records behind
// it show: nothing but a whole record begins with a header whose checksum is right.
Result<CopyContents> read_copy(ExportSource& source, const Id128& store) {
  const auto wanted = copy_header(store);
  if (source.size() < kExportHeader)
    return fail(ErrorCode::corrupt, "the file is too short for a copy of a journal");
  DATUM_ASSIGN(const ByteView header, source.view(0, kExportHeader));
  if (!std::equal(wanted.begin(), wanted.end(), header.begin(), header.end()))
    return fail(ErrorCode::corrupt, "the file is no copy of this store's journal");
  CopyContents contents;
  std::optional<ChainCheck> chain;
  while (contents.end < source.size()) {
    if (!chain) {
      if (source.size() - contents.end < kHeaderSize) break;
      DATUM_ASSIGN(const ByteView first, source.view(contents.end, kHeaderSize));
      const auto seq = load_le<Seq>(first.data() + kSequenceAt);
      chain.emplace(seq, seq);
    }
    const auto value = source.view_value(contents.end, chain->next());
    if (!value) break;
    if (const auto taken = chain->take(*value); !taken) break;
    contents.offsets.push_back(contents.end);
    contents.end += value->size();
  }
  if (chain) contents.head = chain->head();
  return contents;
}

// Bytes behind the whole records that are more than one torn append: then it is damage.
constexpr std::uint64_t kMostTorn = 256 * 1024;

Status check_tail(const CopyContents& contents, std::uint64_t size, const std::string& file) {
  if (size - contents.end <= kMostTorn) return {};
  return fail(ErrorCode::corrupt, file + ": record " + std::to_string(contents.head.seq + 1) +
                                      " is damaged, and " + std::to_string(size - contents.end) +
                                      " bytes from it on cannot be read");
}

// A new file with its name durable.
Status make_copy(const std::string& file, const Id128& store) {
  DATUM_ASSIGN(const PathParts parts, split_path(file));
  DATUM_ASSIGN(const Fd folder, open_folder(parts.folder));
  const auto header = copy_header(store);
  return replace_file(folder.get(), parts.name, as_text(header));
}

}  // namespace

// Open only while it is written: of thousands of nodes each has one.
struct Copy::Impl {
  explicit Impl(std::string its_file) : file(std::move(its_file)) {}
  // `conflict`: it is not as it was left.
  [[nodiscard]] Result<Fd> open() const;
  [[nodiscard]] Status write(ByteView fresh) const;

  std::string file;
  Head head;
  std::uint64_t end = kExportHeader;
  bool is_broken = false;
};

Result<Fd> Copy::Impl::open() const {
  DATUM_ASSIGN(const PathParts parts, split_path(file));
  DATUM_ASSIGN(const Fd folder, open_folder(parts.folder));
  DATUM_ASSIGN(Fd fd, open_at(folder.get(), parts.name, O_RDWR));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(error_from_errno(errno, file));
  if (static_cast<std::uint64_t>(info.st_size) != end)
    return fail(ErrorCode::io_error, file + " was changed by somebody else");
  return fd;
}

// What a failed write left behind the end is cut off, by this or by who opens the file next.
Status Copy::Impl::write(ByteView fresh) const {
  DATUM_ASSIGN(const Fd fd, open());
  auto written = ::lseek(fd.get(), static_cast<off_t>(end), SEEK_SET) < 0
                     ? Status(fail(error_from_errno(errno, file)))
                     : write_all(fd.get(), fresh);
  if (written) written = sync_fd(fd.get(), file);
  if (!written) static_cast<void>(::ftruncate(fd.get(), static_cast<off_t>(end)));
  return written;
}

Copy::Copy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Copy::~Copy() = default;

Result<std::unique_ptr<Copy>> Copy::open(const std::string& file, const Id128& store) {
  auto impl = std::make_unique<Impl>(file);
  struct stat info {};
  if (::lstat(file.c_str(), &info) != 0) {
    if (errno != ENOENT) return fail(error_from_errno(errno, file));
    DATUM_TRY(make_copy(file, store));
    return std::unique_ptr<Copy>(new Copy(std::move(impl)));
  }
  DATUM_ASSIGN(auto source, ExportSource::open(file));
  auto contents = read_copy(source, store);
  if (!contents) return fail(std::move(contents).error().context(file));
  DATUM_TRY(check_tail(*contents, source.size(), file));
  DATUM_ASSIGN(const PathParts parts, split_path(file));
  DATUM_ASSIGN(const Fd folder, open_folder(parts.folder));
  DATUM_ASSIGN(const Fd fd, open_at(folder.get(), parts.name, O_RDWR));
  if (contents->end < source.size()) {
    if (::ftruncate(fd.get(), static_cast<off_t>(contents->end)) != 0)
      return fail(error_from_errno(errno, file));
  }
  // What is there may never have been synced: it counts from now on.
  DATUM_TRY(sync_fd(fd.get(), file));
  impl->head = contents->head;
  impl->end = contents->end;
  return std::unique_ptr<Copy>(new Copy(std::move(impl)));
}

Head Copy::head() const {
  return impl_->head;
}

// The size of the value that `values` begins with.
static Result<std::size_t> size_of_value(ByteView values, Seq seq) {
  if (values.size() < kMinValueSize) return fail(corrupt_record(seq, "is cut short"));
  DATUM_ASSIGN(const std::size_t size, read_record_size(values.first(kHeaderSize), seq));
  if (values.size() < size + kKeysHeaderSize) return fail(corrupt_record(seq, "is cut short"));
  DATUM_ASSIGN(const std::size_t keys,
               read_keys_size(values.subspan(size).first(kKeysHeaderSize), seq));
  if (values.size() < size + keys) return fail(corrupt_record(seq, "is cut short"));
  return size + keys;
}

Result<Head> Copy::append(Seq first, std::uint32_t count, ByteView values) {
  if (impl_->is_broken)
    return fail(ErrorCode::unavailable, "a write to this copy failed: open it again");
  if (first == 0 || count == 0)
    return fail(ErrorCode::corrupt, "a part of a journal without records");
  const auto& head = impl_->head;
  if (head.seq != 0 && first > head.seq + 1) return head;
  ChainCheck chain(first, first);
  std::size_t at = 0, begin = 0;  // `begin`: of the first that is new
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto rest = values.subspan(at);
    DATUM_ASSIGN(const auto size, size_of_value(rest, chain.next()));
    const auto value = rest.first(size);
    DATUM_ASSIGN(const Record record, read_value(value, chain.next()));
    const bool continues = head.seq != 0 && record.seq == head.seq + 1;
    if (continues && record.previous != head.hash)
      return fail(ErrorCode::conflict, "record " + std::to_string(record.seq) +
                                           " does not continue the one that is kept before it");
    DATUM_TRY(chain.take(value));
    at += size;
    if (record.seq == head.seq && chain.head().hash != head.hash)
      return fail(ErrorCode::conflict,
                  "record " + std::to_string(record.seq) + " is another than the one that is kept");
    if (record.seq <= head.seq) begin = at;
  }
  if (at != values.size())
    return fail(ErrorCode::corrupt, "bytes behind the last record of a part of a journal");
  const auto fresh = values.subspan(begin);
  if (fresh.empty()) return head;
  if (auto written = impl_->write(fresh); !written) {
    impl_->is_broken = true;
    return fail(std::move(written).error());
  }
  impl_->end += fresh.size();
  const auto first_kept = head.seq == 0 ? first : head.first;
  impl_->head = {chain.head().seq, chain.head().hash, first_kept};
  return impl_->head;
}

namespace {

class CopyReader final : public RecordFile {
 public:
  CopyReader(ExportSource source, CopyContents contents, const Id128& store)
      : RecordFile(std::move(source), "the copy"), store_(store) {
    set_records(contents.head, std::move(contents.offsets));
  }

  // Without an index of its own: every record is looked at.
  Result<std::vector<Seq>> find(std::string_view index, std::string_view key, Seq from,
                                std::size_t limit) override {
    std::vector<Seq> found;
    DATUM_TRY(scan(from, [&](const Record& record) {
      const auto is_it = [&](const IndexKey& each) {
        if (each.index == index && each.key == key && (found.empty() || found.back() != record.seq))
          found.push_back(record.seq);
      };
      static_cast<void>(for_each_key(record.keys, is_it));
      return found.size() < limit ? Visit::go_on : Visit::stop;
    }));
    return found;
  }
  [[nodiscard]] Id128 store_id() const override { return store_; }
  [[nodiscard]] std::uint32_t level() const override { return kCopyLevel; }

 private:
  Id128 store_;
};

}  // namespace

Result<std::unique_ptr<Reader>> open_copy(const std::string& file, const Id128& store) {
  DATUM_ASSIGN(auto source, ExportSource::open(file));
  auto contents = read_copy(source, store);
  if (!contents) return fail(std::move(contents).error().context(file));
  DATUM_TRY(check_tail(*contents, source.size(), file));
  return std::unique_ptr<Reader>(
      std::make_unique<CopyReader>(std::move(source), std::move(*contents), store));
}

}  // namespace datum::journal
