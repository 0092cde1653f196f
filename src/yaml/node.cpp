// Accessors of Node and the texts of the small types.
#include <array>

#include "datum/base/assert.hpp"
#include "datum/yaml/yaml.hpp"

namespace datum::yaml {

static std::uint32_t checked_size(std::size_t size) {
  DATUM_ASSERT(size <= kMaxDocumentBytes);
  return static_cast<std::uint32_t>(size);
}

Node::Node(std::string_view text, Style style, Position at)
    : data_(text.data()), size_(checked_size(text.size())), at_(at), style_(style) {}
Node::Node(std::span<const Node> items, Position at)
    : data_(items.data()), size_(checked_size(items.size())), at_(at), kind_(Kind::sequence) {}
Node::Node(std::span<const Entry> entries, Position at)
    : data_(entries.data()), size_(checked_size(entries.size())), at_(at), kind_(Kind::mapping) {}

std::string_view Node::text() const {
  if (kind_ != Kind::scalar) return {};
  return {static_cast<const char*>(data_), size_};
}
std::span<const Node> Node::items() const {
  if (kind_ != Kind::sequence) return {};
  return {static_cast<const Node*>(data_), size_};
}
std::span<const Entry> Node::entries() const {
  if (kind_ != Kind::mapping) return {};
  return {static_cast<const Entry*>(data_), size_};
}
const Node* Node::find(std::string_view key) const {
  for (const auto& entry : entries())
    if (entry.key.text() == key) return &entry.value;
  return nullptr;
}

std::string_view to_string(Kind kind) {
  static constexpr std::array<std::string_view, 3> kNames = {"scalar", "list", "mapping"};
  const auto index = static_cast<std::size_t>(kind);
  DATUM_ASSERT(index < kNames.size());
  return kNames[index];
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line != 0)
    text += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  if (!text.empty()) text += ": ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty()) text += "\n    " + diagnostic.hint;
  return text;
}

}  // namespace datum::yaml
