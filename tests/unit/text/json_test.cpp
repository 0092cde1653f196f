#include <catch2/catch.hpp>
#include <limits>

#include "datum/text/json_reader.hpp"
#include "datum/text/json_writer.hpp"

using namespace datum;
using namespace datum::text;

TEST_CASE("json: members are written in the order of the calls, on one line") {
  JsonWriter writer;
  writer.begin_object().member("z", 1).member("a", "x").key("list").begin_array();
  writer.value(true).null().value(std::string("s")).begin_object().end_object().end_array();
  CHECK_FALSE(writer.complete());
  writer.member("last", false).end_object();
  REQUIRE(writer.complete());
  CHECK(writer.take() == R"({"z":1,"a":"x","list":[true,null,"s",{}],"last":false})");
  CHECK_FALSE(writer.complete());
  CHECK(writer.begin_array().end_array().take() == "[]");
}

TEST_CASE("json: numbers keep all 64 bits in both directions") {
  JsonWriter writer;
  writer.begin_array();
  writer.value(std::numeric_limits<std::int64_t>::min());
  writer.value(std::numeric_limits<std::uint64_t>::max());
  writer.value(std::uint8_t{200}).value(short{-3}).end_array();
  const auto text = writer.take();
  CHECK(text == "[-9223372036854775808,18446744073709551615,200,-3]");
  const auto value = read_json(text);
  REQUIRE(value);
  CHECK(value->items[0].integer == std::numeric_limits<std::int64_t>::min());
  CHECK(value->items[1].kind == JsonKind::unsigned_integer);
  CHECK(value->items[1].unsigned_integer == std::numeric_limits<std::uint64_t>::max());
  CHECK(value->items[2].kind == JsonKind::integer);
}

TEST_CASE("json: a written string reads back the same, and is safe on a terminal") {
  const std::string nasty("\"\\/\b\f\n\r\t\0\x1b\x7f \xC2\x9B\xE2\x80\xAE\xE2\x80\xA8 é€😀", 30);
  const auto text = json_string(nasty);
  for (const char c : text) CHECK(static_cast<unsigned char>(c) >= 0x20);
  CHECK(text.find('\x7f') == std::string::npos);
  CHECK(text.find("\\u009b") != std::string::npos);
  CHECK(text.find("\\u202e") != std::string::npos);
  const auto back = read_json(text);
  REQUIRE(back);
  CHECK(back->string == nasty);
  CHECK(json_string("a\xFF\xC3") == "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_CASE("json: a document reads into values, members in their order") {
  const auto value = read_json(R"( {"b": [1, 2.5, null, true], "a": {"x": "y"}} )");
  REQUIRE(value);
  REQUIRE(value->kind == JsonKind::object);
  CHECK(value->members[0].name == "b");
  CHECK(value->find("b")->items[1].floating == 2.5);
  CHECK(value->find("b")->items[2].kind == JsonKind::null);
  CHECK(value->find("b")->items[3].boolean);
  CHECK(value->find("a")->find("x")->string == "y");
  CHECK(value->find("c") == nullptr);
}

TEST_CASE("json: what is not JSON is corrupt, with its place") {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1,]"), std::string("{\"a\":1,}"),
        std::string("01"), std::string("1 2"), std::string("nul"), std::string("'a'"),
        std::string("\"\xFF\""), std::string("\"a\nb\""), std::string("[1] // c"),
        std::string("1\0x", 3), std::string("\xEF\xBB\xBF[]"), std::string("1e999"),
        std::string("NaN"), std::string("\"\\ud800\"")}) {
    INFO(text);
    const auto value = read_json(text);
    REQUIRE_FALSE(value);
    CHECK(value.error().code() == ErrorCode::corrupt);
    CHECK(value.error().message().find("byte ") != std::string::npos);
    CHECK_FALSE(check_json(text));
  }
}

TEST_CASE("json: a member that stands twice is refused when read and allowed when checked") {
  const auto value = read_json(R"({"a":1,"b":2,"a":3})");
  REQUIRE_FALSE(value);
  CHECK(value.error().message().find("two members \"a\"") != std::string::npos);
  CHECK(check_json(R"({"a":1,"b":2,"a":3})"));
}

TEST_CASE("json: limits of depth, values and bytes hold and say so") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(read_json(nested(64)));
  const auto deep = read_json(nested(65));
  REQUIRE_FALSE(deep);
  CHECK(deep.error().code() == ErrorCode::limit_exceeded);
  CHECK(check_json(nested(1'000'000)).error().code() == ErrorCode::limit_exceeded);
  CHECK(read_json("[1,2]", {.values = 3}));
  CHECK(read_json("[1,2,3]", {.values = 3}).error().code() == ErrorCode::limit_exceeded);
  CHECK(check_json("[1,2,3]", {.values = 3}).error().code() == ErrorCode::limit_exceeded);
  CHECK(read_json("[1]", {.bytes = 2}).error().code() == ErrorCode::limit_exceeded);
}
