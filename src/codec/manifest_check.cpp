#include "manifest_check.hpp"

#include <algorithm>

#include "datum/model/content_hash.hpp"
#include "datum/model/reserved.hpp"
#include "datum/model/substitution.hpp"

namespace datum::codec {
namespace {

using model::FieldKind;

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::corrupt, std::move(message));
}
Status as_corrupt(const Status& status) {
  return status ? Status{} : Status(wrong(status.error().message()));
}

bool is_line(std::string_view text, std::size_t longest) {
  if (text.size() > longest) return false;
  return std::none_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte < 0x20 || byte == 0x7f;
  });
}

Status check_text(const model::FieldDescriptor& field, const std::string& text) {
  if (!is_line(text, field.max_length)) return wrong("too long, or a control character");
  switch (field.kind) {
    case FieldKind::path:
      return as_corrupt(model::check_path(text));
    case FieldKind::mode: {
      const auto normal = model::normalise_mode(text);
      return normal && *normal == text ? Status{} : Status(wrong("no normalised mode"));
    }
    case FieldKind::choice: {
      const auto& choices = field.choices;
      const bool known = std::find(choices.begin(), choices.end(), text) != choices.end();
      return known ? Status{} : Status(wrong("none of the choices"));
    }
    case FieldKind::secret:
      return model::is_secret_name(text) ? Status{} : Status(wrong("no secret's name"));
    case FieldKind::duration:
      return model::find_duration_ms(text) ? Status{} : Status(wrong("no duration"));
    case FieldKind::text:
      return {};
    default:
      return wrong("a text where none belongs");
  }
}

Status check_list(const model::FieldDescriptor& field, const std::vector<std::string>& list) {
  for (const auto& each : list)
    if (!is_line(each, field.max_length)) return wrong("too long, or a control character");
  const bool ascends =
      std::adjacent_find(list.begin(), list.end(), std::greater_equal<>{}) == list.end();
  return field.id != model::Field::groups || ascends ? Status{} : Status(wrong("no sorted set"));
}

Status check_content(const model::FieldDescriptor& field, const model::Content& content) {
  if (!content.secret.empty()) {
    if (field.kind != FieldKind::content || !model::is_secret_name(content.secret))
      return wrong("no secret's name");
    const model::Content only{.secret = content.secret};
    return content == only ? Status{} : Status(wrong("a secret and something else"));
  }
  if (content.has_secrets && field.kind != FieldKind::content) return wrong("secrets inside");
  if (content.size > model::kInlineContent)
    return content.bytes.empty() ? Status{} : Status(wrong("bytes that belong outside"));
  if (content.bytes.size() != content.size ||
      model::content_digest(as_bytes(content.bytes)) != content.digest)
    return wrong("bytes that are not what the digest says");
  return {};
}

Status check_value(const model::FieldDescriptor& field, const model::Value& value) {
  switch (field.kind) {
    case FieldKind::integer:
      return std::holds_alternative<std::int64_t>(value) ? Status{} : Status(wrong("no number"));
    case FieldKind::boolean:
      return std::holds_alternative<bool>(value) ? Status{} : Status(wrong("no boolean"));
    case FieldKind::text_list: {
      const auto* list = std::get_if<std::vector<std::string>>(&value);
      return list ? check_list(field, *list) : Status(wrong("no list"));
    }
    case FieldKind::content:
    case FieldKind::fleet_file: {
      const auto* content = model::find_content(value);
      return content ? check_content(field, *content) : Status(wrong("no content"));
    }
    default: {
      const auto* text = std::get_if<std::string>(&value);
      return text ? check_text(field, *text) : Status(wrong("no text"));
    }
  }
}

Status check_list_of_references(const std::vector<model::Reference>& list, const char* name) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!model::is_document_name(list[i].name)) return wrong(std::string(name) + ": no name");
    if (i > 0 && !(list[i - 1] < list[i])) return wrong(std::string(name) + ": not ascending");
  }
  return {};
}

std::size_t index_of(const model::Manifest& manifest, const model::Reference& reference) {
  const auto& list = manifest.resources;
  const auto at = std::lower_bound(
      list.begin(), list.end(), reference,
      [](const model::ResourcePtr& each, const auto& wanted) { return each->reference < wanted; });
  const bool found = at != list.end() && (*at)->reference == reference;
  return found ? static_cast<std::size_t>(at - list.begin()) : list.size();
}

// Who must wait for whom: for each resource those that need it.
struct Graph {
  std::vector<std::vector<std::uint32_t>> dependents;
  std::vector<std::uint32_t> waits_for;  // how many
};

Result<Graph> read_graph(const model::Manifest& manifest) {
  const auto count = manifest.resources.size();
  Graph graph{std::vector<std::vector<std::uint32_t>>(count), std::vector<std::uint32_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto& resource = *manifest.resources[i];
    for (const auto* list : {&resource.requirements, &resource.restart_on, &resource.reload_on}) {
      for (const auto& each : *list) {
        const auto needed = index_of(manifest, each);
        if (needed == count)
          return wrong(resource.reference.text() + " names " + each.text() +
                       ", which is not in the manifest");
        graph.dependents[needed].push_back(static_cast<std::uint32_t>(i));
        ++graph.waits_for[i];
      }
    }
  }
  return graph;
}

}  // namespace

Status check_field(const model::TypeDescriptor& type, model::Field last,
                   const model::FieldValue& field) {
  const auto number = std::to_string(static_cast<int>(field.field));
  if (field.field <= last) return wrong("field " + number + " out of order");
  const auto* descriptor = model::find_field(type, field.field);
  if (descriptor == nullptr) return wrong(std::string(type.name) + " has no field " + number);
  if (auto status = check_value(*descriptor, field.value); !status)
    return fail(std::move(status).error().context(descriptor->name));
  return {};
}

Status check_resource(const model::Resource& resource) {
  const auto& type = model::describe(resource.reference.type);
  if (!model::is_document_name(resource.reference.name)) return wrong("no document's name");
  for (const auto& field : type.fields) {
    const bool needed = field.required && !resource.absent();
    if (needed && resource.find(field.id) == nullptr)
      return wrong("lacks the field " + std::string(field.name));
  }
  DATUM_TRY(check_list_of_references(resource.requirements, "requires"));
  DATUM_TRY(check_list_of_references(resource.restart_on, "restartOn"));
  DATUM_TRY(check_list_of_references(resource.reload_on, "reloadOn"));
  const bool notifies = !resource.restart_on.empty() || !resource.reload_on.empty();
  if (notifies && type.type != model::ResourceType::service)
    return wrong("only a Service is restarted or reloaded");
  return {};
}

Status check_target(const model::Target& target) {
  if (target.name.empty()) return wrong("names no target");
  return as_corrupt(model::check_target(target));
}

static bool has_references(const model::Manifest& manifest) {
  return std::any_of(manifest.resources.begin(), manifest.resources.end(), [](const auto& each) {
    return !each->requirements.empty() || !each->restart_on.empty() || !each->reload_on.empty();
  });
}

Status check_graph(const model::Manifest& manifest) {
  if (const auto* repeated = model::TargetTable(manifest).repeated(); repeated != nullptr)
    return wrong(repeated->target.text() + " is the target of two resources");
  if (!has_references(manifest)) return {};
  DATUM_ASSIGN(auto graph, read_graph(manifest));
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < graph.waits_for.size(); ++i)
    if (graph.waits_for[i] == 0) ready.push_back(i);
  for (std::size_t done = 0; done < ready.size(); ++done)
    for (const auto each : graph.dependents[ready[done]])
      if (--graph.waits_for[each] == 0) ready.push_back(each);
  if (ready.size() != manifest.resources.size()) return wrong("a cycle of requirements");
  return {};
}

}  // namespace datum::codec
