// Any bytes → the YAML reader: it never crashes, and what it returns obeys its own contract. The
// entry point is libFuzzer's; the test of the same folder replays the corpus through it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "datum/base/assert.hpp"
#include "datum/yaml/scalar.hpp"
#include "datum/yaml/yaml.hpp"

namespace {
using namespace datum::yaml;

void check_place(Position at, std::uint32_t lines) {
  DATUM_ASSERT(at.line >= 1 && at.line <= lines);
  DATUM_ASSERT(at.column >= 1);
}

void check_node(const Node& node, std::uint32_t depth, std::uint32_t lines) {
  DATUM_ASSERT(depth <= kMaxDepth);
  check_place(node.at(), lines);
  if (node.is_scalar()) {
    const auto type = classify(node);
    DATUM_ASSERT(type != ScalarType::null || is_null(node));
    DATUM_ASSERT(!find_boolean(node) || type == ScalarType::boolean);
    DATUM_ASSERT(!find_integer(node) || type == ScalarType::integer);
    DATUM_ASSERT(node.style() == Style::plain || type == ScalarType::string);
    if (const auto fault = find_single_line_fault(node.text()))
      DATUM_ASSERT(*fault != "not valid UTF-8");
  }
  for (const auto& item : node.items()) check_node(item, depth + 1, lines);
  for (const auto& entry : node.entries()) {
    DATUM_ASSERT(entry.key.is_scalar());
    DATUM_ASSERT(node.find(entry.key.text()) == &entry.value);  // so no key stands twice
    check_node(entry.key, depth + 1, lines);
    check_node(entry.value, depth + 1, lines);
  }
}

bool is_same(const Node& a, const Node& b) {
  if (a.kind() != b.kind() || a.style() != b.style() || a.at() != b.at() || a.text() != b.text() ||
      a.items().size() != b.items().size() || a.entries().size() != b.entries().size())
    return false;
  for (std::size_t i = 0; i < a.items().size(); ++i)
    if (!is_same(a.items()[i], b.items()[i])) return false;
  for (std::size_t i = 0; i < a.entries().size(); ++i)
    if (!is_same(a.entries()[i].key, b.entries()[i].key) ||
        !is_same(a.entries()[i].value, b.entries()[i].value))
      return false;
  return true;
}

// The short way and the long one give the same, down to the places and the faults.
void check_both_ways(std::string_view bytes) {
  const auto quick = parse("x", bytes);
  const auto slow = parse("x", bytes, {.one_by_one = true});
  DATUM_ASSERT(quick.documents.size() == slow.documents.size());
  for (std::size_t i = 0; i < quick.documents.size(); ++i) {
    DATUM_ASSERT(quick.documents[i].at == slow.documents[i].at);
    DATUM_ASSERT(is_same(quick.documents[i].root, slow.documents[i].root));
  }
  DATUM_ASSERT(quick.diagnostics.size() == slow.diagnostics.size());
  for (std::size_t i = 0; i < quick.diagnostics.size(); ++i)
    DATUM_ASSERT(to_string(quick.diagnostics[i]) == to_string(slow.diagnostics[i]));
}

void check_quoting(std::string_view bytes) {
  const auto back = parse("x", quoted(bytes));
  DATUM_ASSERT(back.documents.size() == 1);
  const auto text = back.documents.front().root.text();
  DATUM_ASSERT(text == bytes || text.find("\xEF\xBF\xBD") != std::string_view::npos);
}

void check_options(std::string_view bytes, std::uint32_t lines, Options options) {
  const auto parsed = parse("x", bytes, options);
  for (const auto& document : parsed.documents) check_node(document.root, 0, lines);
  DATUM_ASSERT(parsed.diagnostics.size() <= kMaxDiagnostics);
  for (const auto& fault : parsed.diagnostics) {
    DATUM_ASSERT(!fault.message.empty() && fault.line <= lines + 1);
    DATUM_ASSERT(fault.message.find('\n') == std::string::npos);
    DATUM_ASSERT(fault.hint.find('\n') == std::string::npos);
  }
  DATUM_ASSERT(options.allow_empty_file || !parsed.documents.empty() ||
               !parsed.diagnostics.empty());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint32_t lines = 1;
  for (const char c : bytes) lines += c == '\n' ? 1 : 0;

  std::size_t covered = 0;
  for (const auto& slice : split(bytes)) {
    DATUM_ASSERT(slice.bytes.data() == bytes.data() + covered || slice.bytes.empty());
    covered += slice.bytes.size();
  }
  DATUM_ASSERT(covered == size);
  check_options(bytes, lines, {});
  check_options(bytes, lines, {.allow_nulls = true, .allow_empty_file = true});
  check_both_ways(bytes);
  const auto fault = find_syntax_fault(bytes);
  DATUM_ASSERT(!fault || !fault->message.empty());
  if (size <= 4096) check_quoting(bytes);
  return 0;
}
