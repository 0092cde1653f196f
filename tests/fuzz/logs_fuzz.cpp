// Any bytes → the logs that `datum history` reads, and a packed one: nothing crashes, and what
// comes out is bounded.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/assert.hpp"
#include "datum/inspect/attribution.hpp"
#include "datum/inspect/gunzip.hpp"

namespace {
using namespace datum;
using namespace datum::inspect;

constexpr std::size_t kUnpacked = 1 << 20;

std::optional<WallNs> any_clock(const std::tm& at) {
  return WallNs{((at.tm_year * 12LL + at.tm_mon) * 86400 + at.tm_hour) * kNsPerSecond};
}

void check(const std::vector<LogEntry>& entries) {
  DATUM_ASSERT(entries.size() <= 2 * kMaxLogEntries);
  LogsRead logs;
  for (const auto& entry : entries) {
    DATUM_ASSERT(entry.text.size() <= kMaxLogText);
    logs.entries.push_back(entry);
  }
  DriftWindow window;
  window.to = {INT64_MAX};
  const auto report = make_drift_report(window, {}, logs);
  DATUM_ASSERT(report.inside.size() <= kMaxShown);
  const auto text = drift_report_text(report, logs, {});
  DATUM_ASSERT(text.find('\x1b') == std::string::npos);
  DATUM_ASSERT(drift_report_json(report, logs).find('\x1b') == std::string::npos);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(parse_dpkg_log(text, any_clock));
  check(parse_apt_history(text, any_clock));
  check(parse_wtmp(as_bytes(text)));
  static_cast<void>(lists_path(text, spellings_of(std::string(text.substr(0, 64)))));
  const auto unpacked = gunzip(as_bytes(text), kUnpacked);
  DATUM_ASSERT(!unpacked || unpacked->size() <= kUnpacked);
  return 0;
}
