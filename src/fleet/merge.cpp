// See the header. Merging folds documents from the lowest layer up; what counts is the last
// statement, and two layers of one precedence may not disagree.
#include "merge.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"

namespace datum::fleet {
namespace {

model::Value to_value(const Written& written) {
  return std::visit([](const auto& value) { return model::Value(value); }, written);
}

bool holds_file(const Part& part) {
  return part.field == model::Field::content || part.field == model::Field::signing_key;
}

void add_edges(Merged& merged, const std::vector<ReferenceAt>& list, std::string_view key,
               std::vector<model::Reference>& references) {
  for (const auto& each : list) {
    if (std::find(references.begin(), references.end(), each.reference) != references.end())
      continue;
    references.push_back(each.reference);
    merged.edges.push_back({&each, key});
  }
}

}  // namespace

const Part* Merged::winner(model::Field field) const {
  for (const auto& [each, part] : winners)
    if (each == field) return part;
  return nullptr;
}

Place Merged::place_of(const Documents& documents, model::Field field) const {
  const auto* part = winner(field);
  return part ? part->at : documents.bodies[bodies.front()].at;
}

const Body& Merged::body_of(const Documents& documents, const Part& part) const {
  for (const auto body_id : bodies) {
    const auto& body = documents.bodies[body_id];
    if (!body.parts.empty() && &part >= body.parts.data() &&
        &part < body.parts.data() + body.parts.size())
      return body;
  }
  DATUM_ASSERT(false);
  return documents.bodies[bodies.front()];
}

bool Merger::same_value(const Part& a, const Part& b) const {
  return a.written == b.written && (!holds_file(a) || a.key == b.key);
}

void Merger::merge_field(Merged& merged, const Body& body, const Part& part) {
  for (auto& [field, winner] : merged.winners) {
    if (field != part.field) continue;
    const auto& other = merged.body_of(documents_, *winner);
    const auto& layers = documents_.layers;
    const auto& [mine, theirs] = std::tie(layers[body.layer], layers[other.layer]);
    if (mine.precedence == theirs.precedence && !same_value(*winner, part))
      merged.faults.push_back(
          {part.at,
           std::string(model::describe(body.reference.type, field).name) + " of " +
               body.reference.text() + " has two values of equal precedence " +
               std::to_string(mine.precedence) + ": layer " + theirs.name + " at " +
               place_text(documents_, winner->at) + " and layer " + mine.name + " at " +
               place_text(documents_, part.at),
           "give the layers different precedence, or the field one value", false});
    winner = &part;
    return;
  }
  merged.winners.emplace_back(part.field, &part);
}

void Merger::merge_lists(Merged& merged) {
  auto& base = merged.base;
  const Body* protecting = nullptr;
  for (const auto id : merged.bodies) {
    const auto& body = documents_.bodies[id];
    const auto& layer = documents_.layers[body.layer];
    base.observe_only = base.observe_only || body.observe_only;
    base.protect = base.protect || body.protect;
    if (body.protect && !protecting) protecting = &body;
    if (body.lifts_protect && protecting)
      merged.faults.push_back({body.protect_at,
                               "protect: false lifts nothing: " + base.reference.text() +
                                   " is protected at " +
                                   place_text(documents_, protecting->protect_at),
                               "take it out here, or protect: true there", true});
    base.origins.push_back({documents_.files[body.at.file], body.at.line, layer.name});
    add_edges(merged, body.requirements, "requires", base.requirements);
    add_edges(merged, body.restart_on, "restartOn", base.restart_on);
    add_edges(merged, body.reload_on, "reloadOn", base.reload_on);
  }
  for (const auto& edge : merged.edges) {
    if (edge.key != "reloadOn") continue;
    const auto& list = base.restart_on;
    if (std::find(list.begin(), list.end(), edge.to->reference) == list.end()) continue;
    // Within one document it was found while reading.
    if (merged.bodies.size() == 1) continue;
    merged.faults.push_back({edge.to->at,
                             edge.to->reference.text() +
                                 " stands in restartOn and in reloadOn of " + base.reference.text(),
                             "keep one of the two: a restart includes what a reload does", false});
  }
}

bool Merger::part_varies(const Merged& merged, const Part& part) {
  if (part.varies) return true;
  if (part.field != model::Field::content || part.key != ContentKey::template_file) return false;
  const auto path = find_file(folder_of(documents_, merged.body_of(documents_, part)), part,
                              std::get<std::string>(part.written));
  return path && load_template(*path).varies;
}

void Merger::set_value(Merged& merged, const Part& part) {
  if (!holds_file(part)) {
    merged.base.fields.push_back({part.field, to_value(part.written)});
    return;
  }
  Filled filled;
  const auto& folder = folder_of(documents_, merged.body_of(documents_, part));
  auto value = make_content(folder, part, std::get<std::string>(part.written), nullptr, filled);
  std::move(filled.faults.begin(), filled.faults.end(), std::back_inserter(merged.faults));
  if (value) merged.base.fields.push_back({part.field, std::move(*value)});
}

Merged Merger::merge(RefId id, const std::vector<BodyId>& bodies) {
  DATUM_ASSERT(!bodies.empty());
  Merged merged;
  merged.id = id;
  merged.bodies = bodies;
  merged.base.reference = documents_.references[id];
  bool has_desired = false;
  for (const auto body_id : bodies) {
    const auto& body = documents_.bodies[body_id];
    has_desired = has_desired || body.has_desired;
    for (const auto& part : body.parts) merge_field(merged, body, part);
  }
  merge_lists(merged);
  if (!has_desired) {
    merged.faults.push_back({documents_.bodies[bodies.front()].at,
                             merged.base.reference.text() + " has no key desired in any layer",
                             "add desired: with the fields to manage", false});
    return merged;
  }
  for (const auto& [field, part] : merged.winners) {
    if (part_varies(merged, *part))
      merged.varying.push_back(part);
    else
      set_value(merged, *part);
  }
  if (merged.varies()) return merged;
  check_resource(documents_, merged, merged.base, merged.faults);
  const bool wrong = std::any_of(merged.faults.begin(), merged.faults.end(),
                                 [](const Fault& fault) { return !fault.warning; });
  if (wrong) return merged;
  model::finish_resource(merged.base);
  merged.fixed = std::make_shared<const model::Resource>(std::move(merged.base));
  return merged;
}

}  // namespace datum::fleet
