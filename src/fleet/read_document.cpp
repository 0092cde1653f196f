// Reads Fleet, Host and Layer documents and the keys that all documents share.
#include <algorithm>
#include <array>

#include "datum/model/descriptor.hpp"
#include "reader.hpp"

namespace datum::fleet {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 4> kFleetKeys{"datum", "type", "name", "exclude"};
constexpr std::array<Names, 4> kHostKeys{"datum", "type", "name", "labels"};
constexpr std::array<Names, 5> kLayerKeys{"datum", "type", "name", "precedence", "match"};
constexpr std::array<Names, 5> kMatchKeys{"labels", "oneOf", "noneOf", "has", "missing"};

// Wide enough for any scheme, narrow enough that every reader of JSON keeps it exactly.
constexpr std::int64_t kMaxPrecedence = 1'000'000'000;

std::vector<Names> type_names() {
  std::vector<Names> names{"Fleet", "Host", "Layer"};
  for (const auto& type : model::all_types()) names.push_back(type.name);
  return names;
}

bool is_common(Names key) {
  return key == "datum" || key == "type" || key == "name";
}

void read_fleet(Reader& reader, const yaml::Document& document) {
  FleetDocument fleet{reader.place(document.root.at()), {}};
  for (const auto& [key, value] : document.root.entries()) {
    if (is_common(key.text())) continue;
    if (key.text() != "exclude") {
      reader.unknown_key(key, "Fleet", kFleetKeys);
      continue;
    }
    if (auto globs = reader.texts(value, "exclude", model::kMaxPath))
      fleet.exclude = std::move(*globs);
  }
  reader.out().fleets.push_back(std::move(fleet));
}

void read_labels(Reader& reader, const yaml::Node& node, Labels& labels) {
  const auto entries = reader.mapping(node, "labels");
  if (!entries) return;
  for (const auto& [key, value] : *entries) {
    const auto name = reader.label_name(key);
    const auto text = reader.text(value, key.text(), model::kMaxText);
    if (!name || !text) continue;
    if (name->starts_with("datum/")) {
      reader.fault(key.at(), "label " + std::string(*name) + " is reserved",
                   "labels below datum/ come from the machine's profile: give it another name, or "
                   "use --profile FILE");
      continue;
    }
    labels.emplace(*name, *text);
  }
}

void read_host(Reader& reader, Names name, const yaml::Document& document) {
  Host host{std::string(name), reader.place(document.root.at()), {}};
  for (const auto& [key, value] : document.root.entries()) {
    if (is_common(key.text())) continue;
    if (key.text() == "labels")
      read_labels(reader, value, host.labels);
    else
      reader.unknown_key(key, "Host", kHostKeys);
  }
  host.labels.emplace("datum/host", name);
  reader.out().hosts.push_back(std::move(host));
}

void read_label_lists(Reader& reader, const yaml::Node& node, Names form,
                      std::map<std::string, std::vector<std::string>>& out) {
  const auto entries = reader.mapping(node, form);
  if (!entries) return;
  for (const auto& [key, value] : *entries) {
    const auto name = reader.label_name(key);
    auto values = reader.texts(value, key.text(), model::kMaxText);
    if (!name || !values) continue;
    if (values->empty()) {
      reader.fault(value.at(), std::string(form) + " of " + std::string(*name) + " lists no value",
                   "name at least one value, or leave the label out");
      continue;
    }
    out.emplace(*name, std::move(*values));
  }
}

void read_label_names(Reader& reader, const yaml::Node& node, Names form,
                      std::vector<std::string>& out) {
  const auto items = reader.list(node, form);
  if (!items) return;
  for (const auto& item : *items)
    if (const auto name = reader.label_name(item)) out.emplace_back(*name);
}

void read_equal_labels(Reader& reader, const yaml::Node& node,
                       std::map<std::string, std::string>& out) {
  const auto entries = reader.mapping(node, "labels");
  if (!entries) return;
  for (const auto& [key, value] : *entries) {
    const auto name = reader.label_name(key);
    const auto text = reader.text(value, key.text(), model::kMaxText);
    if (name && text) out.emplace(*name, *text);
  }
}

void read_match(Reader& reader, const yaml::Node& node, Match& match) {
  const auto entries = reader.mapping(node, "match");
  if (!entries) return;
  for (const auto& [key, value] : *entries) {
    const auto form = key.text();
    if (form == "labels")
      read_equal_labels(reader, value, match.labels);
    else if (form == "oneOf")
      read_label_lists(reader, value, form, match.one_of);
    else if (form == "noneOf")
      read_label_lists(reader, value, form, match.none_of);
    else if (form == "has" || form == "missing")
      read_label_names(reader, value, form, form == "has" ? match.has : match.missing);
    else
      reader.unknown_key(key, "match", kMatchKeys);
  }
}

void read_layer(Reader& reader, Names name, const yaml::Document& document) {
  Layer layer;
  layer.name = name;
  layer.at = reader.place(document.root.at());
  for (const auto& [key, value] : document.root.entries()) {
    if (is_common(key.text())) continue;
    if (key.text() == "precedence") {
      if (const auto number = reader.integer(value, "precedence", -kMaxPrecedence, kMaxPrecedence))
        layer.precedence = *number;
    } else if (key.text() == "match") {
      read_match(reader, value, layer.match);
    } else {
      reader.unknown_key(key, "Layer", kLayerKeys);
    }
  }
  reader.out().layers.push_back(std::move(layer));
}

// The text of a key that every document must have.
std::optional<Names> required_text(Reader& reader, const yaml::Document& document, Names key,
                                   Names hint) {
  const auto* node = document.root.find(key);
  if (node) return reader.text(*node, key, model::kMaxText);
  reader.fault(document.root.at(), "the document has no key " + std::string(key),
               "add a line " + std::string(hint));
  return std::nullopt;
}

bool check_version(Reader& reader, const yaml::Document& document) {
  const auto version = required_text(reader, document, "datum", "datum: v1alpha1");
  if (!version) return false;
  if (*version == kVersion) return true;
  reader.fault(document.root.find("datum")->at(),
               "unknown version " + yaml::quoted(*version) + " of the document model",
               "this program reads datum: " + std::string(kVersion));
  return false;
}

void read_document(Reader& reader, const yaml::Document& document) {
  if (!document.root.is_mapping())
    return reader.fault(document.root.at(),
                        "a document is a mapping of keys to values, this is a " +
                            std::string(to_string(document.root.kind())),
                        "begin it with datum: v1alpha1, type: and name:");
  // Of an unknown version or type nothing else can be judged.
  if (!check_version(reader, document)) return;
  const auto type = required_text(reader, document, "type", "type: File, or another type");
  const auto* name_node = document.root.find("name");
  if (!name_node)
    reader.fault(document.root.at(), "the document has no key name", "add a line name: NAME");
  const auto name = name_node ? reader.name(*name_node) : std::nullopt;
  if (!type || !name) return;
  if (*type == "Fleet") return read_fleet(reader, document);
  if (*type == "Host") return read_host(reader, *name, document);
  if (*type == "Layer") return read_layer(reader, *name, document);
  if (const auto resource = model::find_type(*type))
    return read_resource(reader, *resource, *name, document);
  const auto names = type_names();
  const auto near = nearest(*type, names);
  reader.fault(document.root.find("type")->at(), "unknown type " + yaml::quoted(*type),
               (near ? "did you mean " + std::string(*near) + "? " : std::string()) + "types are " +
                   join_words(names));
}

}  // namespace

void read_documents(const yaml::Parsed& parsed, FileId file, Read& out) {
  Reader reader(file, out);
  for (const auto& fault : parsed.diagnostics)
    reader.fault({fault.line, fault.column}, fault.message, fault.hint);
  for (const auto& document : parsed.documents) read_document(reader, document);
}

}  // namespace datum::fleet
