// What stands behind Resolver, for those of the module that need the parts and not the whole.
// Private to the module; one thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "datum/fleet/resolve.hpp"
#include "set_resolver.hpp"

namespace datum::fleet {

// A host and the layers that it matches.
struct Matched {
  const Host* host = nullptr;
  Profile profile;
  std::vector<LayerId> layers;          // ascending
  std::vector<LayerId> undecided;       // that it could match, if absent facts were known
  std::set<std::string> missing_facts;  // of the matchers
};
[[nodiscard]] Matched match_host(const Documents& documents, const Host& host, Profile profile);
// Of these hosts (those that the fleet does not have are left out), equal layers side by side.
[[nodiscard]] std::vector<Matched> match_hosts(const Documents& documents,
                                               const std::vector<std::string>& hosts,
                                               const Resolver::ProfileOf& profile_of);
[[nodiscard]] Finding no_such_host(const Documents& documents, std::string_view host);
// Sorts by place and parts errors from warnings, each with that host.
void add_findings(const Documents& documents, const Faults& faults, const std::string& host,
                  Resolved& resolved);

}  // namespace datum::fleet
