// Provenance of one resource: the statements of all documents that took part, sorted by field.
#include "datum/fleet/explain.hpp"

#include <algorithm>

#include "datum/fleet/render.hpp"
#include "datum/model/descriptor.hpp"
#include "datum/yaml/scalar.hpp"
#include "resolver.hpp"

namespace datum::fleet {
namespace {

std::string texts_text(const std::vector<std::string>& list) {
  std::string text = "[";
  for (const auto& each : list) text.append(text.size() > 1 ? ", " : "").append(yaml::quoted(each));
  return text.append("]");
}

std::string written_text(const model::FieldDescriptor& field, const Part& part) {
  if (const auto* number = std::get_if<std::int64_t>(&part.written)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&part.written)) return *flag ? "true" : "false";
  if (const auto* list = std::get_if<std::vector<std::string>>(&part.written))
    return texts_text(*list);
  const auto& text = std::get<std::string>(part.written);
  if (field.kind == model::FieldKind::choice) return text;
  if (field.kind != model::FieldKind::content) return yaml::quoted(text);
  const auto key = std::string(model::content_keys()[static_cast<std::size_t>(part.key)]);
  // What stands in the document may be sensitive; a path or the name of a secret is not.
  if (part.key == ContentKey::content)
    return key + ", " + std::to_string(text.size()) + (text.size() == 1 ? " byte" : " bytes");
  return key + " " + yaml::quoted(text);
}

class Explainer {
 public:
  Explainer(const Documents& documents, const Merged& merged, model::ResourcePtr resource)
      : documents_(documents), merged_(merged) {
    out_.resource = std::move(resource);
  }

  Explanation run() {
    for (const auto id : merged_.bodies)
      out_.documents.push_back(statement(documents_.bodies[id], documents_.bodies[id].at, ""));
    const auto& type = model::describe(out_.resource->reference.type);
    for (const auto& field : type.fields) add_field(field);
    add_list("requires", &Body::requirements, out_.resource->requirements);
    add_list("restartOn", &Body::restart_on, out_.resource->restart_on);
    add_list("reloadOn", &Body::reload_on, out_.resource->reload_on);
    add_flag("policy", "observe", &Body::observe_only, &Body::policy_at);
    add_flag("protect", "true", &Body::protect, &Body::protect_at);
    return std::move(out_);
  }

 private:
  Statement statement(const Body& body, const Place& at, std::string value) const {
    const auto& layer = documents_.layers[body.layer];
    return {std::move(value), documents_.files[at.file], at.line, layer.name, layer.precedence};
  }

  void add_field(const model::FieldDescriptor& field) {
    FieldHistory history;
    history.field = field.name;
    bool found = false;
    for (auto id = merged_.bodies.rbegin(); id != merged_.bodies.rend(); ++id) {
      const auto& body = documents_.bodies[*id];
      for (const auto& part : body.parts) {
        if (part.field != field.id) continue;
        auto made = statement(body, part.at, written_text(field, part));
        if (found)
          history.overrode.push_back(std::move(made));
        else
          history.set_by = std::move(made);
        found = true;
      }
    }
    if (!found) return;
    history.value = value_text(*out_.resource, field.id);
    out_.fields.push_back(std::move(history));
  }

  void add_list(std::string_view key, std::vector<ReferenceAt> Body::*list,
                const std::vector<model::Reference>& effective) {
    if (effective.empty()) return;
    FieldHistory history;
    history.field = key;
    std::vector<std::string> all;
    for (const auto& each : effective) all.push_back(each.text());
    history.value = texts_text(all);
    for (const auto id : merged_.bodies) {
      const auto& body = documents_.bodies[id];
      if ((body.*list).empty()) continue;
      std::vector<std::string> part;
      for (const auto& each : body.*list) part.push_back(each.reference.text());
      history.joined.push_back(statement(body, (body.*list).front().at, texts_text(part)));
    }
    history.set_by = history.joined.back();
    out_.fields.push_back(std::move(history));
  }

  void add_flag(std::string_view key, std::string_view value, bool Body::*flag, Place Body::*at) {
    FieldHistory history;
    history.field = key;
    history.value = value;
    for (const auto id : merged_.bodies) {
      const auto& body = documents_.bodies[id];
      if (body.*flag) history.joined.push_back(statement(body, body.*at, std::string(value)));
    }
    if (history.joined.empty()) return;
    history.set_by = history.joined.front();
    out_.fields.push_back(std::move(history));
  }

  const Documents& documents_;
  const Merged& merged_;
  Explanation out_;
};

Finding no_such_resource(const Documents& documents, const std::string& host,
                         const model::Reference& reference) {
  const auto at =
      std::lower_bound(documents.references.begin(), documents.references.end(), reference);
  Finding finding{{"", 0, 0, host + " has no " + reference.text(), ""}, {host}};
  if (at == documents.references.end() || *at != reference) {
    finding.diagnostic.hint = "no document of the fleet declares it";
    return finding;
  }
  const auto index = static_cast<std::size_t>(at - documents.references.begin());
  finding.diagnostic.hint = "it stands in";
  for (const auto id : documents.by_reference[index]) {
    const auto& body = documents.bodies[id];
    finding.diagnostic.hint.append(" layer ")
        .append(documents.layers[body.layer].name)
        .append(" at ")
        .append(place_text(documents, body.at))
        .append(",");
  }
  finding.diagnostic.hint.append(" which the host does not match");
  return finding;
}

void append_statement(std::string& out, std::string_view word, const Statement& statement) {
  out.append("    ").append(word).append(statement.value.empty() ? "" : " ");
  out.append(statement.value).append("  ").append(statement.file).append(":");
  out.append(std::to_string(statement.line)).append("  layer ").append(statement.layer);
  out.append(" (").append(std::to_string(statement.precedence)).append(")\n");
}

}  // namespace

Explained explain(const FleetPtr& fleet, std::string_view host, const model::Reference& reference,
                  const Profile& profile) {
  const auto& documents = fleet->documents();
  Explained explained;
  const auto* found = find_host(documents, host);
  if (!found) {
    explained.errors.push_back(no_such_host(documents, host));
    return explained;
  }
  const auto matched = match_host(documents, *found, profile);
  SetResolver sets(documents);
  sets.enter(matched.layers);
  const auto* merged = sets.find(reference);
  if (!merged) {
    explained.errors.push_back(no_such_resource(documents, found->name, reference));
    return explained;
  }
  auto resource = merged->fixed;
  auto faults = merged->faults;
  if (merged->varies()) {
    auto filled = sets.fill(*merged, LabelView(found->labels, matched.profile));
    resource = filled.resource;
    faults.insert(faults.end(), filled.faults.begin(), filled.faults.end());
    faults.insert(faults.end(), filled.fact_faults.begin(), filled.fact_faults.end());
  }
  Resolved findings;
  add_findings(documents, faults, found->name, findings);
  explained.errors = std::move(findings.errors);
  if (!resource || !explained.errors.empty()) return explained;
  explained.explanation = Explainer(documents, *merged, std::move(resource)).run();
  for (const auto id : matched.layers)
    explained.explanation->layers.push_back(documents.layers[id].name);
  return explained;
}

std::string to_string(const Explanation& explanation) {
  const auto& resource = *explanation.resource;
  auto out = resource.reference.text() + "  " + resource.target.text() + "\n  sha256 " +
             resource.digest.hex() + "\n  layers of the host:";
  for (const auto& layer : explanation.layers) out.append(" ").append(layer);
  out.append("\n");
  for (const auto& field : explanation.fields) {
    out.append("  ").append(field.field).append(": ").append(field.value).append("\n");
    if (field.joined.empty()) append_statement(out, "set to", field.set_by);
    for (const auto& each : field.joined) append_statement(out, "from", each);
    for (const auto& each : field.overrode) append_statement(out, "overrode", each);
  }
  return out;
}

}  // namespace datum::fleet
