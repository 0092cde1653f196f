// A store from an export: built beside its place and moved there when it is complete, so that a
// store that is half imported is never taken for one.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>

#include "envelope.hpp"
#include "export_format.hpp"
#include "lmdb_log.hpp"
#include "open_log.hpp"
#include "store_folder.hpp"

namespace datum::journal {
namespace {

// Well under the limits of a batch: 1,000 values of common size, or fewer large ones.
constexpr std::size_t kChunkBytes = 4 * 1024 * 1024;

Status check_empty(const std::string& folder) {
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) {
    if (errno == ENOENT) return {};
    return fail(error_from_errno(errno, "open " + folder));
  }
  bool is_empty = true;
  while (const auto* const entry = ::readdir(opened)) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") is_empty = false;
  }
  ::closedir(opened);
  if (!is_empty) return fail(ErrorCode::not_empty, folder + " is not empty");
  return {};
}

class ChunkedAppend {
 public:
  explicit ChunkedAppend(LmdbLog& log) : log_(log) {}

  Status add(ByteView value) {
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    if (bytes_.size() < kChunkBytes && ends_.size() < kMaxReadRecords) return {};
    return flush();
  }

  Status flush() {
    std::vector<ByteView> values;
    std::size_t begin = 0;
    for (const auto end : ends_) {
      values.push_back(ByteView(bytes_).subspan(begin, end - begin));
      begin = end;
    }
    auto appended = values.empty() ? Status{} : log_.append_stored(values);
    bytes_.clear();
    ends_.clear();
    return appended;
  }

 private:
  LmdbLog& log_;
  Bytes bytes_;
  std::vector<std::size_t> ends_;
};

Result<Head> fill(const std::string& file, LmdbLog& log) {
  DATUM_ASSIGN(ExportSource source, ExportSource::open(file));
  ChunkedAppend target(log);
  Status appended;
  Seq bad_seq = 0;
  const auto add = [&](std::uint64_t, const Record& record) {
    const ByteView value(record.stored.data(), record.stored.size() + record.keys.size());
    if (appended) appended = target.add(value);
  };
  DATUM_ASSIGN(const ExportFacts facts, check_export(source, add, bad_seq));
  DATUM_TRY(appended);
  DATUM_TRY(target.flush());
  DATUM_ASSIGN(const Head head, log.read_head());
  if (head.seq != facts.last || head.hash != facts.head)
    return fail(ErrorCode::conflict, "the export changed while it was imported");
  DATUM_TRY(log.close());
  return head;
}

Result<Head> build(const std::string& file, const std::string& folder, const OpenOptions& options,
                   const Id128& store) {
  DATUM_ASSIGN(const auto log, open_log_as(folder, options, store));
  return fill(file, *log);
}

// Verifies the export and says what a store of it needs.
Result<ExportFacts> survey(const std::string& file, OpenOptions& options) {
  DATUM_ASSIGN(ExportSource source, ExportSource::open(file));
  std::set<std::string, std::less<>> names(options.indexes.begin(), options.indexes.end());
  Seq bad_seq = 0;
  DATUM_ASSIGN(const ExportFacts facts,
               check_export(
                   source,
                   [&](std::uint64_t, const Record& record) {
                     static_cast<void>(for_each_key(record.keys, [&](const IndexKey& key) {
                       if (!names.contains(key.index)) names.emplace(key.index);
                     }));
                   },
                   bad_seq));
  if (facts.first != 1)
    return fail(ErrorCode::invalid_argument, "the export begins at record " +
                                                 std::to_string(facts.first) +
                                                 ": a store is made from one that begins at 1");
  if (facts.level > options.level)
    return fail(ErrorCode::unsupported_version, "the export is of a newer level");
  options.indexes.assign(names.begin(), names.end());
  options.level = facts.level;
  options.mode = OpenMode::create_or_open;
  return facts;
}

}  // namespace

Result<Head> import_records(const std::string& file, const std::string& folder,
                            const OpenOptions& options) {
  DATUM_TRY(check_empty(folder));
  const auto building = folder + ".importing";
  if (::access(building.c_str(), F_OK) == 0)
    return fail(ErrorCode::already_exists,
                building + " is left of an import that did not end: remove it first");
  DATUM_ASSIGN(const PathParts parts, split_path(folder));
  auto wanted = options;
  DATUM_ASSIGN(const ExportFacts facts, survey(file, wanted));
  auto head = build(file, building, wanted, facts.store);
  if (head && ::rename(building.c_str(), folder.c_str()) != 0)
    head = fail(error_from_errno(errno, "rename " + building));
  if (!head) {
    remove_store_folder(building);
    return fail(std::move(head).error());
  }
  DATUM_ASSIGN(const Fd parent, open_folder(parts.folder));
  DATUM_TRY(sync_fd(parent.get(), parts.folder));
  return head;
}

}  // namespace datum::journal
