// What else happened on the machine between the last good observation of a target and its drift:
// entries of package managers' logs, boots and logins, and what Datum did itself. It lists what
// lies in that window and never names a cause. Parses bytes that somebody else read, and that
// anybody may have written: lines that are not of the format are passed over. Knows no file.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/core/observation.hpp"
#include "datum/history/events.hpp"
#include "datum/inspect/report.hpp"

namespace datum::inspect {

enum class LogSource : std::uint8_t { dpkg, apt, boot, shutdown, login };
[[nodiscard]] std::string_view to_string(LogSource source);

struct LogEntry {
  WallNs time;
  WallNs end;  // a login: when it ended; 0 where it is not known, and for everything else
  LogSource source = LogSource::dpkg;
  std::string text;                   // as written, bounded (kMaxLogText), untrusted
  std::vector<std::string> packages;  // names without architecture
};
inline constexpr std::size_t kMaxLogText = 512;
// More entries of one file than this are not kept: the newest are.
inline constexpr std::size_t kMaxLogEntries = 100'000;

// The local time of a log as a point in time; none for a date that cannot be.
using LocalClock = std::function<std::optional<WallNs>(const std::tm&)>;

// /var/log/dpkg.log: `date time action package …`. States and starts of the program are left out.
[[nodiscard]] std::vector<LogEntry> parse_dpkg_log(std::string_view log, const LocalClock& clock);
// /var/log/apt/history.log: one entry a transaction.
[[nodiscard]] std::vector<LogEntry> parse_apt_history(std::string_view log,
                                                      const LocalClock& clock);
// /var/log/wtmp: records of struct utmp with 32-bit times (384 bytes, as on x86). A login's end is
// that of its line, or the next boot. What follows the last whole record is passed over.
[[nodiscard]] std::vector<LogEntry> parse_wtmp(ByteView records);

// Whether a list of a package's files (/var/lib/dpkg/info/PACKAGE.list) has one of these spellings
// of a path, as a whole line.
[[nodiscard]] bool lists_path(std::string_view list, std::span<const std::string> spellings);
// The spellings under which dpkg may know a path: itself, and with /usr before it or taken away.
[[nodiscard]] std::vector<std::string> spellings_of(const std::string& path);

// One change from good to not good, as the journal has it.
struct DriftWindow {
  Seq drift = 0;                   // the record that tells it
  Seq good = 0;                    // the record that told the last good state
  WallNs from;                     // no later than the last look that found it good
  WallNs to;                       // the record of the drift
  PassId good_pass = 0;            // the last finished pass that found it good
  std::int64_t clock_jump_ns = 0;  // how far the wall clock was set in between, as far as is known
  bool declaration_changed = false;  // another manifest since the last good look
  std::vector<Seq> own;              // what Datum did to the target in between
};

// Of all events of one target, oldest first. Reads further records for the passes in between.
[[nodiscard]] Result<std::vector<DriftWindow>> find_drift_windows(
    journal::Reader& reader, std::span<const history::StoredEvent> events);

// What was read beside the journal, and what could not be.
struct LogsRead {
  std::vector<LogEntry> entries;
  std::string owner;                  // package that owns the path; empty if none is known
  std::vector<std::string> read;      // names of the logs
  std::vector<std::string> not_read;  // "NAME: why"
};

// A window with what lies in it; entries by time, at most kMaxShown of them, the newest.
struct DriftReport {
  DriftWindow window;
  std::optional<core::Traces> traces;
  std::vector<LogEntry> inside;
  std::vector<LogEntry> about_owner;  // of the owning package, before the window; the newest few
  std::size_t left_out = 0;
};
inline constexpr std::size_t kMaxShown = 50;
inline constexpr std::size_t kMaxAboutOwner = 5;
[[nodiscard]] DriftReport make_drift_report(const DriftWindow& window,
                                            const history::StoredEvent& drift,
                                            const LogsRead& logs);

[[nodiscard]] std::string drift_report_text(const DriftReport& report, const LogsRead& logs,
                                            const Style& style);
// One line: {"window", "good", "from", "to", …}.
[[nodiscard]] std::string drift_report_json(const DriftReport& report, const LogsRead& logs);

}  // namespace datum::inspect
