// Types of scalars, quoting, and what single-line fields refuse.
#include "datum/yaml/scalar.hpp"

#include <catch2/catch.hpp>

using namespace datum::yaml;

static Node plain(std::string_view text) {
  return {text, Style::plain, {1, 1}};
}

TEST_CASE("yaml: plain scalars have the types of the YAML 1.2 core schema [Y03]") {
  for (const auto* text :
       {"yes", "no",    "on",  "off",   "Yes", "ON",       "y",          "n",    "tRUE",
        "nil", "1.2.3", "0b1", "1_000", "0o8", "0xg",      "0x",         "-",    "+",
        ".",   "-.",    "e5",  "1e",    "1e+", "12:30:45", "2001-01-01", "+0x1", "-0o7",
        ".e1", "inf",   "nan", "+.nan", "abc", "/etc",     "Null1"}) {
    INFO(text);
    CHECK(classify_plain(text) == ScalarType::string);
  }
  for (const auto* text : {"0", "-1", "+12", "0640", "00", "0o17", "0xBeef"}) {
    INFO(text);
    CHECK(classify_plain(text) == ScalarType::integer);
  }
  for (const auto* text : {"1.0", "-.5", "1.", "1e3", "1.5E-3", ".inf", "-.INF", ".nan", "+.Inf"}) {
    INFO(text);
    CHECK(classify_plain(text) == ScalarType::floating);
  }
  for (const auto* text : {"true", "True", "TRUE", "false", "False", "FALSE"})
    CHECK(classify_plain(text) == ScalarType::boolean);
  for (const auto* text : {"", "~", "null", "Null", "NULL"})
    CHECK(classify_plain(text) == ScalarType::null);
}

TEST_CASE("yaml: a quoted scalar is text whatever it holds") {
  for (const auto style :
       {Style::single_quoted, Style::double_quoted, Style::literal, Style::folded}) {
    CHECK(classify(Node("true", style, {})) == ScalarType::string);
    CHECK(classify(Node("", style, {})) == ScalarType::string);
    CHECK_FALSE(find_boolean(Node("true", style, {})));
    CHECK_FALSE(find_integer(Node("1", style, {})));
    CHECK_FALSE(is_null(Node("null", style, {})));
  }
}

TEST_CASE("yaml: a boolean field takes exactly true and false [Y03]") {
  CHECK(find_boolean(plain("true")) == true);
  CHECK(find_boolean(plain("false")) == false);
  for (const auto* text : {"True", "TRUE", "False", "yes", "on", "1", ""})
    CHECK_FALSE(find_boolean(plain(text)));
  CHECK_FALSE(find_boolean(Node(std::span<const Node>(), Position{})));
}

TEST_CASE("yaml: an integer field takes plain decimal numbers of 64 bits") {
  CHECK(find_integer(plain("0")) == 0);
  CHECK(find_integer(plain("-12")) == -12);
  CHECK(find_integer(plain("9223372036854775807")) == INT64_MAX);
  CHECK(find_integer(plain("-9223372036854775808")) == INT64_MIN);
  for (const auto* text :
       {"9223372036854775808", "0640", "+1", "0x10", "1.0", "-", "", "1 ", "--1"})
    CHECK_FALSE(find_integer(plain(text)));
}

TEST_CASE("yaml: a quoted text reads back as the same characters") {
  for (const std::string& text :
       {std::string("a\"b\\c"), std::string("\0\x01\x1F\x7F", 4), std::string("line\nnext\ttab\r"),
        std::string("\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF"), std::string("é€😀"), std::string(),
        std::string(" {{ x }} # no comment: "), std::string("\xE2\x80\xAE")}) {
    const auto bytes = quoted(text);
    INFO(bytes);
    CHECK(bytes.find('\n') == std::string::npos);
    const auto parsed = parse("f", bytes + "\n");
    REQUIRE(parsed.documents.size() == 1);
    CHECK(parsed.documents[0].root.text() == text);
  }
  CHECK(quoted("\xFFx") == "\"\xEF\xBF\xBDx\"");
}

TEST_CASE("yaml: single-line text holds no control or bidirectional character and is NFC") {
  CHECK_FALSE(find_single_line_fault("/etc/datum"));
  CHECK_FALSE(find_single_line_fault(""));
  CHECK_FALSE(find_single_line_fault("caf\xC3\xA9 €😀 日本"));
  const auto fault = [](std::string_view text) {
    return find_single_line_fault(text).value_or("");
  };
  CHECK(fault("a\nb") == "holds the control character U+000A");
  CHECK(fault("a\tb") == "holds the control character U+0009");
  CHECK(fault(std::string_view("a\0b", 3)) == "holds the control character U+0000");
  CHECK(fault("a\xC2\x85") == "holds the control character U+0085");
  CHECK(fault("a\xE2\x80\xA8") == "holds the control character U+2028");
  CHECK(fault("a\xE2\x80\xAE").find("bidirectional control U+202E") != std::string::npos);
  CHECK(fault("a\xE2\x81\xA6").find("bidirectional control U+2066") != std::string::npos);
  CHECK(fault("\xD8\x9C").find("U+061C") != std::string::npos);
  CHECK(fault("cafe\xCC\x81").find("NFC") != std::string::npos);
  CHECK(fault("\xE2\x84\xAB").find("NFC") != std::string::npos);  // the Ångström sign
  CHECK(fault("a\xFF") == "not valid UTF-8");
}
