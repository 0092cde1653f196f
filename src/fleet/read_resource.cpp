// Reads a resource document by the descriptor table: the kind of each field decides how its value
// is read, and what is known without a host is checked here.
#include <algorithm>
#include <array>

#include "datum/model/reserved.hpp"
#include "datum/model/substitution.hpp"
#include "reader.hpp"
#include "values.hpp"

namespace datum::fleet {
namespace {

using model::FieldDescriptor;
using model::FieldKind;

constexpr std::array<std::string_view, 9> kKeys{
    "datum", "type", "name", "requires", "restartOn", "reloadOn", "policy", "protect", "desired"};
// (uid_t)-1 means "no account" to the kernel.
constexpr std::int64_t kMaxAccountNumber = 4'294'967'294;

class ResourceReader {
 public:
  ResourceReader(Reader& reader, Body& body)
      : reader_(reader), body_(body), type_(model::describe(body.reference.type)) {}

  void read(const yaml::Node& root) {
    for (const auto& [key, value] : root.entries()) read_key(key, value);
    check_lists();
  }

 private:
  void read_key(const yaml::Node& key, const yaml::Node& value) {
    const auto name = key.text();
    if (name == "datum" || name == "type" || name == "name") return;
    if (name == "desired") return read_desired(value);
    if (name == "requires") return read_references(value, name, body_.requirements);
    if (name == "policy") return read_policy(value);
    if (name == "protect") return read_protect(value);
    if (name == "restartOn" || name == "reloadOn") {
      if (type_.type == model::ResourceType::service)
        return read_references(value, name,
                               name == "restartOn" ? body_.restart_on : body_.reload_on);
      return reader_.fault(key.at(),
                           std::string(name) + " stands on a " + std::string(type_.name) +
                               ", only a Service is restarted or reloaded",
                           "put it on the Service, naming this resource: " + std::string(name) +
                               ": [\"" + body_.reference.text() + "\"]");
    }
    reader_.unknown_key(key, type_.name, kKeys);
  }

  void read_policy(const yaml::Node& value) {
    body_.policy_at = reader_.place(value.at());
    const auto text = reader_.text(value, "policy", model::kMaxText);
    if (!text) return;
    if (*text != "observe")
      return reader_.fault(value.at(),
                           "policy is " + yaml::quoted(*text) + ", observe was expected",
                           "policy only weakens: write policy: observe, or leave it out");
    body_.observe_only = true;
  }

  void read_protect(const yaml::Node& value) {
    const auto flag = reader_.boolean(value, "protect");
    if (!flag) return;
    body_.protect_at = reader_.place(value.at());
    body_.protect = *flag;
    body_.lifts_protect = !*flag;
  }

  void read_references(const yaml::Node& value, std::string_view key,
                       std::vector<ReferenceAt>& out) {
    const auto items = reader_.list(value, key);
    if (!items) return;
    for (const auto& item : *items) {
      const auto text = reader_.text(item, key, model::kMaxText + 16);
      if (!text) continue;
      auto reference = model::find_reference(*text);
      if (reference) {
        out.push_back({std::move(*reference), reader_.place(item.at())});
        continue;
      }
      reader_.fault(item.at(),
                    std::string(key) + ": " + yaml::quoted(*text) + " is not a reference",
                    "write Type[name] with one of the resource types, for example \"File[motd]\"");
    }
  }

  // One resource in both lists would be restarted and reloaded for one change.
  void check_lists() {
    for (const auto& each : body_.reload_on)
      if (std::any_of(body_.restart_on.begin(), body_.restart_on.end(),
                      [&](const ReferenceAt& other) { return other.reference == each.reference; }))
        reader_.fault({each.at.line, each.at.column},
                      each.reference.text() + " stands in restartOn and in reloadOn",
                      "keep one of the two: a restart includes what a reload does");
  }

  void read_desired(const yaml::Node& value) {
    const auto entries = reader_.mapping(value, "desired");
    if (!entries) return;
    body_.has_desired = true;
    body_.parts.reserve(entries->size());
    for (const auto& [key, field] : *entries) read_field(key, field);
  }

  void read_field(const yaml::Node& key, const yaml::Node& value) {
    const auto name = key.text();
    if (type_.type == model::ResourceType::file) {
      const auto keys = model::content_keys();
      const auto at = std::find(keys.begin(), keys.end(), name);
      if (at != keys.end())
        return read_content(static_cast<ContentKey>(at - keys.begin()), key, value);
    }
    const auto* field = model::find_field(type_, name);
    if (field == nullptr)
      return reader_.unknown_key(key, "desired of " + std::string(type_.name), field_names());
    Part part{field->id, ContentKey::source, false, reader_.place(value.at()), {}};
    if (read_value(*field, value, part)) body_.parts.push_back(std::move(part));
  }

  std::vector<std::string_view> field_names() const {
    std::vector<std::string_view> names;
    for (const auto& field : type_.fields) {
      if (field.kind == FieldKind::content)
        names.insert(names.end(), model::content_keys().begin(), model::content_keys().end());
      else
        names.push_back(field.name);
    }
    return names;
  }

  bool read_value(const FieldDescriptor& field, const yaml::Node& value, Part& part) {
    switch (field.kind) {
      case FieldKind::boolean: {
        const auto flag = reader_.boolean(value, field.name);
        if (flag) part.written = *flag;
        return flag.has_value();
      }
      case FieldKind::integer: {
        const bool account = field.id == model::Field::uid || field.id == model::Field::gid;
        const auto number = reader_.integer(value, field.name, account ? 0 : INT32_MIN,
                                            account ? kMaxAccountNumber : INT32_MAX);
        if (number) part.written = *number;
        return number.has_value();
      }
      case FieldKind::text_list:
        return read_texts(field, value, part);
      default:
        return read_text(field, value, part);
    }
  }

  bool read_texts(const FieldDescriptor& field, const yaml::Node& value, Part& part) {
    auto texts = reader_.texts(value, field.name, field.max_length);
    if (!texts) return false;
    for (auto& text : *texts)
      if (!open_text(field.name, value, text, part.varies)) return false;
    part.written = std::move(*texts);
    return true;
  }

  bool read_text(const FieldDescriptor& field, const yaml::Node& value, Part& part) {
    const auto found = reader_.text(value, field.name, field.max_length);
    if (!found) return false;
    std::string text(*found);
    if (!open_text(field.name, value, text, part.varies)) return false;
    if (!part.varies) {
      auto checked = check_value(field, std::move(text));
      if (!checked) {
        reader_.fault(value.at(), std::move(checked.error().message),
                      std::move(checked.error().hint));
        return false;
      }
      text = std::move(*checked);
    }
    part.written = std::move(text);
    return true;
  }

  void read_content(ContentKey content_key, const yaml::Node& key, const yaml::Node& value) {
    for (const auto& part : body_.parts)
      if (part.field == model::Field::content)
        return reader_.fault(
            key.at(),
            std::string(key.text()) + " stands beside " +
                std::string(model::content_keys()[static_cast<std::size_t>(part.key)]) +
                " in one File",
            "keep one of content, source, template and secretRef");
    Part part{model::Field::content, content_key, false, reader_.place(value.at()), {}};
    const auto text = content_key == ContentKey::content
                          ? reader_.any_text(value, key.text())
                          : reader_.text(value, key.text(), model::kMaxPath);
    if (!text) return;
    std::string written(*text);
    if (!open_text(key.text(), value, written, part.varies)) return;
    if (content_key == ContentKey::secret && !part.varies && !model::is_secret_name(written))
      return reader_.fault(value.at(), yaml::quoted(written) + " is not the name of a secret",
                           "a secret's name has letters, digits and . - _ / only");
    part.written = std::move(written);
    body_.parts.push_back(std::move(part));
  }

  // Checks `{{ … }}`. Text without labels and host is unescaped here and for good; other text stays
  // as it is until the host is known.
  bool open_text(std::string_view key, const yaml::Node& value, std::string& text, bool& varies) {
    if (!model::has_substitutions(text)) return true;
    auto parsed = model::parse_substitutions(text);
    const auto line_of = [&](std::size_t offset) {
      auto at = value.at();
      const auto lines =
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
      // A literal block begins on the line after its `|`, and each of its lines is one of the file.
      if (value.style() == yaml::Style::literal)
        at = {at.line + 1 + static_cast<std::uint32_t>(lines), 1};
      return at;
    };
    if (const auto* fault = std::get_if<model::SubstitutionFault>(&parsed)) {
      reader_.fault(line_of(fault->offset), std::string(key) + ": " + fault->message,
                    "write {{ labels.NAME }} or {{ host }}, or {{{{ for two literal braces");
      return false;
    }
    std::string literal;
    bool open = false;
    for (const auto& piece : std::get<model::Pieces>(parsed)) {
      if (piece.kind == model::PieceKind::secret) {
        reader_.fault(line_of(piece.offset),
                      std::string(key) + ": {{ secrets." + piece.text +
                          " }} stands in a document, where everybody can read what it becomes",
                      "use secretRef for a whole file, or put the text into a template file");
        return false;
      }
      open = open || piece.kind != model::PieceKind::literal;
      literal.append(piece.text);
    }
    varies = varies || open;
    if (!open) text = std::move(literal);
    return true;
  }

  Reader& reader_;
  Body& body_;
  const model::TypeDescriptor& type_;
};

}  // namespace

void read_resource(Reader& reader, model::ResourceType type, std::string_view name,
                   const yaml::Document& document) {
  Body body;
  body.reference = {type, std::string(name)};
  body.at = reader.place(document.root.at());
  ResourceReader(reader, body).read(document.root);
  // Kept even when faulty: what other documents refer to must not look missing.
  reader.out().bodies.push_back(std::move(body));
}

}  // namespace datum::fleet
