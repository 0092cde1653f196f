// The lock of the folder that a store lies in: who opens beside others that open, who moves alone.
#include "datum/journal/place.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "scratch.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

TEST_CASE("place: several open at once, and who moves is alone, also after parts have moved") {
  const Scratch scratch;
  const auto folder = scratch.path("store");
  std::filesystem::create_directories(folder + "/journal");
  const auto self = "process " + std::to_string(::getpid());
  {
    const auto one = lock_place(folder, PlaceUse::opening);
    const auto other = lock_place(folder, PlaceUse::opening);
    REQUIRE(one.has_value());
    REQUIRE(other.has_value());
    const auto mover = lock_place(folder, PlaceUse::moving);
    REQUIRE(!mover.has_value());
    CHECK(mover.error().code() == ErrorCode::busy);
    CHECK(mover.error().message().find(self + " opens it") != std::string::npos);
  }
  const auto mover = lock_place(folder, PlaceUse::moving);
  REQUIRE(mover.has_value());
  std::filesystem::rename(folder + "/journal", folder + "/elsewhere");
  for (const auto use : {PlaceUse::opening, PlaceUse::moving}) {
    const auto refused = lock_place(folder, use);
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code() == ErrorCode::busy);
    CHECK(refused.error().message().find(self + " moves it away") != std::string::npos);
  }
}

TEST_CASE("place: of a folder that is not there nothing is held") {
  const Scratch scratch;
  const auto folder = scratch.path("none");
  const auto mover = lock_place(folder, PlaceUse::moving);
  CHECK(mover.has_value());
  CHECK(lock_place(folder, PlaceUse::opening).has_value());
  CHECK(!std::filesystem::exists(folder));
}
