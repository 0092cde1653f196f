// What no document may hold, and the words that its writer gets.
#include <catch2/catch.hpp>

#include "datum/yaml/yaml.hpp"

using namespace datum::yaml;

// "line:column message | hint" of every fault, joined by newlines.
static std::string faults(std::string_view bytes, Options options = {}) {
  std::string text;
  for (const auto& fault : parse("f.yaml", bytes, options).diagnostics) {
    if (!text.empty()) text += '\n';
    text += std::to_string(fault.line) + ":" + std::to_string(fault.column) + " " + fault.message;
    if (!fault.hint.empty()) text += " | " + fault.hint;
  }
  return text;
}

TEST_CASE("yaml: a duplicate key is refused with both places [Y01]") {
  CHECK(faults("a: 1\nb: 2\na: 3\n") ==
        "3:1 the key \"a\" stands twice: first at line 1, column 1");
  CHECK(faults("x: {k: 1, \"k\": 2}\n") ==
        "1:11 the key \"k\" stands twice: first at line 1, column 5");
  std::string large;
  for (int i = 0; i < 1'000; ++i) large += "k" + std::to_string(i) + ": x\n";
  CHECK(faults(large) == "");
  CHECK(faults(large + "k500: x\n") ==
        "1001:1 the key \"k500\" stands twice: first at line 501, column 1");
}

TEST_CASE("yaml: anchors, aliases and tags are refused where they stand") {
  CHECK(faults("a: &x 1\nb: 2\n") ==
        "1:4 anchors are not allowed; a value that begins with & must be quoted");
  CHECK(faults("a: [1, *x]\n") ==
        "1:8 aliases are not allowed; a value that begins with * must be quoted | a: [1, \"*x\"]");
  CHECK(faults("a: !!str 1\n") ==
        "1:4 tags are not allowed; a value that begins with ! must be quoted");
  CHECK(faults("a: !x {}\n").find("tags are not allowed") != std::string::npos);
  CHECK(faults("a: ! x\n").find("tags are not allowed") != std::string::npos);
  CHECK(faults("exclude:\n- *.yaml\n").find("a value that begins with * must be quoted") !=
        std::string::npos);
}

TEST_CASE("yaml: directives are refused, and so is what follows the end of a document") {
  CHECK(faults("%YAML 1.2\n---\na: 1\n") == "1:1 directives are not allowed");
  CHECK(faults("%TAG ! x\n---\na: 1\n") == "1:1 directives are not allowed");
  CHECK(faults("a: 1\n...\n") == "");
  CHECK(faults("a: 1\n...\nb: 2\n") != "");
  CHECK(faults("a: 1\n%YAML 1.2\n---\nb: 1\n") != "");
}

TEST_CASE("yaml: null is refused in every form, unless its caller allows it") {
  const std::string hint = " | give it one, leave the key out, or write \"\" for an empty text";
  CHECK(faults("a:\nb: 1\n") == "1:1 \"a\" has no value" + hint);
  CHECK(faults("a: ~\n") == "1:1 \"a\" has no value" + hint);
  CHECK(faults("a: null\n") == "1:1 \"a\" has no value" + hint);
  CHECK(faults("a:\n- x\n-\n").find("3:2 a value is missing") == 0);
  CHECK(faults("--- ~\n").find("1:5 a value is missing") == 0);
  CHECK(faults("a: \"\"\nb: 'null'\nc: \"~\"\n") == "");
  CHECK(faults("a:\nb: ~\n", {.allow_nulls = true}) == "");
}

TEST_CASE("yaml: a key must be there and be plain text") {
  CHECK(faults(": x\n") == "1:1 a key is missing before ':'");
  CHECK(faults("? [a]\n: x\n") == "1:3 a key must be plain text, not a list");
  CHECK(faults("{{a: b}: c}\n").find("must be") != std::string::npos);
}

TEST_CASE("yaml: an unquoted value that begins with {{ is shown in quotes") {
  const std::string message = " a value that begins with {{ must be quoted | ";
  CHECK(faults("a: 1\npath: {{ labels.x }}\n") == "2:7" + message + "path: \"{{ labels.x }}\"");
  CHECK(faults("  path: {{ labels.x }}/conf # why\n") ==
        "1:9" + message + "path: \"{{ labels.x }}/conf\" # why");
  CHECK(faults("a: {{ x }}: {{ y }}\n").find("1:4" + message) == 0);
  CHECK(faults("- {{host}}\n") == "1:3" + message + "- \"{{host}}\"");
  CHECK(faults("a: [x, {{ host }}, y]\n") == "1:8" + message + "a: [x, \"{{ host }}\", y]");
  CHECK(faults("a: {{ say \"hi\" }}\n") == "1:4" + message + "a: '{{ say \"hi\" }}'");
  CHECK(faults("é: {{ host }}\n").find("1:4" + message) == 0);
  CHECK(faults("a: x {{ host }}\nb: \"{{ host }}\"\nc: '{{ host }}'\n") == "");
}

TEST_CASE("yaml: an unquoted reference in a flow list is shown in quotes") {
  const std::string message = " a reference inside [...] must be quoted | ";
  CHECK(faults("requires: [File[a]]\n") == "1:16" + message + "requires: [\"File[a]\"]");
  CHECK(faults("requires: [\"File[x]\", File[a], Package[b.c]] # y\n") ==
        "1:27" + message + "requires: [\"File[x]\", \"File[a]\", \"Package[b.c]\"] # y");
  CHECK(faults("requires: [\n  File[a],\n]\n") == "2:7" + message + "\"File[a]\",");
  CHECK(faults("requires: [\"File[a]\"]\n") == "");
  CHECK(faults("requires:\n- File[a]\n") == "");
}

TEST_CASE("yaml: common slips get words of their own") {
  CHECK(faults("a:\n\tb: 1\n") == "2:1 a tab is not allowed here | indent with spaces");
  CHECK(faults("a: @x\n") == "1:4 a value that begins with @ must be quoted | a: \"@x\"");
  CHECK(faults("a: `x` # y\n") == "1:4 a value that begins with ` must be quoted | a: \"`x`\" # y");
  CHECK(faults("a: %x\n") == "1:4 a value that begins with % must be quoted | a: \"%x\"");
  CHECK(faults("message: note: this\n").find("| message: \"note: this\"") != std::string::npos);
  CHECK(faults("a: [1, 2\nb: 3\n").find("1:4") == std::string::npos);
  CHECK(faults("a: [1, 2\n") ==
        "1:4 the list [ that begins here is never closed | close it with ]");
  CHECK(faults("a: {b: 2\n") ==
        "1:4 the mapping { that begins here is never closed | close it with }");
  CHECK(faults("a: 'x\nb: 1\n") == "1:4 the quote that begins here is never closed");
  CHECK(faults("a: \"x\nb: 1\n---\nc: 1\n") == "1:4 the quote that begins here is never closed");
  CHECK(faults("a: \"\\q\"\n").find("unknown escape") != std::string::npos);
  CHECK(faults("a: 1\n b: 2\n").find("2:") == 0);
  CHECK(faults("a: \"\\ud800\"\n").find("no Unicode character") != std::string::npos);
}

TEST_CASE("yaml: bytes that no document may hold are refused in words") {
  CHECK(faults("a: 1\r\nb: 2\r\n").find("1:5 a carriage return is not allowed | ") == 0);
  CHECK(faults("\xEF\xBB\xBF"
               "a: 1\n")
            .find("1:1 a byte-order mark (U+FEFF) is not allowed") == 0);
  CHECK(faults("a: é\xEF\xBB\xBF\n").find("1:5 a byte-order mark") == 0);
  CHECK(faults("a: \xC2\x85\n").find("1:4 the line separator U+0085 is not allowed") == 0);
  CHECK(faults("a: \xE2\x80\xA8\n").find("the line separator U+2028") != std::string::npos);
  CHECK(faults("a: \xE2\x80\xA9\n").find("the line separator U+2029") != std::string::npos);
  CHECK(faults("a: \x07\n") == "1:4 the control character U+0007 is not allowed");
  CHECK(faults("a: \x7F\n") == "1:4 the control character U+007F is not allowed");
  CHECK(faults("a: \xC2\x9B\n") == "1:4 the control character U+009B is not allowed");
  CHECK(faults(std::string_view("a: \0\n", 5)).find("U+0000") != std::string::npos);
  CHECK(faults("a: \xEF\xBF\xBF\n").find("U+FFFF") != std::string::npos);
  CHECK(faults("# \xFF\n---\na: 1\n").find("1:3 the byte 0xFF is not valid UTF-8") == 0);
  CHECK(faults("a: 1\n---\n# \x01\n").find("3:3 the control character") == 0);
  CHECK(faults("a: \"\\x07\\0\"\n") == "");
}

TEST_CASE("yaml: overlong, surrogate, out-of-range and cut-off UTF-8 is refused") {
  for (const auto* bytes :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\x80", "\xE2\x82", "\xC3"}) {
    const auto text = faults(std::string("a: ") + bytes + "\n");
    INFO(text);
    CHECK(text.find("1:4 the byte 0x") == 0);
  }
  CHECK(faults("a: \xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBD\xF0\x90\x80\x80\n") == "");
}

TEST_CASE("yaml: one document's faults do not push the others out of the list") {
  std::string bytes;
  for (int i = 0; i < 5'000; ++i) bytes += "k" + std::to_string(i) + ":\n";
  const auto parsed = parse("f.yaml", bytes + "---\na: [\n");
  REQUIRE(parsed.diagnostics.size() == 11);
  CHECK(parsed.diagnostics.back().line == 5'002);
}

TEST_CASE("yaml: files of other programs are checked for their syntax alone") {
  for (const auto* bytes : {"", "a: &x 1\nb: *x\nc: !!str d\n<<: *x\n",
                            "%YAML 1.1\n---\na:\n...\n---\n---\nb: ~\n", "a: 1\r\nb: 2\r\n",
                            "\xEF\xBB\xBF"
                            "a: 1\n",
                            "a: 1\na: 2\n", "{a: [b, {c: d}]}\n"}) {
    INFO(bytes);
    CHECK_FALSE(find_syntax_fault(bytes));
  }
  const auto fault = find_syntax_fault("a: 1\nb: [x\nc: 2\n");
  REQUIRE(fault);
  CHECK(fault->line > 1);
  CHECK(find_syntax_fault("a:\n\tb: 1\n")->message == "a tab is not allowed here");
  CHECK(find_syntax_fault("a: \xFF\n")->message.find("byte 4") == 0);
  CHECK(find_syntax_fault("a: 1\n---\nb: 'x\n")->line == 3);
  CHECK_FALSE(find_syntax_fault(std::string(256, '[') + std::string(256, ']')));
  CHECK(find_syntax_fault(std::string(100'000, '['))->message.find("256 levels") !=
        std::string::npos);
}
