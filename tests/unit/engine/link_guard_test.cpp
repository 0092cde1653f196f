// What is remembered of a guarded declaration, and how long it has.
#include "datum/engine/link_guard.hpp"

#include <catch2/catch.hpp>

#include "mesh_scene.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

constexpr std::int64_t kMinute = 60 * kNsPerSecond;

LinkGuard guard_of(std::int64_t within_ns) {
  return {1, 7, 40, 52, WallNs{1'000 * kMinute}, within_ns, GuardStand::linked};
}

}  // namespace

TEST_CASE("link guard: it is read as it was written, there is none before, and damage is told") {
  support::ScratchFolder scratch("guard");
  const auto folder = scratch.path + "/store";
  test::NodeLife life(folder);
  const auto none = read_link_guard(*life.files, folder);
  REQUIRE(none);
  CHECK_FALSE(none->has_value());
  const auto guard = guard_of(5 * kMinute);
  REQUIRE(write_link_guard(*life.files, folder, guard));
  CHECK(*read_link_guard(*life.files, folder) == guard);
  auto later = guard;
  later.stand = GuardStand::reverted;
  REQUIRE(write_link_guard(*life.files, folder, later));
  CHECK(*read_link_guard(*life.files, folder) == later);
}

TEST_CASE("link guard: the time is what is left of it, and after a start a minute at least") {
  const auto guard = guard_of(10 * kMinute);
  const auto at = [&](std::int64_t minutes) {
    return WallNs{guard.finished.ns + minutes * kMinute};
  };
  CHECK(time_left(guard, at(0), false) == 10 * kMinute);
  CHECK(time_left(guard, at(4), false) == 6 * kMinute);
  CHECK(time_left(guard, at(11), false) == 0);
  CHECK(time_left(guard, at(11), true) == kLeastAfterStartNs);
  CHECK(time_left(guard, at(4), true) == 6 * kMinute);
  CHECK(time_left(guard, at(-900), true) == 10 * kMinute);  // the clock was set back
  const auto brief = guard_of(5 * kNsPerSecond);
  CHECK(time_left(brief, WallNs{brief.finished.ns + kMinute}, true) == 5 * kNsPerSecond);
}
