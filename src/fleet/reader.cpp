// See the header. Every message says what stands there and what was expected; every hint is
// something to write instead.
#include "reader.hpp"

#include <algorithm>
#include <numeric>

#include "datum/model/substitution.hpp"

namespace datum::fleet {
namespace {

// Insertions, deletions, replacements and exchanges of neighbours that lead from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto cost = a[i - 1] == b[j - 1] ? 0U : 1U;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

// "path", or for a long text its beginning: a message is one line.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  if (text.size() <= kShown) return yaml::quoted(text);
  return yaml::quoted(text.substr(0, kShown)) + "…";
}

std::string number_range(std::int64_t low, std::int64_t high) {
  return "from " + std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 40;  // no key is longer; keeps the table small
  if (word.size() > kLongest) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = std::min<std::size_t>(2, word.size() / 2) + 1;
  for (const auto candidate : known) {
    const auto distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string join_words(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text.append(i + 1 == words.size() ? " and " : ", ");
    text.append(words[i]);
  }
  return text;
}

void Reader::fault(yaml::Position at, std::string message, std::string hint) {
  out_.faults.push_back({place(at), std::move(message), std::move(hint), false});
}

std::optional<std::string_view> Reader::any_text(const yaml::Node& node, std::string_view key) {
  if (!node.is_scalar()) {
    fault(node.at(), std::string(key) + " is a " + std::string(to_string(node.kind())) +
                         ", text was expected");
    return std::nullopt;
  }
  const auto type = yaml::classify(node);
  if (type != yaml::ScalarType::string) {
    fault(node.at(),
          std::string(key) + ": " + std::string(node.text()) + " reads as " +
              std::string(to_string(type)) + ", text was expected",
          "write it in quotes: " + std::string(key) + ": " + yaml::quoted(node.text()));
    return std::nullopt;
  }
  return node.text();
}

std::optional<std::string_view> Reader::text(const yaml::Node& node, std::string_view key,
                                             std::size_t max_length) {
  const auto value = any_text(node, key);
  if (!value) return std::nullopt;
  if (value->size() > max_length) {
    fault(node.at(), std::string(key) + " has " + std::to_string(value->size()) +
                         " bytes, at most " + std::to_string(max_length) + " are allowed");
    return std::nullopt;
  }
  if (const auto wrong = yaml::find_single_line_fault(*value)) {
    fault(node.at(), std::string(key) + " " + *wrong + ", one line of plain text was expected");
    return std::nullopt;
  }
  return value;
}

std::optional<std::string_view> Reader::name(const yaml::Node& node) {
  const auto value = text(node, "name", model::kMaxName);
  if (!value) return std::nullopt;
  if (model::is_document_name(*value)) return value;
  fault(node.at(), "name " + shown(*value) + " is not a name",
        "a name has letters, digits and . - _ + @ : only");
  return std::nullopt;
}

std::optional<std::int64_t> Reader::integer(const yaml::Node& node, std::string_view key,
                                            std::int64_t low, std::int64_t high) {
  const auto value = node.is_scalar() ? yaml::find_integer(node) : std::nullopt;
  if (value && *value >= low && *value <= high) return value;
  const auto found = node.is_scalar() ? shown(node.text()) : std::string(to_string(node.kind()));
  fault(node.at(), std::string(key) + " is " + found + ", a whole number was expected",
        "write a plain number " + number_range(low, high) + ", without quotes");
  return std::nullopt;
}

std::optional<bool> Reader::boolean(const yaml::Node& node, std::string_view key) {
  if (const auto value = node.is_scalar() ? yaml::find_boolean(node) : std::nullopt) return value;
  const auto found = node.is_scalar() ? shown(node.text()) : std::string(to_string(node.kind()));
  fault(node.at(), std::string(key) + " is " + found + ", true or false was expected",
        "write " + std::string(key) + ": true or " + std::string(key) + ": false, without quotes");
  return std::nullopt;
}

std::optional<std::span<const yaml::Node>> Reader::list(const yaml::Node& node,
                                                        std::string_view key) {
  if (!node.is_sequence()) {
    const auto sample = node.is_scalar() ? yaml::quoted(node.text()) : std::string("\"…\"");
    fault(
        node.at(),
        std::string(key) + " is a " + std::string(to_string(node.kind())) + ", a list was expected",
        "write " + std::string(key) + ": [" + sample + "]");
    return std::nullopt;
  }
  if (node.items().size() <= kMaxItems) return node.items();
  fault(node.at(), std::string(key) + " has " + std::to_string(node.items().size()) +
                       " items, at most " + std::to_string(kMaxItems) + " are allowed");
  return std::nullopt;
}

std::optional<std::span<const yaml::Entry>> Reader::mapping(const yaml::Node& node,
                                                            std::string_view key) {
  if (node.is_mapping()) return node.entries();
  fault(node.at(),
        std::string(key) + " is a " + std::string(to_string(node.kind())) +
            ", a mapping of keys to values was expected",
        "write the keys below " + std::string(key) + ":, indented by two spaces");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Reader::texts(const yaml::Node& node, std::string_view key,
                                                      std::size_t max_length) {
  const auto items = list(node, key);
  if (!items) return std::nullopt;
  std::vector<std::string> values;
  values.reserve(items->size());
  bool sound = true;
  for (const auto& item : *items) {
    const auto value = text(item, key, max_length);
    if (value)
      values.emplace_back(*value);
    else
      sound = false;
  }
  if (!sound) return std::nullopt;
  return values;
}

std::optional<std::string_view> Reader::label_name(const yaml::Node& node) {
  const auto value = text(node, "a label's name", model::kMaxName);
  if (!value) return std::nullopt;
  if (model::is_label_name(*value)) return value;
  fault(node.at(), shown(*value) + " is not a label's name",
        "a label's name has letters, digits and . - _ / only");
  return std::nullopt;
}

void Reader::unknown_key(const yaml::Node& key, std::string_view where,
                         std::span<const std::string_view> known) {
  const auto near = nearest(key.text(), known);
  auto hint = near ? "did you mean " + std::string(*near) + "? " : std::string();
  hint.append("keys here are ").append(join_words(known));
  fault(key.at(), "unknown key " + shown(key.text()) + " in " + std::string(where),
        std::move(hint));
}

}  // namespace datum::fleet
