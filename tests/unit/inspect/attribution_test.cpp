// Logs as bytes: what is taken over, and what of hostile lines is not.
#include "datum/inspect/attribution.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace {

using namespace datum;
using namespace datum::inspect;

// Days since the epoch by the rule of the Gregorian calendar; the log's clock is UTC here.
std::optional<WallNs> utc(const std::tm& at) {
  const int year = at.tm_year + 1900 - (at.tm_mon < 2 ? 1 : 0);
  const int month = (at.tm_mon + 10) % 12;
  const std::int64_t days = 365LL * year + year / 4 - year / 100 + year / 400 +
                            (month * 306 + 5) / 10 + at.tm_mday - 1 - 719468;
  return WallNs{(days * 86400 + at.tm_hour * 3600LL + at.tm_min * 60LL + at.tm_sec) * kNsPerSecond};
}

constexpr std::int64_t kTen = 1795946400;  // 2026-11-29 10:00:00 UTC

struct Record {
  std::int16_t type = 0;
  std::string line, user, host;
  std::uint32_t seconds = 0;
};

Bytes wtmp_of(const std::vector<Record>& records) {
  Bytes bytes(records.size() * 384);
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto* at = bytes.data() + i * 384;
    const auto put = [at](std::size_t place, const std::string& text) {
      std::transform(text.begin(), text.end(), at + place,
                     [](char c) { return static_cast<std::byte>(c); });
    };
    store_le(at, records[i].type);
    put(8, records[i].line);
    put(44, records[i].user);
    put(76, records[i].host);
    store_le(at + 340, records[i].seconds);
  }
  return bytes;
}

}  // namespace

TEST_CASE("attribution: dpkg's log gives actions with their package, and no states") {
  const auto entries = parse_dpkg_log(
      "2026-11-29 10:00:00 startup archives unpack\n"
      "2026-11-29 10:00:00 upgrade libc6:amd64 2.36-9 2.36-10\n"
      "2026-11-29 10:00:01 status half-configured libc6:amd64 2.36-10\n"
      "2026-11-29 10:00:02 conffile /etc/motd keep\n"
      "2026-11-29 10:00:03 configure libc6:amd64 2.36-10 <none>",
      utc);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].time.ns == kTen * kNsPerSecond);
  CHECK(entries[0].text == "upgrade libc6:amd64 2.36-9 2.36-10");
  CHECK(entries[0].packages == std::vector<std::string>{"libc6"});
  CHECK(entries[1].text == "conffile /etc/motd keep");
  CHECK(entries[1].packages.empty());
  CHECK(entries[2].time.ns == (kTen + 3) * kNsPerSecond);
}

TEST_CASE("attribution: lines of dpkg's log that are not of the format are passed over") {
  for (const std::string line :
       {"2026-13-29 10:00:00 install a:all", "2026-11-29 25:00:00 install a:all",
        "2026-11-2x 10:00:00 install a:all", "-026-11-29 10:00:00 install a:all",
        "2026-11-29T10:00:00 install a:all", "install a:all", "", " ", "2026-11-29",
        "2026-11-29 10:00:00", "2026-11-29 10:00:00 "}) {
    INFO(line);
    CHECK(parse_dpkg_log(line + "\n", utc).empty());
    CHECK(parse_dpkg_log(line, utc).empty());
  }
}

TEST_CASE("attribution: a log of a hostile size keeps its newest entries, and short texts") {
  std::string log;
  for (int i = 0; i < 250'000; ++i) log += "2026-11-29 10:00:00 install a:all\n";
  log += "2026-11-29 10:00:09 install " + std::string(100'000, 'x') + "\n";
  const auto entries = parse_dpkg_log(log, utc);
  CHECK(entries.size() <= 2 * kMaxLogEntries);
  CHECK(entries.back().time.ns == (kTen + 9) * kNsPerSecond);
  CHECK(entries.back().text.size() == kMaxLogText);
}

TEST_CASE("attribution: apt's history gives a transaction with who asked and its packages") {
  const auto entries = parse_apt_history(
      "\nStart-Date: 2026-11-29  10:00:00\n"
      "Commandline: apt-get install nginx\n"
      "Requested-By: anna (1000)\n"
      "Install: nginx:amd64 (1.22.1-9), nginx-common:all (1.22.1-9, automatic)\n"
      "Upgrade: libc6:amd64 (2.36-9, 2.36-10)\n"
      "End-Date: 2026-11-29  10:00:05\n"
      "\nStart-Date: nonsense\nRemove: a:all (1)\n"
      "\nCommandline: without a date\n"
      "\nStart-Date: 2026-11-29  11:00:00\nError: Sub-process failed",
      utc);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].time.ns == kTen * kNsPerSecond);
  CHECK(entries[0].packages == std::vector<std::string>{"nginx", "nginx-common", "libc6"});
  CHECK(entries[0].text.starts_with("apt-get install nginx by anna (1000): Install nginx:amd64"));
  CHECK(entries[1].text == "apt: error: Sub-process failed");
}

TEST_CASE("attribution: wtmp gives boots, and logins with their end") {
  const auto bytes = wtmp_of({{2, "~", "reboot", "6.1.0", 100},
                              {7, "pts/0", "anna", "10.0.0.3", 200},
                              {7, "tty1", "root", "", 250},
                              {8, "pts/0", "", "", 300},
                              {1, "~", "shutdown", "6.1.0", 400},
                              {2, "~", "reboot", "6.1.0", 500},
                              {7, "pts/0", "bert", "", 600}});
  const auto entries = parse_wtmp(bytes);
  REQUIRE(entries.size() == 6);
  CHECK(entries[0].source == LogSource::boot);
  CHECK(entries[1].text == "anna on pts/0 from 10.0.0.3");
  CHECK(entries[1].end.ns == 300 * kNsPerSecond);
  CHECK(entries[2].text == "root on tty1");
  CHECK(entries[2].end.ns == 400 * kNsPerSecond);  // the machine went down
  CHECK(entries[3].source == LogSource::shutdown);
  CHECK(entries[5].end.ns == 0);
  CHECK(parse_wtmp(ByteView(bytes).first(bytes.size() - 1)).size() == 5);
  CHECK(parse_wtmp({}).empty());
}

TEST_CASE("attribution: texts of wtmp without their end are bounded by their field") {
  const auto entries = parse_wtmp(
      wtmp_of({{7, std::string(32, 'l'), std::string(32, 'u'), std::string(256, 'h'), 1}}));
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].text ==
        std::string(32, 'u') + " on " + std::string(32, 'l') + " from " + std::string(256, 'h'));
}

TEST_CASE("attribution: a package owns a path by a whole line, on either side of a merged usr") {
  const std::string list = "/.\n/etc\n/etc/motd\n/bin/tool\n";
  const auto lists = [&](const std::string& path) { return lists_path(list, spellings_of(path)); };
  CHECK(lists("/etc/motd"));
  CHECK(lists("/usr/bin/tool"));
  CHECK(lists("/bin/tool"));
  CHECK_FALSE(lists("/etc/mot"));
  CHECK_FALSE(lists("/motd"));
  CHECK_FALSE(lists("/usr/etc/motd"));
}

namespace {

LogEntry entry_at(std::int64_t seconds, LogSource source, std::vector<std::string> packages = {}) {
  return {{seconds * kNsPerSecond}, {}, source, std::to_string(seconds), std::move(packages)};
}

std::vector<std::string> texts_of(const std::vector<LogEntry>& entries) {
  std::vector<std::string> texts;
  for (const auto& entry : entries) texts.push_back(entry.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "attribution: a report has what lies in the window, in order, and what is older of the owner") {
  LogsRead logs;
  logs.owner = "base-files";
  logs.entries = {entry_at(150, LogSource::apt),
                  entry_at(99, LogSource::dpkg, {"base-files"}),
                  entry_at(98, LogSource::dpkg, {"other"}),
                  entry_at(100, LogSource::boot),
                  entry_at(201, LogSource::dpkg, {"base-files"}),
                  entry_at(200, LogSource::dpkg)};
  DriftWindow window;
  window.from = {100 * kNsPerSecond};
  window.to = {200 * kNsPerSecond};
  const auto report = make_drift_report(window, {}, logs);
  CHECK(texts_of(report.inside) == Texts{"100", "150", "200"});
  CHECK(texts_of(report.about_owner) == Texts{"99"});
}

TEST_CASE("attribution: a login before the window counts while it lasts") {
  LogsRead logs;
  logs.entries = {entry_at(50, LogSource::login), entry_at(60, LogSource::login),
                  entry_at(70, LogSource::login)};
  logs.entries[0].end = {99 * kNsPerSecond};
  logs.entries[1].end = {100 * kNsPerSecond};
  DriftWindow window;
  window.from = {100 * kNsPerSecond};
  window.to = {200 * kNsPerSecond};
  CHECK(texts_of(make_drift_report(window, {}, logs).inside) == Texts{"60", "70"});
}

TEST_CASE("attribution: where the clock was set in the window both of its readings count") {
  LogsRead logs;
  logs.entries = {entry_at(40, LogSource::apt), entry_at(140, LogSource::apt),
                  entry_at(250, LogSource::apt), entry_at(301, LogSource::apt)};
  DriftWindow window;
  window.from = {100 * kNsPerSecond};
  window.to = {200 * kNsPerSecond};
  window.clock_jump_ns = -100 * kNsPerSecond;  // 200 s passed, and the clock was set back by 100
  CHECK(texts_of(make_drift_report(window, {}, logs).inside) == Texts{"40", "140", "250"});
}

TEST_CASE("attribution: a report shows at most fifty entries and says how many it leaves out") {
  LogsRead logs;
  for (int i = 0; i < 60; ++i) logs.entries.push_back(entry_at(100 + i, LogSource::dpkg));
  DriftWindow window;
  window.from = {100 * kNsPerSecond};
  window.to = {200 * kNsPerSecond};
  const auto report = make_drift_report(window, {}, logs);
  CHECK(report.inside.size() == kMaxShown);
  CHECK(report.left_out == 10);
  CHECK(report.inside.front().text == "110");
  const auto text = drift_report_text(report, logs, {});
  CHECK(text.find("10 earlier entries") != std::string::npos);
}

TEST_CASE("attribution: hostile text of a log reaches no terminal, and no word names a cause") {
  LogsRead logs;
  logs.entries = {entry_at(150, LogSource::login)};
  logs.entries[0].text = "\x1b[31mroot\n on pts/0";
  logs.owner = "\x1b[2J";
  logs.not_read = {"x: \x1b[1m"};
  DriftWindow window;
  window.from = {100 * kNsPerSecond};
  window.to = {200 * kNsPerSecond};
  const auto report = make_drift_report(window, {}, logs);
  for (const auto& text : {drift_report_text(report, logs, {}), drift_report_json(report, logs)}) {
    CHECK(text.find('\x1b') == std::string::npos);
    for (const auto* claim : {"cause", "because", "changed by", "blame"})
      CHECK(text.find(claim) == std::string::npos);
  }
}
