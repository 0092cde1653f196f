// `datum affected`: which hosts a change of the fleet reaches, and what it does to them.
#pragma once

#include <string>
#include <vector>

#include "datum/fleet/resolve.hpp"

namespace datum::fleet {

enum class Change : std::uint8_t { added, removed, changed };
[[nodiscard]] std::string_view to_string(Change change);

struct ResourceChange {
  model::Reference reference;
  Change change = Change::changed;
  std::vector<std::string> fields;  // of a changed one: names of fields and common keys that differ
  bool enforcement_begins = false;  // `policy: observe` left it
};

struct HostChange {
  std::string host;
  Change change = Change::changed;        // of the host itself
  Digest before;                          // empty if the host is new
  Digest after;                           // empty if it is gone
  std::vector<ResourceChange> resources;  // sorted by reference
};

struct Affected {
  std::vector<HostChange> hosts;  // sorted by name; those with equal manifests are left out
  Findings errors;                // of either fleet; the hosts that have some are not compared
  std::size_t compared = 0;
};

// From `before` to `after`. Hosts are compared by the digests of their resources.
[[nodiscard]] Affected affected(const FleetPtr& before, const FleetPtr& after,
                                const Profile& profile = {});

struct Touched {
  std::string file;                // as given, relative to the root
  bool known = false;              // the fleet reads it, as a document or as a source
  std::vector<std::string> hosts;  // sorted
};
// Hosts whose manifest rests on one of these files: a document of theirs, of a layer they match, a
// source or a template. `datum.yaml` reaches every host.
[[nodiscard]] std::vector<Touched> touched_hosts(const FleetPtr& fleet,
                                                 const std::vector<std::string>& files,
                                                 const Profile& profile = {});

}  // namespace datum::fleet
