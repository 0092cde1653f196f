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
