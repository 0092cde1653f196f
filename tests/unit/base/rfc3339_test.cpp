#include "datum/base/rfc3339.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace datum;

TEST_CASE("base: times are RFC 3339 in UTC, before 1970 too") {
  CHECK(format_rfc3339({0}) == "1970-01-01T00:00:00Z");
  CHECK(format_rfc3339({1'795'969'362'007'999'999}) == "2026-11-29T16:22:42Z");
  CHECK(format_rfc3339({1'795'969'362'007'999'999}, Precision::milliseconds) ==
        "2026-11-29T16:22:42.007Z");
  CHECK(format_rfc3339({-1}, Precision::milliseconds) == "1969-12-31T23:59:59.999Z");
  CHECK(format_rfc3339({951'782'400 * kNsPerSecond}) == "2000-02-29T00:00:00Z");
  CHECK(format_rfc3339({std::numeric_limits<std::int64_t>::max()}) == "2262-04-11T23:47:16Z");
}

TEST_CASE("base: RFC 3339 reads back, offsets and fractions included") {
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

TEST_CASE("base: what is not a time is not taken for one") {
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
