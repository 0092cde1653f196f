// See the header. Merging is kept by the documents that take part, so that a resource of a common
// layer is made once for the whole fleet.
#include "set_resolver.hpp"

#include <algorithm>

#include "datum/model/descriptor.hpp"
#include "datum/model/reserved.hpp"
#include "datum/model/spelled_target.hpp"
#include "graph.hpp"
#include "reader.hpp"

namespace datum::fleet {

// Of those whose files have fixed names for everybody, the rules of the resource itself speak.
static bool brings_files(const model::Resource& resource) {
  switch (resource.target.family) {
    case model::TargetFamily::repository:
    case model::TargetFamily::hostname:
    case model::TargetFamily::timezone:
    case model::TargetFamily::setting:
    case model::TargetFamily::mount:
    case model::TargetFamily::timer:
      return true;
    default:
      return false;
  }
}

std::size_t SetResolver::BodiesHash::operator()(const std::vector<BodyId>& bodies) const {
  std::size_t hash = bodies.size();
  for (const auto id : bodies) hash = (hash ^ id) * 0x9E3779B97F4A7C15ULL;
  return hash;
}

SetResolver::SetResolver(const Documents& documents)
    : documents_(documents),
      merger_(documents),
      single_(documents.bodies.size()),
      index_of_(documents.references.size(), kNone) {
  choices_.reserve(documents.bodies.size());
  first_choice_.reserve(documents.references.size() + 1);
  for (const auto& bodies : documents.by_reference) {
    first_choice_.push_back(static_cast<std::uint32_t>(choices_.size()));
    for (const auto id : bodies) choices_.push_back({id, documents.bodies[id].layer});
  }
  first_choice_.push_back(static_cast<std::uint32_t>(choices_.size()));
  target_ids_.reserve(documents.references.size());
  for (const auto& layer : documents.layers) takes_all_.push_back(layer.match.empty());
  may_have_cycle_ = has_cycle_anywhere();
}

std::string SetResolver::at(const Merged& merged) const {
  return place_text(documents_, documents_.bodies[merged.bodies.front()].at);
}

// Whether there can be a set that has the one and not the other. A layer brings all of its
// documents, and a layer without a match is always there.
bool SetResolver::may_be_missing(const Merged& from, const Edge& edge) const {
  if (edge.to->id == kNone) return true;
  for (auto i = first_choice_[edge.to->id]; i < first_choice_[edge.to->id + 1]; ++i) {
    const auto layer = choices_[i].layer;
    if (takes_all_[layer]) return false;
    for (const auto body : from.bodies)
      if (documents_.bodies[body].layer == layer) return false;
  }
  return true;
}

void SetResolver::fill_slot(Slot& slot, RefId id, const std::vector<BodyId>& bodies) {
  slot.merged = std::make_unique<Merged>(merger_.merge(id, bodies));
  auto& merged = *slot.merged;
  slot.plain = merged.fixed && merged.faults.empty() && !brings_files(*merged.fixed) &&
               std::none_of(merged.edges.begin(), merged.edges.end(),
                            [&](const Edge& edge) { return may_be_missing(merged, edge); });
  if (!merged.fixed) return;
  const auto [known, added] =
      target_ids_.try_emplace(merged.fixed->target, static_cast<std::uint32_t>(target_ids_.size()));
  merged.target_id = known->second;
  if (added) claimants_.emplace_back();
  auto& claimants = claimants_[merged.target_id];
  if (std::find(claimants.begin(), claimants.end(), id) != claimants.end()) return;
  claimants.push_back(id);
  if (claimants.size() == 2) contested_.push_back(merged.target_id);
}

const SetResolver::Slot& SetResolver::slot_of(RefId id, std::vector<BodyId>& bodies) {
  auto& slot = bodies.size() == 1 ? single_[bodies.front()] : several_[bodies];
  if (!slot.merged) fill_slot(slot, id, bodies);
  return slot;
}

void SetResolver::enter(const std::vector<LayerId>& layers) {
  std::vector<std::uint8_t> in_set(documents_.layers.size(), 0);
  for (const auto layer : layers) in_set[layer] = 1;
  members_.clear();
  varying_.clear();
  provider_paths_.clear();
  faults_.clear();
  std::fill(index_of_.begin(), index_of_.end(), kNone);
  std::vector<BodyId> bodies;
  std::vector<const Merged*> special;
  for (RefId id = 0; id < documents_.references.size(); ++id) {
    bodies.clear();
    for (auto i = first_choice_[id]; i < first_choice_[id + 1]; ++i)
      if (in_set[choices_[i].layer] != 0) bodies.push_back(choices_[i].body);
    if (bodies.empty()) continue;
    const auto& slot = slot_of(id, bodies);
    index_of_[id] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(slot.merged.get());
    if (!slot.plain) special.push_back(slot.merged.get());
  }
  for (const auto* member : special) look_at(*member);
  check_targets();
  check_cycles();
}

void SetResolver::look_at(const Merged& member) {
  if (member.varies()) varying_.push_back(&member);
  faults_.insert(faults_.end(), member.faults.begin(), member.faults.end());
  check_references(member);
  if (member.fixed && brings_files(*member.fixed))
    claim_provider_paths(member, *member.fixed, faults_);
}

const Merged* SetResolver::find(const model::Reference& reference) const {
  const auto& all = documents_.references;
  const auto at = std::lower_bound(all.begin(), all.end(), reference);
  if (at == all.end() || *at != reference) return nullptr;
  const auto index = index_of_[static_cast<std::size_t>(at - all.begin())];
  return index == kNone ? nullptr : members_[index];
}

void SetResolver::shared_target(const Merged& first, const Merged& second,
                                const std::string& target, Faults& faults) const {
  const auto& one = documents_.references[first.id];
  const auto& other = documents_.references[second.id];
  faults.push_back({documents_.bodies[second.bodies.front()].at,
                    other.text() + " and " + one.text() + " have one target, " + target +
                        "; the other stands at " + at(first),
                    "keep one of them, or make them layers of one resource by one type and name",
                    false});
}

void SetResolver::check_targets() {
  for (const auto id : contested_) {
    const Merged* owner = nullptr;
    for (const auto reference : claimants_[id]) {
      const auto index = index_of_[reference];
      const auto* member = index == kNone ? nullptr : members_[index];
      if (!member || member->target_id != id) continue;
      if (owner)
        shared_target(*owner, *member, member->fixed->target.text(), faults_);
      else
        owner = member;
    }
  }
}

const Merged* SetResolver::owner_of(const model::Target& target) const {
  const auto id = target_ids_.find(target);
  if (id == target_ids_.end()) return nullptr;
  for (const auto reference : claimants_[id->second]) {
    const auto index = index_of_[reference];
    if (index != kNone && members_[index]->target_id == id->second) return members_[index];
  }
  return nullptr;
}

// The files that a Repository brings, or that a Setting changes, may not be files of anybody else.
void SetResolver::claim_provider_paths(const Merged& member, const model::Resource& resource,
                                       Faults& faults) {
  for (auto& path : model::provider_paths(resource)) {
    const auto* owner = owner_of({model::TargetFamily::path, path});
    const auto [writer, added] = provider_paths_.try_emplace(path, &member);
    if (!added) check_second_writer(*writer->second, member, resource, path, faults);
    if (owner) check_on_provider_path(*owner, *owner->fixed, faults);
  }
  if (resource.target.family != model::TargetFamily::timer) return;
  if (const auto* service = owner_of({model::TargetFamily::unit, resource.target.name}))
    shared_target(*service, member, "unit:" + resource.target.name, faults);
}

// Several resources of one type may change one file, each its own part of it.
void SetResolver::check_second_writer(const Merged& first, const Merged& second,
                                      const model::Resource& resource, const std::string& path,
                                      Faults& faults) const {
  const auto& one = documents_.references[first.id];
  if (one.type != resource.reference.type) {
    faults.push_back({documents_.bodies[second.bodies.front()].at,
                      resource.reference.text() + " and " + one.text() + " both write " + path +
                          "; the other stands at " + at(first),
                      "keep one of them", false});
    return;
  }
  if (one.type != model::ResourceType::setting || !first.fixed) return;
  const auto lens_of = [](const model::Resource& setting) {
    return model::normalise_lens(setting.text(model::Field::lens));
  };
  const auto format = first.fixed->text(model::Field::format);
  const bool same_format = format == resource.text(model::Field::format);
  if (same_format && lens_of(*first.fixed) == lens_of(resource)) return;
  const auto field = same_format ? model::Field::lens : model::Field::format;
  const std::string key(model::describe(one.type, field).name);
  faults.push_back(
      {second.place_of(documents_, field),
       resource.reference.text() + " reads " + path + " in another " + key + " than " + one.text() +
           "; the other stands at " + at(first),
       "a file has one " + key + ": write " + key + ": " + std::string(first.fixed->text(field)),
       false});
}

void SetResolver::check_on_provider_path(const Merged& member, const model::Resource& resource,
                                         Faults& faults) const {
  if (resource.target.family != model::TargetFamily::path || !claims_content(resource)) return;
  const auto writer = provider_paths_.find(resource.target.name);
  if (writer == provider_paths_.end()) return;
  faults.push_back({member.place_of(documents_, model::Field::path),
                    resource.reference.text() + " stands on " + resource.target.name + ", which " +
                        documents_.references[writer->second->id].text() + " writes itself",
                    "leave it to the " +
                        std::string(to_string(documents_.references[writer->second->id].type)) +
                        ", and declare here owner and mode at most",
                    false});
}

void SetResolver::check_reference(const Merged& from, const Edge& edge) {
  const auto& wanted = edge.to->reference;
  auto message = documents_.references[from.id].text() + ": " + std::string(edge.key) + " names " +
                 wanted.text() + ", which ";
  std::string hint;
  if (edge.to->id == kNone) {
    message.append("no document of the fleet declares");
    std::vector<std::string_view> names;
    for (const auto& each : documents_.references)
      if (each.type == wanted.type) names.push_back(each.name);
    const auto near = nearest(wanted.name, names);
    hint = near ? "did you mean " + std::string(to_string(wanted.type)) + "[" + std::string(*near) +
                      "]?"
                : "declare it, or take the reference out";
  } else {
    const auto& body = documents_.bodies[documents_.by_reference[edge.to->id].front()];
    message.append("the host does not have");
    hint = "it stands in layer " + documents_.layers[body.layer].name + " at " +
           place_text(documents_, body.at) + ": match that layer too, or take the reference out";
  }
  faults_.push_back({edge.to->at, std::move(message), std::move(hint), false});
}

void SetResolver::check_references(const Merged& from) {
  for (const auto& edge : from.edges)
    if (edge.to->id == kNone || index_of_[edge.to->id] == kNone) check_reference(from, edge);
}

bool SetResolver::has_cycle_anywhere() const {
  std::vector<std::vector<std::uint32_t>> edges(documents_.references.size());
  for (const auto& body : documents_.bodies)
    for (const auto* list : {&body.requirements, &body.restart_on, &body.reload_on})
      for (const auto& each : *list)
        if (each.id != kNone) edges[body.id].push_back(each.id);
  return !find_cycles(edges).empty();
}

void SetResolver::check_cycles() {
  if (!may_have_cycle_) return;
  std::vector<std::vector<std::uint32_t>> edges(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (const auto& edge : members_[i]->edges)
      if (edge.to->id != kNone && index_of_[edge.to->id] != kNone)
        edges[i].push_back(index_of_[edge.to->id]);
  for (const auto& cycle : find_cycles(edges)) {
    const auto& first = *members_[cycle.front()];
    std::string way;
    for (const auto node : cycle)
      way.append(documents_.references[members_[node]->id].text()).append(" → ");
    way.append(documents_.references[first.id].text());
    const auto next = documents_.references[members_[cycle[1 % cycle.size()]]->id];
    auto place = documents_.bodies[first.bodies.front()].at;
    for (const auto& edge : first.edges)
      if (edge.to->reference == next) place = edge.to->at;
    faults_.push_back({place, "the order goes round in a circle: " + way,
                       "take out one of these references", false});
  }
}

SetResolver::HostResult SetResolver::resolve(const LabelView& labels, bool keep) {
  HostResult result;
  std::unordered_map<model::Target, const Merged*, model::TargetHash> own_targets;
  std::vector<std::pair<const Merged*, model::ResourcePtr>> made;
  const auto shared_paths = provider_paths_;
  for (const auto* member : varying_) {
    auto filled = merger_.fill(*member, labels);
    result.faults.insert(result.faults.end(), filled.faults.begin(), filled.faults.end());
    result.fact_faults.insert(result.fact_faults.end(), filled.fact_faults.begin(),
                              filled.fact_faults.end());
    result.missing_facts.insert(filled.missing_facts.begin(), filled.missing_facts.end());
    if (!filled.resource) continue;
    const auto& target = filled.resource->target;
    if (const auto* owner = owner_of(target))
      shared_target(*owner, *member, target.text(), result.faults);
    else if (const auto [other, added] = own_targets.emplace(target, member); !added)
      shared_target(*other->second, *member, target.text(), result.faults);
    if (brings_files(*filled.resource))
      claim_provider_paths(*member, *filled.resource, result.faults);
    made.emplace_back(member, std::move(filled.resource));
  }
  for (const auto& [member, resource] : made)
    check_on_provider_path(*member, *resource, result.faults);
  provider_paths_ = shared_paths;
  if (!keep) return result;
  result.resources.reserve(members_.size());
  std::size_t next = 0;
  for (const auto* member : members_) {
    if (member->fixed)
      result.resources.push_back(member->fixed);
    else if (next < made.size() && made[next].first == member)
      result.resources.push_back(std::move(made[next++].second));
  }
  return result;
}

}  // namespace datum::fleet
