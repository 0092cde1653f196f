#include "datum/text/human.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>

using namespace datum;
using namespace datum::text;

TEST_CASE("human: sizes round down and never show more than there is") {
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(1023) == "1023 B");
  CHECK(format_size(1024) == "1.0 KiB");
  CHECK(format_size(2047) == "1.9 KiB");
  CHECK(format_size(10 * 1024 + 1023) == "10 KiB");
  CHECK(format_size(1024 * 1024 - 1) == "1023 KiB");
  CHECK(format_size(437'256'192) == "417 MiB");
  CHECK(format_size(std::numeric_limits<std::uint64_t>::max()) == "15 EiB");
}

TEST_CASE("human: durations show two units at most") {
  const auto s = kNsPerSecond;
  CHECK(format_duration(0) == "0s");
  CHECK(format_duration(1) == "<1ms");
  CHECK(format_duration(350 * kNsPerMs) == "350ms");
  CHECK(format_duration(s) == "1s");
  CHECK(format_duration(1'290 * kNsPerMs) == "1.2s");
  CHECK(format_duration(59 * s + 999) == "59s");
  CHECK(format_duration(60 * s) == "1m");
  CHECK(format_duration(725 * s) == "12m5s");
  CHECK(format_duration(7'200 * s + 59 * s) == "2h");
  CHECK(format_duration(7'500 * s) == "2h5m");
  CHECK(format_duration(3 * 86'400 * s + 4 * 3'600 * s + 60 * s) == "3d4h");
  CHECK(format_duration(-90 * s) == "-1m30s");
  CHECK(format_duration(std::numeric_limits<std::int64_t>::min()) == "-106751d23h");
}

TEST_CASE("human: counts have their noun and separated thousands") {
  CHECK(format_count(0, "file") == "0 files");
  CHECK(format_count(1, "file") == "1 file");
  CHECK(format_count(1'234'567, "entry", "entries") == "1,234,567 entries");
  CHECK(format_count(100, "x") == "100 xs");
}

TEST_CASE("human: times are RFC 3339 in UTC, before 1970 too") {
  CHECK(format_rfc3339({0}) == "1970-01-01T00:00:00Z");
  CHECK(format_rfc3339({1'795'969'362'007'999'999}) == "2026-11-29T16:22:42Z");
  CHECK(format_rfc3339({1'795'969'362'007'999'999}, Precision::milliseconds) ==
        "2026-11-29T16:22:42.007Z");
  CHECK(format_rfc3339({-1}, Precision::milliseconds) == "1969-12-31T23:59:59.999Z");
  CHECK(format_rfc3339({951'782'400 * kNsPerSecond}) == "2000-02-29T00:00:00Z");
  CHECK(format_rfc3339({std::numeric_limits<std::int64_t>::max()}) == "2262-04-11T23:47:16Z");
}

TEST_CASE("human: RFC 3339 reads back, offsets and fractions included") {
  CHECK(find_rfc3339("1970-01-01T00:00:00Z") == WallNs{0});
  CHECK(find_rfc3339("2026-11-29T17:22:42+01:00") == find_rfc3339("2026-11-29T16:22:42Z"));
  CHECK(find_rfc3339("2026-11-29 10:52:42-05:30") == find_rfc3339("2026-11-29T16:22:42Z"));
  CHECK(find_rfc3339("1970-01-01T00:00:01.5Z") == WallNs{1'500'000'000});
  CHECK(find_rfc3339("1970-01-01t00:00:00.000000001z") == WallNs{1});
  for (std::int64_t ns : {0LL, 1'795'969'362LL, 951'782'400LL, -86'401LL, 4'102'444'799LL}) {
    const WallNs at{ns * kNsPerSecond};
    CHECK(find_rfc3339(format_rfc3339(at)) == at);
  }
}

TEST_CASE("human: what is not a time is not taken for one") {
  for (const auto* text : {"",
                           "2026",
                           "2026-11-29",
                           "2026-11-29T16:22:42",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-00-10T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2026-11-29T24:00:00Z",
                           "2026-11-29T23:60:00Z",
                           "2026-11-29T23:59:60Z",
                           "2026-11-29T16:22:42ZZ",
                           "2026-11-29T16:22:42+1:00",
                           "2026-11-29T16:22:42+24:00",
                           "2026-11-29T16:22:42.Z",
                           "2026-11-29T16:22:42.1234567890Z",
                           "+026-11-29T16:22:42Z",
                           "1600-01-01T00:00:00Z",
                           "9999-12-31T23:59:59Z",
                           "2026-11-29T16:22:42 Z"}) {
    INFO(text);
    CHECK_FALSE(find_rfc3339(text));
  }
}

TEST_CASE("human: local times are as short as their distance allows") {
  std::tm at{};
  at.tm_year = 126;
  at.tm_mon = 10;
  at.tm_mday = 9;
  at.tm_yday = 312;
  at.tm_hour = 6;
  at.tm_min = 2;
  at.tm_sec = 5;
  auto now = at;
  CHECK(format_local(at, now) == "06:02:05");
  now.tm_yday = 313;
  CHECK(format_local(at, now) == "9 Nov 06:02");
  now.tm_year = 127;
  CHECK(format_local(at, now) == "2026-11-09 06:02");
}

TEST_CASE("human: local time follows the zone of the process") {
  const char* const old_zone = std::getenv("TZ");
  const std::string kept = old_zone == nullptr ? "" : old_zone;
  setenv("TZ", "TST-2", 1);  // two hours ahead of UTC
  tzset();
  CHECK(local_time({0}).tm_hour == 2);
  CHECK(local_time({-1}).tm_sec == 59);
  if (old_zone == nullptr)
    unsetenv("TZ");
  else
    setenv("TZ", kept.c_str(), 1);
  tzset();
}
