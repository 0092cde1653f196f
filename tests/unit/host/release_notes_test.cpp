// What the rollback script left for the service to tell.
#include "datum/host/release_notes.hpp"

#include <catch2/catch.hpp>

using namespace datum::host;

TEST_CASE("release notes: what the script wrote is read as it is, whatever else stands there") {
  const auto note = parse_rolled_back("from=0.2.0 (a=b)\nto=0.1.0 (c)\nlater=1\ncause=it failed\n");
  REQUIRE(note.has_value());
  CHECK(*note == RolledBackNote{"0.2.0 (a=b)", "0.1.0 (c)", "it failed"});
  CHECK(parse_rolled_back("from=1\nto=2\ncause=\n")->cause.empty());
}

TEST_CASE("release notes: a note that is not whole says nothing") {
  CHECK_FALSE(parse_rolled_back("").has_value());
  CHECK_FALSE(parse_rolled_back("from=1\nto=2\n").has_value());
  CHECK_FALSE(parse_rolled_back("from=1\nto=2\ncause=cut o").has_value());
  CHECK_FALSE(parse_rolled_back("from=\nto=2\ncause=x\n").has_value());
  CHECK_FALSE(parse_rolled_back("from=1\nfrom=3\nto=2\ncause=x\n").has_value());
  CHECK_FALSE(parse_rolled_back("fromage=1\nto=2\ncause=x\n").has_value());
}

TEST_CASE("release notes: a version is kept in the folder that the script names for it") {
  CHECK(release_folder("0.2.0 (f00dcafe1234)") == "0.2.0__f00dcafe1234_");
  CHECK(release_folder("1:2.0~rc1+b-3/\xc3\xa9") == "1_2.0~rc1+b-3___");
}
