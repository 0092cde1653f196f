#include "datum/text/terminal.hpp"

#include <catch2/catch.hpp>

#include "datum/text/table.hpp"

using namespace datum::text;

TEST_CASE("terminal: nothing from outside can move the cursor or change the order of text") {
  CHECK(escape("plain é€😀") == "plain é€😀");
  CHECK(escape("a\x1b[2Jb") == "a\\x1b[2Jb");
  CHECK(escape("a\nb\tc\r") == "a\\nb\\tc\\x0d");
  CHECK(escape("\xC2\x9B") == "\\u009b");
  CHECK(escape("\xE2\x80\xAE\xE2\x81\xA9\xE2\x80\xA8") == "\\u202e\\u2069\\u2028");
  CHECK(escape(std::string_view("\0\x7f", 2)) == "\\x00\\x7f");
}

TEST_CASE("terminal: bytes that are not UTF-8 are shown one by one") {
  CHECK(escape("a\xFF") == "a\\xff");
  CHECK(escape("\xC0\x80") == "\\xc0\\x80");
  CHECK(escape("\xED\xA0\x80") == "\\xed\\xa0\\x80");
  CHECK(escape("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(escape("\xE2\x82") == "\\xe2\\x82");
  CHECK(escape("\xE2\x82z") == "\\xe2\\x82z");
}

TEST_CASE("terminal: a name that spells an escape does not look like one") {
  CHECK(escape("\\x1b") != escape("\x1b"));
  CHECK(escape("\\x1b") == "\\\\x1b");
}

TEST_CASE("terminal: content keeps its lines, tabs and backslashes") {
  CHECK(escape_lines("a\tb\\n\nc\x1b\xFF") == "a\tb\\n\nc\\x1b\\xff");
}

TEST_CASE("terminal: width counts characters, and what does not fit ends in an ellipsis") {
  CHECK(width("") == 0);
  CHECK(width("aé€😀") == 4);
  CHECK(fit("aé€😀", 4) == "aé€😀");
  CHECK(fit("aé€😀", 3) == "aé…");
  CHECK(fit("aé€😀", 1) == "…");
  CHECK(fit("aé", 0).empty());
  CHECK(fit("", 3).empty());
}

TEST_CASE("terminal: colour appears only where it was asked for") {
  CHECK(Painter(false).paint(Colour::red, "x") == "x");
  CHECK(Painter(true).paint(Colour::red, "x") == "\x1b[31mx\x1b[0m");
  CHECK(Painter(true).paint(Colour::none, "x") == "x");
  CHECK(Painter(true).paint(Colour::red, "").empty());
}

TEST_CASE("table: columns are aligned by characters and lines end without spaces") {
  Table table({{"NAME"}, {"SIZE", Align::right}, {"STATE"}});
  table.add_row({"é", "1", "ok"});
  table.add_row({"longer", "1000", ""});
  CHECK(table.row_count() == 2);
  CHECK(table.render(Painter(false)) ==
        "NAME    SIZE  STATE\n"
        "é          1  ok\n"
        "longer  1000\n");
}

TEST_CASE("table: cells cannot break out of their line, and colour does not shift columns") {
  Table table({{"A"}, {"B"}});
  table.add_row({"x\ny", Cell(std::string("\x1b[0m"), Colour::green)});
  table.add_row({Cell(std::string("z"), Colour::red), "w"});
  CHECK(table.render(Painter(false)) == "A     B\nx\\ny  \\x1b[0m\nz     w\n");
  CHECK(table.render(Painter(true)) ==
        "\x1b[1mA\x1b[0m     \x1b[1mB\x1b[0m\nx\\ny  \x1b[32m\\x1b[0m\x1b[0m\n"
        "\x1b[31mz\x1b[0m     w\n");
}

TEST_CASE("table: too wide a table narrows its widest column and shows the cut") {
  Table table({{"A"}, {"B"}});
  table.add_row({"short", "a very long cell that goes on"});
  CHECK(table.render(Painter(false), 20) == "A      B\nshort  a very long …\n");
  // Never below eight: better a long line than names of one letter.
  CHECK(table.render(Painter(false), 3) == "A      B\nshort  a very …\n");
}
