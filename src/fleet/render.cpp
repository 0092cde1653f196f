// Manifests in words. Whatever could be secret is left out by one question, `may_show`, so that no
// form of output can forget it.
#include "datum/fleet/render.hpp"

#include <algorithm>

#include "datum/yaml/scalar.hpp"
#include "json_writer.hpp"

namespace datum::fleet {
namespace {

using model::Content;
using model::Resource;
using model::SharedContent;

// Longer content is named by size and digest: a rendering is for reading.
constexpr std::size_t kShownContent = 16 * 1024;

bool is_plain_line_byte(unsigned char c) {
  return c >= 0x20 && c != 0x7F;
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return is_plain_line_byte(byte) || byte == '\n' || byte == '\t';
  });
}

bool may_show(const Resource& resource, const Content& content) {
  return !resource.sensitive() && content.has_bytes && content.size <= kShownContent &&
         is_text(content.bytes);
}

std::string content_summary(const Resource& resource, const Content& content) {
  if (!content.secret.empty()) return "secret " + yaml::quoted(content.secret);
  const auto size = std::to_string(content.size) + (content.size == 1 ? " byte" : " bytes");
  if (content.has_secrets) return "a template with secrets, " + size;
  if (resource.sensitive()) return "hidden, sensitive";
  return size + ", sha256 " + content.digest.hex();
}

// A block reads back as the same text only if it ends in one newline and begins with no space.
bool fits_block(std::string_view text) {
  return text.size() > 1 && text.back() == '\n' && text[text.size() - 2] != '\n' &&
         text.front() != ' ' && text.front() != '\n' && text.find('\t') == std::string_view::npos;
}

void append_block(std::string& out, std::string_view text) {
  out.append("|\n");
  while (!text.empty()) {
    const auto end = text.find('\n') + 1;
    if (end > 1) out.append("    ").append(text.substr(0, end - 1));
    out.push_back('\n');
    text.remove_prefix(end);
  }
}

// Text in a document means substitution where it holds `{{`.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out.push_back(text[at]);
    if (text.substr(at, 2) == "{{") {
      out.append("{{{");
      ++at;
    }
  }
  return out;
}

std::string list_text(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const auto& item : items)
    text.append(text.size() > 1 ? ", " : "").append(yaml::quoted(escaped(item)));
  return text.append("]");
}

std::vector<std::string> texts(const std::vector<model::Reference>& references) {
  std::vector<std::string> list;
  for (const auto& each : references) list.push_back(each.text());
  return list;
}

void append_content(std::string& out, const Resource& resource, std::string_view key,
                    const Content& content) {
  if (key == "content" && !content.secret.empty()) {
    out.append("  secretRef: ").append(yaml::quoted(content.secret)).append("\n");
    return;
  }
  // Of a file of the fleet a document gives the path, which the manifest does not keep.
  if (key != "content" || !may_show(resource, content)) {
    out.append("  # ").append(key).append(": ").append(content_summary(resource, content));
    out.append("\n");
    return;
  }
  const auto text = escaped(content.bytes);
  out.append("  ").append(key).append(": ");
  if (fits_block(text))
    append_block(out, text);
  else
    out.append(yaml::quoted(text)).append("\n");
}

void append_field(std::string& out, const Resource& resource, const model::FieldValue& field) {
  const auto name = model::describe(resource.reference.type, field.field).name;
  if (const auto* content = model::find_content(field.value))
    return append_content(out, resource, name, *content);
  out.append("  ").append(name).append(": ");
  out.append(value_text(resource, field.field)).append("\n");
}

void append_resource(std::string& out, const Resource& resource) {
  out.append("---\ndatum: v1alpha1\ntype: ").append(to_string(resource.reference.type));
  out.append("\nname: ").append(yaml::quoted(resource.reference.name)).append("\n");
  const auto lists = {std::pair{"requires", &resource.requirements},
                      std::pair{"restartOn", &resource.restart_on},
                      std::pair{"reloadOn", &resource.reload_on}};
  for (const auto& [key, list] : lists)
    if (!list->empty()) out.append(key).append(": ").append(list_text(texts(*list))).append("\n");
  if (resource.observe_only) out.append("policy: observe\n");
  if (resource.protect) out.append("protect: true\n");
  out.append("desired:\n");
  for (const auto& field : resource.fields) append_field(out, resource, field);
}

void write_content(JsonWriter& json, const Resource& resource, const Content& content) {
  json.begin_object();
  if (!content.secret.empty()) {
    json.key("secret").text(content.secret);
  } else if (content.has_secrets) {
    json.key("secrets").boolean(true).key("size").number(static_cast<std::int64_t>(content.size));
  } else if (resource.sensitive()) {
    json.key("hidden").boolean(true);
  } else {
    json.key("size").number(static_cast<std::int64_t>(content.size));
    json.key("sha256").text(content.digest.hex());
    if (may_show(resource, content)) json.key("text").text(content.bytes);
  }
  json.end_object();
}

struct ValueWriter {
  JsonWriter& json;
  const Resource& resource;
  void operator()(const std::string& value) const { json.text(value); }
  void operator()(std::int64_t value) const { json.number(value); }
  void operator()(bool value) const { json.boolean(value); }
  void operator()(const std::vector<std::string>& list) const {
    json.begin_array();
    for (const auto& each : list) json.text(each);
    json.end_array();
  }
  void operator()(const SharedContent& content) const {
    write_content(json, resource, content.get());
  }
};

void write_resource(JsonWriter& json, const Resource& resource) {
  json.begin_object();
  json.key("reference").text(resource.reference.text());
  json.key("target").text(resource.target.text());
  json.key("digest").text(resource.digest.hex());
  json.key("policy").text(resource.observe_only ? "observe" : "enforce");
  json.key("protect").boolean(resource.protect);
  json.key("desired").begin_object();
  for (const auto& field : resource.fields) {
    json.key(model::describe(resource.reference.type, field.field).name);
    std::visit(ValueWriter{json, resource}, field.value);
  }
  json.end_object();
  const auto lists = {std::pair{"requires", &resource.requirements},
                      std::pair{"restartOn", &resource.restart_on},
                      std::pair{"reloadOn", &resource.reload_on}};
  for (const auto& [key, list] : lists) {
    json.key(key);
    ValueWriter{json, resource}(texts(*list));
  }
  json.key("origins").begin_array();
  for (const auto& origin : resource.origins)
    json.begin_object()
        .key("file")
        .text(origin.file)
        .key("line")
        .number(origin.line)
        .key("layer")
        .text(origin.layer)
        .end_object();
  json.end_array().end_object();
}

}  // namespace

std::string value_text(const Resource& resource, model::Field field) {
  const auto* value = resource.find(field);
  if (!value) return {};
  if (const auto* text = std::get_if<std::string>(value)) {
    const auto kind = model::describe(resource.reference.type, field).kind;
    return kind == model::FieldKind::choice ? *text : yaml::quoted(escaped(*text));
  }
  if (const auto* number = std::get_if<std::int64_t>(value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(value)) return *flag ? "true" : "false";
  if (const auto* list = std::get_if<std::vector<std::string>>(value)) return list_text(*list);
  return content_summary(resource, std::get<SharedContent>(*value).get());
}

std::string render_text(const model::Manifest& manifest) {
  std::string out = "# host " + manifest.host + ", " + std::to_string(manifest.resources.size()) +
                    (manifest.resources.size() == 1 ? " resource" : " resources") + ", sha256 " +
                    manifest.digest.hex() + "\n";
  for (const auto& resource : manifest.resources) append_resource(out, *resource);
  return out;
}

std::string render_json(const model::Manifest& manifest) {
  JsonWriter json(0);
  json.begin_object();
  json.key("host").text(manifest.host);
  json.key("digest").text(manifest.digest.hex());
  json.key("resources").begin_array();
  for (const auto& resource : manifest.resources) write_resource(json, *resource);
  json.end_array().end_object();
  return json.take();
}

}  // namespace datum::fleet
