// Long literal blocks do not go through libyaml where a file is sound: their text, and everything
// round them, must be what it would have been.
#include <catch2/catch.hpp>

#include "datum/yaml/yaml.hpp"

using namespace datum::yaml;

namespace {

// Kind, style, place and text of every node, in order.
void describe(const Node& node, std::string& out) {
  out += std::string(to_string(node.kind())) + " " +
         std::to_string(static_cast<int>(node.style())) + " " + std::to_string(node.at().line) +
         ":" + std::to_string(node.at().column) + " <" + std::string(node.text()) + ">\n";
  for (const auto& item : node.items()) describe(item, out);
  for (const auto& entry : node.entries()) {
    describe(entry.key, out);
    describe(entry.value, out);
  }
}

std::string describe(const Parsed& parsed) {
  std::string out;
  for (const auto& document : parsed.documents) describe(document.root, out);
  for (const auto& fault : parsed.diagnostics) out += to_string(fault) + "\n";
  return out;
}

// Longer than what is left to libyaml.
std::string lines(const std::string& indent, int count = 4) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += indent + "line " + std::to_string(i) + " of a text that is long enough\n";
  return text;
}

}  // namespace

TEST_CASE("yaml: a long literal block has its text, and what follows it keeps its place") {
  const auto sound = parse("f.yaml", "name: a\ndesired:\n  content: |\n" + lines("    ") +
                                         "\n      deeper\n    \n    last\n\n  mode: \"0644\"\n");
  for (const auto& fault : sound.diagnostics) UNSCOPED_INFO(to_string(fault));
  REQUIRE(sound.diagnostics.empty());
  const auto* desired = sound.documents.front().root.find("desired");
  REQUIRE(desired != nullptr);
  CHECK(desired->find("content")->text() == lines("") + "\n  deeper\n\nlast\n");
  CHECK(desired->find("content")->style() == Style::literal);
  CHECK(desired->find("content")->at() == Position{3, 12});
  CHECK(desired->find("mode")->at() == Position{13, 9});
}

TEST_CASE("yaml: a text with long blocks reads the same with and without the short way") {
  const auto block = "content: |\n" + lines("  ");
  const std::vector<std::string> texts{
      block,
      block + block,
      "---\n" + block + "---\n" + block + "# end\n",
      "# before\n---\n" + block + "---\n# margin\n",
      block + "other: 1\n",
      block + "  \n\n\nother: 1\n",
      // Blank lines with more spaces than the block, in it and behind it.
      block + "      \n  more\n",
      block + "      \n",
      // No newline at the end; a line without it alone.
      block + "  last",
      block + "  last\n  ",
      // Less indentation in the middle, with and without a sense.
      "a:\n  content: |\n" + lines("    ") + "   odd: 1\n",
      "a:\n  content: |\n" + lines("    ") + "  b: 1\n",
      "a:\n  content: |\n" + lines("    ") + " b: 1\n",
      "content: |\n" + lines("    ") + lines("  "),
      // Tabs.
      "content: |\n" + lines("\t"),
      "content: |\n" + lines("  \t"),
      block + lines("  \t") + "other: 1\n",
      block + "\t\n",
      block + " \t\n",
      // What looks like a block and is part of another text.
      "a: \"x\n  content: |\n" + lines("    ") + "  \"\n",
      "a: 'x\n  content: |\n" + lines("    ") + "  '\n",
      "a: >\n  b\n\n  content: |\n" + lines("    "),
      "a: |\n  content: |\n" + lines("    ") + "b: 1\n",
      "a: |2\n    content: |\n" + lines("      ") + "b: 1\n",
      "a: x\n  content: |\n" + lines("    "),
      "{a: 1,\ncontent: |\n" + lines("  ") + "}\n",
      "# content: |\n" + lines("  "),
      // Other headers, keys and places.
      "content: |-\n" + lines("  "),
      "content: |+\n" + lines("  ") + "\n\n",
      "content: | # why\n" + lines("  "),
      "- content: |\n" + lines("    ") + "  b: 1\n- c: |\n" + lines("    "),
      "- a: 1\n  content: |\n" + lines("    ") + "- b\n",
      "\"content\": |\n" + lines("  "),
      "? a\n: |\n" + lines("  "),
      "content: |\n\n" + lines("  "),
      "content: |\n     \n" + lines("  "),
      "content: |\n" + lines(""),
      // Faults before and behind, which must keep their lines.
      block + "content: 2\n",
      block + "*alias\n",
      "bad: [1\n" + block,
      block + "...\n" + block,
      block + "...\n%YAML 1.2\n---\n" + block,
      block + "a: 1\n---\n---\n" + block,
      block + "---\nb: {c: 1\n---\n" + block,
      block + "null:\n",
      "content: |\n  caf\xc3\xa9 \xe2\x82\xac\n" + lines("  ") + "b: \xc3\xa9\n",
      "content: |\n" + lines("  ") + "  \xc3\x28\n",
      ".\n" + block,
      "content: |\n  .\n" + block.substr(0, 9) + "\n",
  };
  for (const auto& text : texts) {
    INFO(text);
    const auto quick = describe(parse("f.yaml", text));
    CHECK(quick == describe(parse("f.yaml", text, {.one_by_one = true})));
    CHECK_FALSE(quick.empty());
  }
}

TEST_CASE("yaml: any division of a file with long blocks gives the same documents") {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += "---\nname: f" + std::to_string(i) + "\ncontent: |\n" + lines("  ", 1 + i % 5) +
            (i % 3 == 0 ? "b: 1\n" : "");
  const auto slices = split(text);
  REQUIRE(slices.size() == 20);
  const auto whole = describe(parse_slices("f.yaml", slices));
  for (const std::size_t run : {1U, 3U, 7U, 19U}) {
    std::string parts;
    for (std::size_t at = 0; at < slices.size(); at += run) {
      const auto count = std::min(run, slices.size() - at);
      parts += describe(parse_slices("f.yaml", std::span(slices).subspan(at, count)));
    }
    CHECK(parts == whole);
  }
}
