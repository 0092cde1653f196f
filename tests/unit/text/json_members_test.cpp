// Members of a message: each is taken or named as what is wrong with it.
#include "datum/text/json_members.hpp"

#include <catch2/catch.hpp>

using namespace datum;
using namespace datum::text;

namespace {

struct Taken {
  std::string word = "as it was";
  bool flag = false;
  std::uint8_t small = 7;
  std::uint64_t large = 8;
};

// What `end` says; empty: nothing.
std::string take(std::string_view json, Taken& into) {
  const auto value = read_json(json);
  REQUIRE(value);
  JsonMembers members(*value);
  members.take("word", into.word);
  members.take("flag", into.flag);
  members.take("small", into.small);
  members.take("large", into.large);
  const auto end = members.end();
  if (!end) CHECK(end.error().code() == ErrorCode::invalid_argument);
  return end ? "" : end.error().message();
}

std::string fault_of(std::string_view json) {
  Taken taken;
  return take(json, taken);
}

}  // namespace

TEST_CASE("json members: each is taken by its name, and one that is missing changes nothing") {
  Taken taken;
  CHECK(take(R"({"large":9223372036854775807,"small":255,"flag":true})", taken).empty());
  CHECK(taken.word == "as it was");
  CHECK(taken.flag);
  CHECK(taken.small == 255);
  CHECK(taken.large == 9223372036854775807U);
}

TEST_CASE("json members: the first thing that is wrong is the one that is said") {
  CHECK(fault_of(R"({"small":256})") == "small is out of its range");
  CHECK(fault_of(R"({"large":-1})") == "large is out of its range");
  CHECK(fault_of(R"({"small":"1"})") == "small is of another kind");
  CHECK(fault_of(R"({"small":1.5})") == "small is of another kind");
  CHECK(fault_of(R"({"small":256,"word":1})") == "word is of another kind");
  CHECK(fault_of(R"({"word":"w","more":1})") == "a member that is not known");
  CHECK(fault_of("[]") == "a message is one object");
}

TEST_CASE("json members: what the caller finds wrong counts like the rest") {
  const auto value = read_json(R"({"list":[1,2]})");
  REQUIRE(value);
  JsonMembers members(*value);
  const auto* list = members.take("list", JsonKind::array);
  REQUIRE(list != nullptr);
  CHECK(list->items.size() == 2);
  CHECK(members.take("none", JsonKind::array) == nullptr);
  CHECK(members.end());
  members.add_fault("list", "is too long");
  members.add_fault("list", "is too short");
  CHECK(members.end().error().message() == "list is too long");
}
