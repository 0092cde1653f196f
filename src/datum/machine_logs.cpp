#include "machine_logs.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <limits>

#include "datum/inspect/gunzip.hpp"
#include "datum/os/walk.hpp"

namespace datum::program {

namespace {

using inspect::LogEntry;

// logrotate keeps twelve of each by default.
constexpr int kMaxRotated = 12;
// The end of a log that is longer: a year of a busy machine's dpkg.log has about 10 MiB.
constexpr std::uint64_t kMaxLogBytes = 16ULL * 1024 * 1024;
constexpr std::uint64_t kMaxPackedBytes = 4ULL * 1024 * 1024;
// The list of the largest package (a tree of documentation) has about 3 MiB.
constexpr std::uint64_t kMaxListBytes = 8ULL * 1024 * 1024;
// A person waits for the answer.
constexpr std::chrono::seconds kMaxTime{2};

std::optional<WallNs> to_wall(const std::tm& local) {
  std::tm copy = local;
  const auto seconds = std::mktime(&copy);
  // Beyond the year 2262 nanoseconds do not fit, and no log is from there.
  constexpr std::int64_t kMaxSeconds = std::numeric_limits<std::int64_t>::max() / kNsPerSecond;
  if (seconds < 0 || seconds > kMaxSeconds) return std::nullopt;
  return WallNs{static_cast<std::int64_t>(seconds) * kNsPerSecond};
}

// The last `limit` bytes of the file, and whether that is all of it.
struct Tail {
  Bytes bytes;
  bool whole = true;
};

class LogReader {
 public:
  LogReader(os::Files& files, const os::Handle& root, WallNs since)
      : files_(files), walker_(files, root), since_(since) {}

  void read_packages() {
    read_rotated("/var/log/dpkg.log", inspect::parse_dpkg_log);
    read_rotated("/var/log/apt/history.log", inspect::parse_apt_history);
  }

  void read_logins() {
    for (const std::string path : {"/var/log/wtmp", "/var/log/wtmp.1"}) {
      const auto tail = read_named(path, kMaxLogBytes, path.ends_with("p"));
      if (!tail) return;
      if (add(inspect::parse_wtmp(tail->bytes))) return;
    }
  }

  void find_owner(const std::string& path) {
    const auto spellings = inspect::spellings_of(path);
    auto where = walker_.locate("/var/lib/dpkg/info/list");
    const auto entries = where ? files_.list(where->folder->handle)
                               : Result<std::vector<os::DirectoryEntry>>(fail(where.error()));
    if (!entries) {
      logs_.not_read.push_back("/var/lib/dpkg/info: " + why(entries.error()));
      return;
    }
    constexpr std::string_view kSuffix = ".list";
    for (const auto& entry : *entries) {
      if (!entry.name.ends_with(kSuffix)) continue;
      if (is_late("/var/lib/dpkg/info")) return;
      where->name = entry.name;
      const auto list = read(*where, kMaxListBytes);
      if (!list || !inspect::lists_path(as_text(list->bytes), spellings)) continue;
      const auto stem = entry.name.substr(0, entry.name.size() - kSuffix.size());
      logs_.owner = stem.substr(0, stem.find(':'));
      return;
    }
  }

  void set_owner(const std::string& package) { logs_.owner = package; }
  inspect::LogsRead done() { return std::move(logs_); }

 private:
  using Parse = std::vector<LogEntry> (*)(std::string_view, const inspect::LocalClock&);

  static std::string why(const Error& error) {
    return error.code() == ErrorCode::not_found ? "not there" : error.message();
  }

  bool is_late(const std::string& what) {
    if (std::chrono::steady_clock::now() - began_ < kMaxTime) return false;
    logs_.not_read.push_back(what + ": there was no more time");
    return true;
  }

  Result<Tail> read(const os::Location& where, std::uint64_t limit) {
    DATUM_ASSIGN(const auto opened,
                 files_.open_file_with_stat(where.folder->handle, where.name, os::Access::read));
    Tail tail;
    const auto size = std::min(opened.stat.size, limit);
    tail.whole = size == opened.stat.size;
    if (!tail.whole) DATUM_TRY(files_.seek(opened.handle, opened.stat.size - size));
    tail.bytes.resize(size);
    std::size_t filled = 0;
    while (filled < size) {
      DATUM_ASSIGN(const auto count,
                   files_.read(opened.handle, MutableByteView(tail.bytes).subspan(filled)));
      if (count == 0) break;
      filled += count;
    }
    tail.bytes.resize(filled);
    return tail;
  }

  // A log by its name; one that is not there is only told where somebody would expect it.
  std::optional<Tail> read_named(const std::string& path, std::uint64_t limit, bool expected) {
    if (is_late(path)) return std::nullopt;
    const auto where = walker_.locate(path);
    auto tail = where ? read(*where, limit) : Result<Tail>(fail(where.error()));
    if (!tail) {
      if (expected || tail.error().code() != ErrorCode::not_found)
        logs_.not_read.push_back(path + ": " + why(tail.error()));
      return std::nullopt;
    }
    logs_.read.push_back(path + (tail->whole ? "" : " (its end)"));
    return std::move(*tail);
  }

  // Takes the entries over; true if the oldest lies before what is asked for.
  bool add(std::vector<LogEntry> entries) {
    // A whole second of difference: logs tell no less.
    const bool reached = !entries.empty() && entries.front().time.ns + kNsPerSecond <= since_.ns;
    std::move(entries.begin(), entries.end(), std::back_inserter(logs_.entries));
    return reached;
  }

  // The log, then its rotated forms until one reaches back far enough or there is none.
  void read_rotated(const std::string& path, Parse parse) {
    for (int number = 0; number <= kMaxRotated; ++number) {
      const auto plain = number == 0 ? path : path + "." + std::to_string(number);
      auto tail = read_named(plain, kMaxLogBytes, number == 0);
      if (tail) {
        if (add(parse(as_text(tail->bytes), to_wall))) return;
        continue;
      }
      if (number == 0) continue;
      tail = read_named(plain + ".gz", kMaxPackedBytes, false);
      // The newest rotated one may be missing while logrotate works; two in a row are the end.
      if (!tail && number > 1) return;
      if (!tail) continue;
      const auto text = inspect::gunzip(tail->bytes, kMaxLogBytes);
      if (!text) {
        logs_.read.pop_back();
        logs_.not_read.push_back(plain + ".gz: " + text.error().message());
      } else if (add(parse(as_text(*text), to_wall))) {
        return;
      }
    }
  }

  os::Files& files_;
  os::Walker walker_;
  WallNs since_;
  inspect::LogsRead logs_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

inspect::LogsRead read_machine_logs(os::Files& files, const os::Handle& root,
                                    const model::Target& target, WallNs since) {
  LogReader reader(files, root, since);
  reader.read_packages();
  reader.read_logins();
  if (target.family == model::TargetFamily::path) reader.find_owner(target.name);
  if (target.family == model::TargetFamily::package) reader.set_owner(target.name);
  return reader.done();
}

}  // namespace datum::program
