// wtmp: struct utmp of the C library, as it lies in the file. Places and sizes are those of glibc
// on machines whose records keep 32-bit times whatever their word (bits/utmp.h,
// __WORDSIZE_TIME64_COMPAT32).
#include <algorithm>
#include <map>

#include "log_lines.hpp"

namespace datum::inspect {

namespace {

constexpr std::size_t kRecordSize = 384;
constexpr std::size_t kType = 0;
constexpr std::size_t kLine = 8;
constexpr std::size_t kLineSize = 32;
constexpr std::size_t kUser = 44;
constexpr std::size_t kUserSize = 32;
constexpr std::size_t kHost = 76;
constexpr std::size_t kHostSize = 256;
constexpr std::size_t kSeconds = 340;
constexpr std::size_t kMicroseconds = 344;

// ut_type.
constexpr std::int16_t kRunLevel = 1;
constexpr std::int16_t kBootTime = 2;
constexpr std::int16_t kUserProcess = 7;
constexpr std::int16_t kDeadProcess = 8;

std::string text_at(ByteView record, std::size_t at, std::size_t size) {
  const auto text = as_text(record.subspan(at, size));
  return std::string(text.substr(0, text.find('\0')));
}

WallNs time_at(ByteView record) {
  const auto seconds = static_cast<std::int64_t>(load_le<std::uint32_t>(record.data() + kSeconds));
  const auto micros =
      static_cast<std::int64_t>(load_le<std::uint32_t>(record.data() + kMicroseconds));
  return {seconds * kNsPerSecond + std::min<std::int64_t>(micros, 999'999) * 1000};
}

class Logins {
 public:
  void take(ByteView record) {
    const auto at = time_at(record);
    const auto line = text_at(record, kLine, kLineSize);
    switch (load_le<std::int16_t>(record.data() + kType)) {
      case kBootTime:
        end_all(at);
        add({at,
             {},
             LogSource::boot,
             bounded_text("boot, " + text_at(record, kHost, kHostSize)),
             {}});
        break;
      case kRunLevel:
        if (text_at(record, kUser, kUserSize) != "shutdown") break;
        end_all(at);
        add({at, {}, LogSource::shutdown, "shutdown", {}});
        break;
      case kUserProcess:
        open_[line] = entries_.size();
        add({at, {}, LogSource::login, login_text(record, line), {}});
        break;
      case kDeadProcess:
        if (const auto found = open_.find(line); found != open_.end()) {
          entries_[found->second].end = at;
          open_.erase(found);
        }
        break;
      default:
        break;
    }
  }
  std::vector<LogEntry> done() { return std::move(entries_); }

 private:
  static std::string login_text(ByteView record, const std::string& line) {
    auto text = text_at(record, kUser, kUserSize) + " on " + line;
    if (const auto host = text_at(record, kHost, kHostSize); !host.empty()) text += " from " + host;
    return bounded_text(text);
  }
  void end_all(WallNs at) {
    for (const auto& [line, place] : open_) entries_[place].end = at;
    open_.clear();
  }
  void add(LogEntry entry) { entries_.push_back(std::move(entry)); }

  std::vector<LogEntry> entries_;
  std::map<std::string, std::size_t> open_;  // by line: the login that has not ended
};

}  // namespace

std::vector<LogEntry> parse_wtmp(ByteView records) {
  const auto whole = records.size() / kRecordSize;
  const auto skipped = whole > kMaxLogEntries ? whole - kMaxLogEntries : 0;
  Logins logins;
  for (auto i = skipped; i < whole; ++i) logins.take(records.subspan(i * kRecordSize, kRecordSize));
  return logins.done();
}

}  // namespace datum::inspect
