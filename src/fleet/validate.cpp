// Hosts in groups of equal layers, the groups divided among threads; findings that several hosts
// share become one.
#include "datum/fleet/validate.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "resolver.hpp"

namespace datum::fleet {
namespace {

using Hits = std::map<Fault, std::set<std::string>>;

struct Portion {
  Hits hits;
  std::vector<FactDependence> dependent;
};

void check_hosts(const Documents& documents, std::span<const Matched> hosts, Portion& out) {
  SetResolver sets(documents);
  const Matched* entered = nullptr;
  for (const auto& matched : hosts) {
    if (!entered || entered->layers != matched.layers) {
      sets.enter(matched.layers);
      entered = &matched;
    }
    const LabelView labels(matched.host->labels, matched.profile);
    auto result = sets.resolve(labels, false);
    const auto& name = matched.host->name;
    for (const auto& fault : sets.faults()) out.hits[fault].insert(name);
    for (const auto& fault : result.faults) out.hits[fault].insert(name);
    if (matched.layers.empty())
      out.hits[{matched.host->at, "the host matches no layer, so it gets nothing",
                "give it the labels that a layer's match asks for", true}]
          .insert(name);
    result.missing_facts.insert(matched.missing_facts.begin(), matched.missing_facts.end());
    if (result.missing_facts.empty()) continue;
    out.dependent.push_back({name, {result.missing_facts.begin(), result.missing_facts.end()}});
  }
}

void add_unused_layers(const Documents& documents, const std::vector<Matched>& hosts, Hits& hits) {
  std::vector<bool> used(documents.layers.size(), false);
  for (const auto& matched : hosts) {
    for (const auto layer : matched.layers) used[layer] = true;
    for (const auto layer : matched.undecided) used[layer] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      hits[{documents.layers[i].at, "layer " + documents.layers[i].name + " matches no host",
            "mend its match, or remove it; its resources were checked one by one only", true}];
}

}  // namespace

Validation validate(const FleetPtr& fleet, const ValidateOptions& options) {
  const auto& documents = fleet->documents();
  Validation validation;
  validation.hosts = documents.hosts.size();
  validation.layers = documents.layers.size();
  validation.documents = documents.bodies.size();
  const auto matched =
      match_hosts(documents, fleet->hosts(), [&](std::string_view) { return options.profile; });

  const auto width = options.parallel ? std::max<std::size_t>(options.width, 1) : 1;
  std::vector<Portion> parts(width);
  const auto work = [&](std::size_t i) {
    const auto first = matched.size() * i / width;
    const auto last = matched.size() * (i + 1) / width;
    check_hosts(documents, std::span(matched).subspan(first, last - first), parts[i]);
  };
  if (options.parallel)
    options.parallel(width, work);
  else
    work(0);

  Hits hits;
  for (auto& part : parts) {
    for (auto& [fault, hosts] : part.hits) hits[fault].insert(hosts.begin(), hosts.end());
    std::move(part.dependent.begin(), part.dependent.end(),
              std::back_inserter(validation.dependent));
  }
  add_unused_layers(documents, matched, hits);
  for (const auto& [fault, hosts] : hits) {
    auto finding = to_finding(documents.files, fault);
    finding.hosts.assign(hosts.begin(), hosts.end());
    (fault.warning ? validation.warnings : validation.errors).push_back(std::move(finding));
  }
  shorten(validation.errors);
  shorten(validation.warnings);
  std::sort(validation.dependent.begin(), validation.dependent.end(),
            [](const auto& a, const auto& b) { return a.host < b.host; });
  return validation;
}

}  // namespace datum::fleet
