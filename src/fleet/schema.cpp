// See the header. One definition for each document type; fields come from the descriptor table.
#include "datum/fleet/schema.hpp"

#include <string_view>

#include "datum/model/descriptor.hpp"
#include "json_writer.hpp"
#include "reader.hpp"

namespace datum::fleet {
namespace {

using model::FieldKind;

constexpr std::string_view kNamePattern = "^[A-Za-z0-9._+@:-]{1,256}$";
constexpr std::string_view kLabelPattern = "^[A-Za-z0-9._/-]{1,256}$";
constexpr std::string_view kReferencePattern =
    "^(File|Directory|Symlink|Package|Repository|Service|User|Group|Sysctl)"
    "\\[[A-Za-z0-9._+@:-]{1,256}\\]$";
// Text in which a label or the host stands is judged after substitution only.
constexpr std::string_view kOpenPattern = "\\{\\{";

void write_string(JsonWriter& json, std::string_view pattern, std::int64_t max_length) {
  json.key("type").text("string");
  if (!pattern.empty()) json.key("pattern").text(pattern);
  if (max_length > 0) json.key("maxLength").number(max_length);
}

void write_described(JsonWriter& json, std::string_view key, std::string_view description) {
  json.key(key).begin_object().key("description").text(description);
}

void write_string_list(JsonWriter& json, std::string_view key, std::string_view description,
                       std::string_view pattern, std::int64_t max_length) {
  write_described(json, key, description);
  json.key("type").text("array").key("items").begin_object();
  write_string(json, pattern, max_length);
  json.end_object().end_object();
}

// A mapping from label names to values of the form that `value` writes.
template <class Value>
void write_label_map(JsonWriter& json, std::string_view key, std::string_view description,
                     Value value) {
  write_described(json, key, description);
  json.key("type").text("object");
  json.key("propertyNames").begin_object().key("pattern").text(kLabelPattern).end_object();
  json.key("additionalProperties").begin_object();
  value();
  json.end_object().end_object();
}

void write_closed_text(JsonWriter& json, std::span<const std::string_view> choices,
                       std::string_view pattern) {
  json.key("type").text("string").key("anyOf").begin_array();
  json.begin_object();
  if (!choices.empty()) {
    json.key("enum").begin_array();
    for (const auto each : choices) json.text(each);
    json.end_array();
  } else {
    json.key("pattern").text(pattern);
  }
  json.end_object();
  json.begin_object().key("pattern").text(kOpenPattern).end_object();
  json.end_array();
}

void write_kind(JsonWriter& json, const model::FieldDescriptor& field) {
  switch (field.kind) {
    case FieldKind::boolean:
      json.key("type").text("boolean");
      return;
    case FieldKind::integer:
      json.key("type").text("integer");
      return;
    case FieldKind::text_list:
      json.key("type").text("array").key("items").begin_object();
      write_string(json, {}, field.max_length);
      json.end_object();
      return;
    case FieldKind::choice:
      return write_closed_text(json, field.choices, {});
    case FieldKind::mode:
      return write_closed_text(json, {}, "^[0-7]{3,4}$");
    case FieldKind::path:
      return write_closed_text(json, {}, "^/");
    case FieldKind::duration:
      return write_closed_text(json, {}, "^[0-9]+(ms|s|m|h)$");
    case FieldKind::secret:
      return write_closed_text(json, {}, kLabelPattern);
    default:
      return write_string(json, {}, field.max_length);
  }
}

void write_content_keys(JsonWriter& json) {
  const auto one = [&](std::string_view key, std::string_view description) {
    write_described(json, key, description);
    write_string(json, {}, 0);
    json.end_object();
  };
  one("content", "The whole content, as text.");
  one("source", "Content from a file of the fleet, relative to the layer's folder.");
  one("template", "Content from a file of the fleet, with labels, host and secrets filled in.");
  one("secretRef", "Content that is the secret of this name on the host.");
}

// At most one of the four.
void write_content_rule(JsonWriter& json) {
  const auto keys = model::content_keys();
  json.key("not").begin_object().key("anyOf").begin_array();
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = i + 1; j < keys.size(); ++j)
      json.begin_object()
          .key("required")
          .begin_array()
          .text(keys[i])
          .text(keys[j])
          .end_array()
          .end_object();
  json.end_array().end_object();
}

void write_desired(JsonWriter& json, const model::TypeDescriptor& type) {
  write_described(json, "desired", "Fields to manage; those that are not given are left alone.");
  json.key("type").text("object").key("additionalProperties").boolean(false);
  json.key("properties").begin_object();
  bool has_content = false;
  for (const auto& field : type.fields) {
    if (field.kind == FieldKind::content) {
      write_content_keys(json);
      has_content = true;
      continue;
    }
    write_described(json, field.name, field.summary);
    write_kind(json, field);
    json.end_object();
  }
  json.end_object();
  if (has_content) write_content_rule(json);
  json.end_object();
}

// Opens the definition of a document type up to its own properties.
void begin_document(JsonWriter& json, std::string_view type, std::string_view description) {
  write_described(json, type, description);
  json.key("type").text("object").key("additionalProperties").boolean(false);
  json.key("required").begin_array().text("datum").text("type").text("name").end_array();
  json.key("properties").begin_object();
  json.key("datum").begin_object().key("const").text(kVersion).end_object();
  json.key("type").begin_object().key("const").text(type).end_object();
  write_described(json, "name", "Letters, digits and . - _ + @ : only.");
  write_string(json, kNamePattern, 0);
  json.end_object();
}
void end_document(JsonWriter& json) {
  json.end_object().end_object();
}

void write_resource(JsonWriter& json, const model::TypeDescriptor& type) {
  begin_document(json, type.name, type.summary);
  write_string_list(json, "requires", "Resources that come first: Type[name].", kReferencePattern,
                    0);
  if (type.type == model::ResourceType::service) {
    write_string_list(json, "restartOn", "Resources whose change restarts the unit.",
                      kReferencePattern, 0);
    write_string_list(json, "reloadOn", "Resources whose change reloads the unit.",
                      kReferencePattern, 0);
  }
  write_described(json, "policy", "observe: drift is shown and never corrected.");
  json.key("const").text("observe").end_object();
  write_described(json, "protect", "true: never removed.");
  json.key("type").text("boolean").end_object();
  write_desired(json, type);
  end_document(json);
}

void write_match(JsonWriter& json) {
  const auto text = [&] { write_string(json, {}, model::kMaxText); };
  const auto texts = [&] {
    json.key("type").text("array").key("minItems").number(1).key("items").begin_object();
    text();
    json.end_object();
  };
  write_described(json, "match", "Which hosts the layer takes; all forms must hold.");
  json.key("type").text("object").key("additionalProperties").boolean(false);
  json.key("properties").begin_object();
  write_label_map(json, "labels", "Each label has exactly this value.", text);
  write_label_map(json, "oneOf", "Each label has one of these values.", texts);
  write_label_map(json, "noneOf", "Each label has none of these values, or is absent.", texts);
  write_string_list(json, "has", "Labels that the host has.", kLabelPattern, 0);
  write_string_list(json, "missing", "Labels that the host does not have.", kLabelPattern, 0);
  json.end_object().end_object();
}

void write_structure(JsonWriter& json) {
  begin_document(json, "Fleet", "The root of a fleet; exactly one, in datum.yaml.");
  write_string_list(json, "exclude", "Globs of files and folders that are not read.", {},
                    model::kMaxPath);
  end_document(json);
  begin_document(json, "Host", "A machine and its labels.");
  write_label_map(json, "labels", "Labels below datum/ are reserved.",
                  [&] { write_string(json, {}, model::kMaxText); });
  end_document(json);
  begin_document(json, "Layer",
                 "A matcher; resources at or below its folder belong to it, the nearest wins.");
  write_described(json, "precedence", "Higher overrides lower; 0 where it is not given.");
  json.key("type").text("integer").end_object();
  write_match(json);
  end_document(json);
}

}  // namespace

std::string document_schema() {
  JsonWriter json(2);
  json.begin_object();
  json.key("$schema").text("http://json-schema.org/draft-07/schema#");
  json.key("title").text("Datum desired-state document");
  json.key("oneOf").begin_array();
  const auto refer = [&](std::string_view type) {
    json.begin_object().key("$ref").text("#/definitions/" + std::string(type)).end_object();
  };
  for (const auto* type : {"Fleet", "Host", "Layer"}) refer(type);
  for (const auto& type : model::all_types()) refer(type.name);
  json.end_array();
  json.key("definitions").begin_object();
  write_structure(json);
  for (const auto& type : model::all_types()) write_resource(json, type);
  json.end_object().end_object();
  return json.take() + "\n";
}

}  // namespace datum::fleet
