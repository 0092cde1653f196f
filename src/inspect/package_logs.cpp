// The logs of dpkg and apt. Both are lines of text in local time.
#include <algorithm>
#include <array>
#include <charconv>

#include "log_lines.hpp"

namespace datum::inspect {

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  return word;
}

namespace {

// Digits of a fixed width, and nothing else.
std::optional<int> read_number(std::string_view digits) {
  int value = 0;
  const auto* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

// Three numbers between two separators: "2026-11-29", "16:22:42".
std::optional<std::array<int, 3>> read_three(std::string_view text, std::size_t first,
                                             char separator) {
  if (text.size() != first + 6 || text[first] != separator || text[first + 3] != separator)
    return std::nullopt;
  const auto a = read_number(text.substr(0, first));
  const auto b = read_number(text.substr(first + 1, 2));
  const auto c = read_number(text.substr(first + 4, 2));
  if (!a || !b || !c) return std::nullopt;
  return std::array{*a, *b, *c};
}

// What changes a package or says which file it kept; "status …" and "startup …" say no more.
bool tells_change(std::string_view action) {
  constexpr std::array kActions{"install",   "upgrade", "configure", "trigproc",
                                "disappear", "remove",  "purge",     "conffile"};
  return std::find(kActions.begin(), kActions.end(), action) != kActions.end();
}

std::string without_architecture(std::string_view package) {
  return std::string(package.substr(0, package.find(':')));
}

void keep(std::vector<LogEntry>& entries, LogEntry entry) {
  // Twice the limit before the older half goes: what is erased is moved once.
  if (entries.size() >= 2 * kMaxLogEntries)
    entries.erase(entries.begin(), entries.begin() + kMaxLogEntries);
  entries.push_back(std::move(entry));
}

// "libc6:amd64 (2.36-9, 2.36-10), tzdata:all (2024a, automatic)": the names.
void add_packages(std::string_view list, std::vector<std::string>& packages) {
  constexpr std::size_t kMaxPackages = 10'000;  // of one transaction; a release upgrade has 3,000
  int depth = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    auto part = list.substr(begin, end - begin);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const auto name = part.substr(0, part.find(' '));
    if (!name.empty() && packages.size() < kMaxPackages)
      packages.push_back(without_architecture(name));
  };
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '(') ++depth;
    if (list[at] == ')' && depth > 0) --depth;
    if (list[at] != ',' || depth > 0) continue;
    add(at);
    begin = at + 1;
  }
  add(list.size());
}

bool names_packages(std::string_view key) {
  constexpr std::array kKeys{"Install", "Upgrade", "Downgrade", "Reinstall", "Remove", "Purge"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// One paragraph of apt's history.
class Transaction {
 public:
  void take(std::string_view key, std::string_view value, const LocalClock& clock) {
    if (key == "Start-Date") {
      const auto date = take_word(value);
      entry_.time = read_local_time(date, value, clock).value_or(WallNs{});
    } else if (key == "Commandline") {
      command_ = value;
    } else if (key == "Requested-By") {
      by_ = value;
    } else if (key == "Error") {
      what_ += what_.empty() ? "" : "; ";
      what_ += "error: " + std::string(value.substr(0, kMaxLogText));
    } else if (names_packages(key)) {
      add_packages(value, entry_.packages);
      what_ += what_.empty() ? "" : "; ";
      what_ += std::string(key) + " " + std::string(value.substr(0, kMaxLogText));
    }
  }
  // The finished entry, if the paragraph was one.
  std::optional<LogEntry> finish() {
    if (entry_.time.ns == 0) return std::nullopt;
    std::string text(command_.empty() ? std::string_view("apt") : command_.substr(0, kMaxLogText));
    if (!by_.empty()) text += " by " + std::string(by_.substr(0, kMaxLogText));
    if (!what_.empty()) text += ": " + what_;
    entry_.text = bounded_text(text);
    entry_.source = LogSource::apt;
    return std::move(entry_);
  }

 private:
  LogEntry entry_;
  std::string_view command_;
  std::string_view by_;
  std::string what_;
};

}  // namespace

std::optional<WallNs> read_local_time(std::string_view date, std::string_view time,
                                      const LocalClock& clock) {
  const auto day = read_three(date, 4, '-');
  const auto hour = read_three(time.substr(0, 8), 2, ':');
  if (!day || !hour || (*day)[0] < 1970 || (*day)[1] < 1 || (*day)[1] > 12 || (*day)[2] < 1 ||
      (*day)[2] > 31 || (*hour)[0] > 23 || (*hour)[1] > 59 || (*hour)[2] > 60)
    return std::nullopt;
  std::tm local{};
  local.tm_year = (*day)[0] - 1900;
  local.tm_mon = (*day)[1] - 1;
  local.tm_mday = (*day)[2];
  local.tm_hour = (*hour)[0];
  local.tm_min = (*hour)[1];
  local.tm_sec = (*hour)[2];
  local.tm_isdst = -1;
  return clock(local);
}

std::string bounded_text(std::string_view text) {
  if (text.size() <= kMaxLogText) return std::string(text);
  constexpr std::string_view kCut = "…";
  return std::string(text.substr(0, kMaxLogText - kCut.size())).append(kCut);
}

std::vector<LogEntry> parse_dpkg_log(std::string_view log, const LocalClock& clock) {
  std::vector<LogEntry> entries;
  while (!log.empty()) {
    auto rest = take_line(log);
    const auto date = take_word(rest);
    const auto time = take_word(rest);
    const auto text = rest;
    const auto action = take_word(rest);
    if (!tells_change(action)) continue;
    const auto at = read_local_time(date, time, clock);
    if (!at) continue;
    LogEntry entry{*at, {}, LogSource::dpkg, bounded_text(text), {}};
    if (action != "conffile") entry.packages.push_back(without_architecture(take_word(rest)));
    keep(entries, std::move(entry));
  }
  return entries;
}

std::vector<LogEntry> parse_apt_history(std::string_view log, const LocalClock& clock) {
  std::vector<LogEntry> entries;
  Transaction transaction;
  const auto end = [&] {
    if (auto entry = transaction.finish()) keep(entries, std::move(*entry));
    transaction = {};
  };
  while (!log.empty()) {
    const auto line = take_line(log);
    if (line.empty()) {
      end();
      continue;
    }
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos)
      transaction.take(line.substr(0, colon), line.substr(colon + 2), clock);
  }
  end();
  return entries;
}

bool lists_path(std::string_view list, std::span<const std::string> spellings) {
  for (const std::string_view spelling : spellings)
    for (auto at = list.find(spelling); at != std::string_view::npos;
         at = list.find(spelling, at + 1)) {
      const auto end = at + spelling.size();
      if ((at == 0 || list[at - 1] == '\n') && (end == list.size() || list[end] == '\n'))
        return true;
    }
  return false;
}

std::vector<std::string> spellings_of(const std::string& path) {
  constexpr std::string_view kUsr = "/usr/";
  std::vector<std::string> spellings{path};
  for (const std::string_view merged : {"/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/"}) {
    if (path.starts_with(merged)) spellings.push_back("/usr" + path);
    if (path.starts_with(kUsr) && std::string_view(path).substr(4).starts_with(merged))
      spellings.push_back(path.substr(4));
  }
  return spellings;
}

}  // namespace datum::inspect
