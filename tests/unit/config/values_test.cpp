// Windows, globs, durations and sizes.
#include <catch2/catch.hpp>
#include <vector>

#include "datum/config/glob.hpp"
#include "datum/config/quantity.hpp"
#include "datum/config/window.hpp"

using namespace datum::config;

static constexpr std::uint8_t kSun = 0, kMon = 1, kTue = 2, kFri = 5, kSat = 6;

static LocalTime at(std::uint8_t day, int hour, int minute = 0) {
  return {day, static_cast<std::uint16_t>(hour * 60 + minute)};
}

static Window window(std::initializer_list<std::uint8_t> days, int from, int to) {
  Window made;
  for (const auto day : days) made.days[day] = true;
  made.from = static_cast<std::uint16_t>(from * 60);
  made.to = static_cast<std::uint16_t>(to * 60);
  return made;
}

TEST_CASE("window: without any window the host is always open") {
  CHECK(is_open({}, at(kMon, 3)));
  CHECK_FALSE(find_next_opening({}, at(kMon, 3)));
}

TEST_CASE("window: it is open from its first minute up to, not including, its last") {
  const std::vector windows{window({kMon}, 2, 4)};
  CHECK_FALSE(is_open(windows, at(kMon, 1, 59)));
  CHECK(is_open(windows, at(kMon, 2)));
  CHECK(is_open(windows, at(kMon, 3, 59)));
  CHECK_FALSE(is_open(windows, at(kMon, 4)));
  CHECK_FALSE(is_open(windows, at(kTue, 3)));
}

TEST_CASE("window: one over midnight belongs to the day on which it begins") {
  const std::vector windows{window({kSat}, 22, 4)};
  CHECK_FALSE(is_open(windows, at(kSat, 3)));
  CHECK(is_open(windows, at(kSat, 22)));
  CHECK(is_open(windows, at(kSun, 3, 59)));
  CHECK_FALSE(is_open(windows, at(kSun, 4)));
  CHECK_FALSE(is_open(windows, at(kSun, 22)));
}

TEST_CASE("window: a whole day ends at its midnight") {
  const std::vector windows{window({kMon}, 0, 24)};
  CHECK(is_open(windows, at(kMon, 0)));
  CHECK(is_open(windows, at(kMon, 23, 59)));
  CHECK_FALSE(is_open(windows, at(kTue, 0)));
  CHECK_FALSE(is_open(windows, at(kSun, 23, 59)));
}

TEST_CASE("window: the next opening is the nearest, up to a week away") {
  const std::vector windows{window({kMon}, 2, 4), window({kFri}, 22, 4)};
  CHECK(find_next_opening(windows, at(kMon, 1)) == at(kMon, 2));
  CHECK(find_next_opening(windows, at(kMon, 4)) == at(kFri, 22));
  CHECK(find_next_opening(windows, at(kSat, 4)) == at(kMon, 2));
  CHECK_FALSE(find_next_opening(windows, at(kMon, 3)));
  const std::vector one{window({kMon}, 2, 4)};
  CHECK(find_next_opening(one, at(kMon, 5)) == at(kMon, 2));
  CHECK_FALSE(find_next_opening(std::vector{window({}, 2, 4)}, at(kMon, 5)));
}

TEST_CASE("window: openings and closures agree with a walk through the whole week") {
  const std::vector<std::vector<Window>> tables{
      {window({kSat}, 22, 4)}, {window({kSun, kTue}, 0, 24)}, {window({kMon, kFri}, 23, 1)}};
  for (const auto& windows : tables) {
    for (int minute = 0; minute < 7 * kMinutesPerDay; ++minute) {
      const auto time = [](int of_week) {
        const auto wrapped = of_week % (7 * kMinutesPerDay);
        return LocalTime{static_cast<std::uint8_t>(wrapped / kMinutesPerDay),
                         static_cast<std::uint16_t>(wrapped % kMinutesPerDay)};
      };
      if (is_open(windows, time(minute))) continue;
      auto next = minute;
      while (!is_open(windows, time(next))) ++next;
      REQUIRE(find_next_opening(windows, time(minute)) == time(next));
    }
  }
}

TEST_CASE("window: it is described from Monday on") {
  CHECK(describe(window({kSun, kMon, kTue}, 22, 24)) == "mon,tue,sun 22:00-24:00");
  CHECK(describe(at(kSun, 4, 5)) == "sun 04:05");
}

TEST_CASE("glob: stars and question marks stand for characters, brackets for themselves") {
  CHECK(matches("Package[*]", "Package[nginx]"));
  CHECK(matches("*", "anything"));
  CHECK(matches("*", ""));
  CHECK(matches("File[/etc/*.conf]", "File[/etc/a/b.conf]"));
  CHECK(matches("User[a?c]", "User[abc]"));
  CHECK(matches("*[*a*b*]", "File[xxaxxbxx]"));
  CHECK(matches("**a**", "a"));
  CHECK_FALSE(matches("Package[*]", "Package[nginx"));
  CHECK_FALSE(matches("Package[n]", "n"));
  CHECK_FALSE(matches("User[a?c]", "User[ac]"));
  CHECK_FALSE(matches("file[*]", "File[a]"));
  CHECK_FALSE(matches("", "a"));
  CHECK_FALSE(matches("*a", "ab"));
  CHECK_FALSE(matches("?", "é"));  // byte by byte
  CHECK(matches_any(std::vector<std::string>{"x", "y*"}, "yz"));
  CHECK_FALSE(matches_any({}, "x"));
}

TEST_CASE("glob: many stars cost no more than the product of both sizes") {
  std::string glob;
  for (int i = 0; i < 200; ++i) glob += "*a";
  CHECK_FALSE(matches(glob + "b", std::string(5'000, 'a')));
}

TEST_CASE("glob: a pattern that can match no reference is a fault") {
  for (const auto* glob : {"*", "Package[*]", "File[a]", "*[nginx]", "P*[x?]", "File[*",
                           "User[*a*]", "Pack*", "??le[x]"}) {
    INFO(glob);
    CHECK_FALSE(find_glob_fault(glob));
  }
  for (const auto* glob : {"", "nginx", "nginx*x", "Files[*]", "file[*]", "File[*]x", "File[]",
                           "x?]", "package[nginx]"}) {
    INFO(glob);
    CHECK(find_glob_fault(glob));
  }
  CHECK(find_glob_fault(std::string(600, '*')));
}

TEST_CASE("quantity: durations have one number and one unit") {
  constexpr std::int64_t s = 1'000'000'000;
  CHECK(find_duration_ns("45s") == 45 * s);
  CHECK(find_duration_ns("30m") == 1'800 * s);
  CHECK(find_duration_ns("2h") == 7'200 * s);
  CHECK(find_duration_ns("400d") == 400 * 86'400 * s);
  CHECK(find_duration_ns("500ms") == s / 2);
  CHECK(find_duration_ns("0s") == 0);
  CHECK(find_duration_ns("36525d") == s * 36'525 * 86'400);
  for (const auto* text :
       {"", "30", "m", "-1s", "+1s", "1.5h", "1h30m", " 1s", "1s ", "1 s", "1S", "01s", "00s",
        "36526d", "99999999999999999999s", "18446744073709551615ms"}) {
    INFO(text);
    CHECK_FALSE(find_duration_ns(text));
  }
  for (const auto* text : {"0s", "500ms", "45s", "30m", "2h", "400d", "90m"})
    CHECK(format_exact_duration(*find_duration_ns(text)) == text);
  CHECK(format_exact_duration(60 * s) == "1m");
}

TEST_CASE("quantity: sizes are powers of 1024") {
  CHECK(find_size("1GiB") == 1ULL << 30U);
  CHECK(find_size("512KiB") == 512ULL << 10U);
  CHECK(find_size("0B") == 0);
  for (const auto* text : {"", "1", "1G", "1GB", "1gib", "-1B", "01B", "99999TiB"})
    CHECK_FALSE(find_size(text));
  for (const auto* text : {"0B", "1B", "1536KiB", "1GiB"})
    CHECK(format_exact_size(*find_size(text)) == text);
}
