// Hosts are taken in groups of equal layers; each group is merged and checked once.
#include "resolver.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"
#include "reader.hpp"

namespace datum::fleet {

Matched match_host(const Documents& documents, const Host& host, Profile profile) {
  Matched matched{&host, std::move(profile), {}, {}, {}};
  const LabelView labels(host.labels, matched.profile);
  for (LayerId id = 0; id < documents.layers.size(); ++id) {
    switch (matches(documents.layers[id].match, labels, matched.missing_facts)) {
      case Answer::yes:
        matched.layers.push_back(id);
        break;
      case Answer::undecided:
        matched.undecided.push_back(id);
        break;
      case Answer::no:
        break;
    }
  }
  return matched;
}

std::vector<Matched> match_hosts(const Documents& documents, const std::vector<std::string>& hosts,
                                 const Resolver::ProfileOf& profile_of) {
  std::vector<Matched> all;
  all.reserve(hosts.size());
  for (const auto& name : hosts)
    if (const auto* host = find_host(documents, name))
      all.push_back(match_host(documents, *host, profile_of ? profile_of(name) : Profile{}));
  std::stable_sort(all.begin(), all.end(),
                   [](const Matched& a, const Matched& b) { return a.layers < b.layers; });
  return all;
}

Finding no_such_host(const Documents& documents, std::string_view host) {
  std::vector<std::string_view> names;
  for (const auto& each : documents.hosts) names.push_back(each.name);
  const auto near = nearest(host, names);
  return {{"", 0, 0, "the fleet has no Host " + std::string(host),
           near ? "did you mean " + std::string(*near) + "?"
                : "add a document of type Host with that name"},
          {}};
}

void add_findings(const Documents& documents, const Faults& faults, const std::string& host,
                  Resolved& resolved) {
  auto sorted = faults;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const auto& fault : sorted) {
    auto finding = to_finding(documents.files, fault);
    finding.hosts = {host};
    (fault.warning ? resolved.warnings : resolved.errors).push_back(std::move(finding));
  }
}

struct Resolver::Impl {
  explicit Impl(FleetPtr shared) : fleet(std::move(shared)), sets(fleet->documents()) {}

  FleetPtr fleet;
  SetResolver sets;
  std::vector<LayerId> current;
  bool entered = false;

  void enter(const std::vector<LayerId>& layers) {
    if (entered && layers == current) return;
    sets.enter(layers);
    current = layers;
    entered = true;
  }

  Resolved resolve(const Matched& matched, bool keep) {
    const auto& documents = fleet->documents();
    enter(matched.layers);
    const LabelView labels(matched.host->labels, matched.profile);
    auto result = sets.resolve(labels, keep);
    Resolved resolved;
    auto faults = sets.faults();
    faults.insert(faults.end(), result.faults.begin(), result.faults.end());
    // While only checking, an absent fact is a dependence and no fault.
    if (keep) faults.insert(faults.end(), result.fact_faults.begin(), result.fact_faults.end());
    if (matched.layers.empty())
      faults.push_back({matched.host->at, "the host matches no layer, so it gets nothing",
                        "give it the labels that a layer's match asks for", true});
    add_findings(documents, faults, matched.host->name, resolved);
    for (const auto id : matched.layers) resolved.layers.push_back(documents.layers[id].name);
    result.missing_facts.insert(matched.missing_facts.begin(), matched.missing_facts.end());
    resolved.missing_facts.assign(result.missing_facts.begin(), result.missing_facts.end());
    if (keep && resolved.errors.empty())
      resolved.manifest = make_manifest(matched.host->name, std::move(result.resources));
    return resolved;
  }

  model::ManifestPtr make_manifest(const std::string& host,
                                   std::vector<model::ResourcePtr> resources) {
    auto manifest = std::make_shared<model::Manifest>();
    manifest->host = host;
    manifest->resources = std::move(resources);
    manifest->source = "fleet " + fleet->root();
    const auto status = model::finish_manifest(*manifest);
    DATUM_ASSERT(status.has_value());  // references are unique by construction
    return manifest;
  }

  void each(const std::vector<std::string>& hosts, const ProfileOf& profile_of,
            const Deliver& deliver, bool keep) {
    for (const auto& name : hosts)
      if (!fleet->has_host(name)) {
        Resolved resolved;
        resolved.errors.push_back(no_such_host(fleet->documents(), name));
        deliver(name, std::move(resolved));
      }
    for (const auto& matched : match_hosts(fleet->documents(), hosts, profile_of))
      deliver(matched.host->name, resolve(matched, keep));
  }
};

Resolver::Resolver(FleetPtr fleet) : impl_(std::make_unique<Impl>(std::move(fleet))) {}
Resolver::~Resolver() = default;
Resolver::Resolver(Resolver&&) noexcept = default;
Resolver& Resolver::operator=(Resolver&&) noexcept = default;

Resolved Resolver::resolve(std::string_view host, const Profile& profile) {
  const auto& documents = impl_->fleet->documents();
  if (const auto* found = find_host(documents, host))
    return impl_->resolve(match_host(documents, *found, profile), true);
  Resolved resolved;
  resolved.errors.push_back(no_such_host(documents, host));
  return resolved;
}

void Resolver::resolve_each(const std::vector<std::string>& hosts, const ProfileOf& profile_of,
                            const Deliver& deliver) {
  impl_->each(hosts, profile_of, deliver, true);
}

void Resolver::check_each(const std::vector<std::string>& hosts, const ProfileOf& profile_of,
                          const Deliver& deliver) {
  impl_->each(hosts, profile_of, deliver, false);
}

Resolved resolve(const FleetPtr& fleet, std::string_view host, const Profile& profile) {
  return Resolver(fleet).resolve(host, profile);
}

}  // namespace datum::fleet
