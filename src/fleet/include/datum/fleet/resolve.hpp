// From a fleet to the manifest of a host: matching, merging by precedence, substitution, and the
// checks over all resources of the host. Hosts that match the same layers are merged and checked
// once, and share every resource in which nothing differs by host.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/fleet/fleet.hpp"
#include "datum/model/manifest.hpp"

namespace datum::fleet {

struct Resolved {
  model::ManifestPtr manifest;  // null if there is an error, and while only checking
  Findings errors;              // all of them
  Findings warnings;
  std::vector<std::string> layers;  // that the host matches, lowest precedence first
  // Profile facts that are absent and on which the result depends; sorted.
  std::vector<std::string> missing_facts;
};

// One thread. Keeps what hosts share for as long as it lives; results stay valid after it.
class Resolver {
 public:
  explicit Resolver(FleetPtr fleet);
  ~Resolver();
  Resolver(Resolver&&) noexcept;
  Resolver& operator=(Resolver&&) noexcept;

  // A host that the fleet does not have is an error that names the nearest one.
  [[nodiscard]] Resolved resolve(std::string_view host, const Profile& profile = {});

  // Several hosts, those that match the same layers after one another: `deliver` is called once for
  // each, in no order. At most one manifest is held here at a time. `profile_of` may be empty: no
  // facts.
  using ProfileOf = std::function<Profile(std::string_view host)>;
  using Deliver = std::function<void(const std::string& host, Resolved resolved)>;
  void resolve_each(const std::vector<std::string>& hosts, const ProfileOf& profile_of,
                    const Deliver& deliver);
  // The same without manifests and digests of them: errors, warnings, missing facts.
  void check_each(const std::vector<std::string>& hosts, const ProfileOf& profile_of,
                  const Deliver& deliver);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// For a single host.
[[nodiscard]] Resolved resolve(const FleetPtr& fleet, std::string_view host,
                               const Profile& profile = {});

// Content of that manifest by digest: what stands in it, and the files of the fleet that it names.
// Both are shared with the source. A file that changed since it was hashed is `conflict` at the
// first read that shows it, at the latest at its end.
[[nodiscard]] std::unique_ptr<ContentSource> make_content_source(FleetPtr fleet,
                                                                 model::ManifestPtr manifest);

}  // namespace datum::fleet
