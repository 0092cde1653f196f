// What is remembered of a guarded declaration, and how long it has.
#include "datum/engine/link_guard.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "mesh_scene.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

constexpr std::int64_t kMinute = 60 * kNsPerSecond;

core::DeclarationId declaration_of(std::uint64_t number) {
  core::DeclarationId id;
  id.node = "h1";
  id.epoch = 1;
  id.number = number;
  return id;
}

}  // namespace

TEST_CASE("link guard: it is read as it was written, there is none before, and damage is told") {
  support::ScratchFolder scratch("guard");
  const auto folder = scratch.path + "/store";
  test::NodeLife life(folder);
  const auto none = read_link_guard(*life.files, folder);
  REQUIRE(none);
  CHECK_FALSE(none->has_value());
  const LinkGuard guard{{}, 1, 7, 40, 5 * kMinute, GuardStand::undoing};
  REQUIRE(write_link_guard(*life.files, folder, guard));
  CHECK(*read_link_guard(*life.files, folder) == guard);
  auto later = guard;
  later.stand = GuardStand::reverted;
  REQUIRE(write_link_guard(*life.files, folder, later));
  CHECK(*read_link_guard(*life.files, folder) == later);
}

TEST_CASE("link guard: one that is damaged is told, and one of a later declaration is not used") {
  support::ScratchFolder scratch("guard");
  const auto folder = scratch.path + "/store";
  test::NodeLife life(folder);
  CHECK(find_link_guard(*life.files, folder, declaration_of(7)).problem.empty());
  const LinkGuard guard{{}, 1, 7, 40, 5 * kMinute, GuardStand::linked};
  REQUIRE(write_link_guard(*life.files, folder, guard));
  CHECK(*find_link_guard(*life.files, folder, declaration_of(7)).guard == guard);
  for (const auto number : {6, 8}) {
    const auto other =
        find_link_guard(*life.files, folder, declaration_of(static_cast<std::uint64_t>(number)));
    CHECK_FALSE(other.guard);
    CHECK(other.problem.empty());
  }
  auto elsewhere = declaration_of(7);
  elsewhere.mesh.bytes[0] = 1;
  CHECK_FALSE(find_link_guard(*life.files, folder, elsewhere).guard);
  std::ofstream(folder + "/identity/guard") << "no guard";
  const auto found = find_link_guard(*life.files, folder, declaration_of(7));
  CHECK_FALSE(found.guard);  // no declaration says that there was one
  CHECK_FALSE(found.problem.empty());
  REQUIRE(drop_link_guard(*life.files, folder));
  CHECK(find_link_guard(*life.files, folder, declaration_of(7)).problem.empty());
}

TEST_CASE("link guard: the time is what is left of it, and after a start a minute at least") {
  const WallNs from{1'000 * kMinute};
  const auto at = [&](std::int64_t minutes) { return WallNs{from.ns + minutes * kMinute}; };
  CHECK(time_left(10 * kMinute, from, at(0)) == 10 * kMinute);
  CHECK(time_left(10 * kMinute, from, at(4)) == 6 * kMinute);
  CHECK(time_left(10 * kMinute, from, at(11)) == 0);
  CHECK(time_left(10 * kMinute, from, at(-900)) == 10 * kMinute);  // the clock was set back
  CHECK(least_after_start(10 * kMinute) == kLeastAfterStartNs);
  CHECK(least_after_start(5 * kNsPerSecond) == 5 * kNsPerSecond);
}
