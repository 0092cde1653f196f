// Documents as trees: structure, positions, splitting, limits.
#include <catch2/catch.hpp>

#include "datum/yaml/scalar.hpp"
#include "datum/yaml/yaml.hpp"

using namespace datum::yaml;

static Node only_root(const Parsed& parsed) {
  for (const auto& diagnostic : parsed.diagnostics) UNSCOPED_INFO(to_string(diagnostic));
  REQUIRE(parsed.diagnostics.empty());
  REQUIRE(parsed.documents.size() == 1);
  return parsed.documents.front().root;
}

// "line:column message" of every fault, joined by newlines.
static std::string faults(std::string_view bytes, Options options = {}) {
  std::string text;
  for (const auto& fault : parse("f.yaml", bytes, options).diagnostics) {
    if (!text.empty()) text += '\n';
    text += std::to_string(fault.line) + ":" + std::to_string(fault.column) + " " + fault.message;
  }
  return text;
}

TEST_CASE("yaml: a document becomes a tree with the place of every key and value") {
  const auto parsed =
      parse("f.yaml", "type: File\ndesired:\n  path: \"/etc/é\" # x\n  list:\n  - a\n  - {k: v}\n");
  const auto root = only_root(parsed);
  REQUIRE(root.is_mapping());
  REQUIRE(root.entries().size() == 2);
  CHECK(root.find("type")->text() == "File");
  CHECK(root.find("type")->at() == Position{1, 7});
  const auto* desired = root.find("desired");
  REQUIRE(desired != nullptr);
  CHECK(desired->entries()[0].key.at() == Position{3, 3});
  CHECK(desired->find("path")->text() == "/etc/é");
  CHECK(desired->find("path")->style() == Style::double_quoted);
  const auto items = desired->find("list")->items();
  REQUIRE(items.size() == 2);
  CHECK(items[0].at() == Position{5, 5});
  CHECK(items[1].find("k")->at() == Position{6, 9});
  CHECK(root.find("absent") == nullptr);
  CHECK(root.find("type")->find("x") == nullptr);
}

TEST_CASE("yaml: columns count characters, not bytes") {
  const auto parsed = parse("f.yaml", "{\"äöü€😀\": x}\n");
  CHECK(only_root(parsed).entries()[0].value.at() == Position{1, 11});
}

TEST_CASE("yaml: every scalar keeps its style") {
  const auto parsed =
      parse("f.yaml",
            "a: plain\nb: 'single'\nc: \"double\\0\"\nd: |\n  literal\ne: >\n  folded\n  text\n");
  const auto root = only_root(parsed);
  CHECK(root.find("a")->style() == Style::plain);
  CHECK(root.find("b")->style() == Style::single_quoted);
  CHECK(root.find("c")->text() == std::string_view("double\0", 7));
  CHECK(root.find("d")->style() == Style::literal);
  CHECK(root.find("d")->text() == "literal\n");
  CHECK(root.find("e")->style() == Style::folded);
  CHECK(root.find("e")->text() == "folded text\n");
}

TEST_CASE("yaml: nodes stay valid when their Parsed is moved and the input is gone") {
  Parsed moved;
  {
    std::string bytes = "a: [one, two]\n---\nb: three\n";
    auto parsed = parse("f.yaml", bytes);
    bytes.assign(bytes.size(), 'x');
    moved = std::move(parsed);
  }
  REQUIRE(moved.documents.size() == 2);
  CHECK(moved.documents[0].root.find("a")->items()[1].text() == "two");
  CHECK(moved.documents[1].root.find("b")->text() == "three");
}

TEST_CASE("yaml: lines count through the file, not through the document") {
  const auto parsed = parse("f.yaml", "# head\n---\na: 1\n---\n\nb: 2\n--- {c: 3}\n---\n");
  REQUIRE(parsed.diagnostics.empty());
  REQUIRE(parsed.documents.size() == 3);
  CHECK(parsed.documents[0].at == Position{3, 1});
  CHECK(parsed.documents[1].root.find("b")->at() == Position{6, 4});
  CHECK(parsed.documents[2].root.find("c")->at() == Position{7, 9});
}

TEST_CASE("yaml: only --- in column 0, alone or before a space, divides a file") {
  CHECK(split("a: 1\n--- b\n").size() == 2);
  CHECK(split("a: 1\n---\tb\n").size() == 2);
  CHECK(split("a: |\n  x\n ---\n----\n---x\n").size() == 1);
  CHECK(split("a\n---").size() == 2);
  const std::string bytes = "# c\n---\na\n---\n---\nb\n---\n# end\n";
  std::string joined;
  for (const auto& slice : split(bytes)) joined += slice.bytes;
  CHECK(joined == bytes);
}

TEST_CASE("yaml: slices parsed one by one give what the whole file gives") {
  const std::string bytes = "# c\n---\na: 1\n---\nb: [\n---\n---\nc: é: x\n---\nd: 4\n---\n";
  const auto whole = parse("f.yaml", bytes);
  std::vector<std::string> lines;
  std::size_t documents = 0;
  for (const auto& slice : split(bytes)) {
    const auto part = parse_slices("f.yaml", std::span(&slice, 1));
    documents += part.documents.size();
    for (const auto& fault : part.diagnostics) lines.push_back(to_string(fault));
  }
  REQUIRE(lines.size() == whole.diagnostics.size());
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i] == to_string(whole.diagnostics[i]));
  CHECK(documents == whole.documents.size());
  CHECK(documents == 2);
}

TEST_CASE("yaml: an empty document is refused, a trailing --- is not") {
  CHECK(faults("a: 1\n---\n# nothing\n\n---\nb: 1\n") == "2:1 an empty document is not allowed");
  CHECK(faults("---\n---\na: 1\n") == "1:1 an empty document is not allowed");
  CHECK(faults("a: 1\n---\n") == "");
  CHECK(faults("a: 1\n---\n# end\n") == "");
  CHECK(faults("a: 1\n---\n---\n") == "2:1 an empty document is not allowed");
}

TEST_CASE("yaml: a file without a document is refused, unless its caller allows it") {
  for (const auto* bytes : {"", "\n", "# c\n", "---\n", "# c\n---\n", "---\n# c\n"}) {
    INFO(bytes);
    CHECK(faults(bytes) == "0:0 the file holds no document");
    CHECK(faults(bytes, {.allow_empty_file = true}) == "");
    CHECK(parse("f", bytes, {.allow_empty_file = true}).documents.empty());
  }
}

TEST_CASE("yaml: depth 32 is read and depth 33 is refused at its place") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "x" + std::string(depth, ']') + "\n";
  };
  CHECK(faults(nested(32)) == "");
  CHECK(faults(nested(33)) == "1:33 this is nested deeper than 32 levels");
  CHECK(faults(nested(100'000)) == "1:33 this is nested deeper than 32 levels");
}

TEST_CASE("yaml: 100,000 events are read and more are refused") {
  const auto list_of = [](std::size_t items) {
    std::string text;
    for (std::size_t i = 0; i < items; ++i) text += "- x\n";
    return text;
  };
  // Beside the items: start and end of the stream, of the document and of the list.
  CHECK(faults(list_of(kMaxEvents - 6)) == "");
  const auto parsed = parse("f.yaml", list_of(kMaxEvents - 5));
  REQUIRE(parsed.diagnostics.size() == 1);
  CHECK(parsed.documents.empty());
  CHECK(parsed.diagnostics[0].message.find("100000 parser events") != std::string::npos);
}

TEST_CASE("yaml: a document of more than 16 MiB is refused, and the next one is read") {
  std::string bytes = "a: |\n";
  while (bytes.size() <= kMaxDocumentBytes) bytes += "  " + std::string(998, 'x') + "\n";
  bytes += "---\nb: 1\n";
  const auto parsed = parse("f.yaml", bytes);
  REQUIRE(parsed.diagnostics.size() == 1);
  CHECK(parsed.diagnostics[0].message == "this document is larger than 16 MiB");
  CHECK(parsed.documents.size() == 1);
}

TEST_CASE("yaml: every faulty document of a file is reported and the sound ones are read") {
  const auto parsed =
      parse("f.yaml", "a: [1\n---\nb: 1\n---\nc: &x 1\nc: 2\n---\n\x01\n---\nd: 1\n---\ne: {\n");
  std::vector<std::uint32_t> lines;
  for (const auto& fault : parsed.diagnostics) lines.push_back(fault.line);
  CHECK(lines == std::vector<std::uint32_t>{1, 5, 6, 8, 12});
  REQUIRE(parsed.documents.size() == 2);
  CHECK(parsed.documents[0].root.find("b") != nullptr);
  CHECK(parsed.documents[1].root.find("d") != nullptr);
}

TEST_CASE("yaml: the list of faults has an end, and says what was not read") {
  std::string bytes;
  for (int i = 0; i < 3'000; ++i) bytes += "---\n";
  const auto parsed = parse("f.yaml", bytes + "a: 1\n");
  REQUIRE(parsed.diagnostics.size() <= kMaxDiagnostics);
  REQUIRE(parsed.diagnostics.size() > kMaxDiagnostics - 20);
  const auto unread = 3'000 - (parsed.diagnostics.size() - 1);
  CHECK(parsed.diagnostics.back().message ==
        "too many faults: " + std::to_string(unread) + " documents from here on were not read");
  CHECK(parsed.diagnostics.back().line == parsed.diagnostics.size());
  CHECK(parsed.documents.empty());
}

TEST_CASE("yaml: documents of many faults each stay below the limit of the list") {
  std::string document;
  for (int i = 0; i < 20; ++i) document += "k" + std::to_string(i) + ":\n";
  for (const int count : {99, 100, 101, 102}) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += "---\n" + document;
    const auto parsed = parse("f.yaml", bytes);
    CHECK(parsed.diagnostics.size() <= kMaxDiagnostics);
    const auto& last = parsed.diagnostics.back().message;
    CHECK((last.find("too many faults") == 0) == (count > 99));
  }
}

TEST_CASE("yaml: a fault is written with its place and its hint") {
  CHECK(to_string(Diagnostic{"a.yaml", 3, 4, "wrong", "right"}) == "a.yaml:3:4: wrong\n    right");
  CHECK(to_string(Diagnostic{"a.yaml", 0, 0, "wrong", ""}) == "a.yaml: wrong");
}
