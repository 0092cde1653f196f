// Ownership of single targets: what is recorded of them and when it still holds.
#include "ownership.hpp"

#include <algorithm>

namespace datum::core {

std::vector<model::Target> requirement_targets(const model::Manifest& manifest,
                                               const model::Resource& resource) {
  std::vector<model::Target> targets;
  for (const auto& reference : resource.requirements)
    if (const auto* required = manifest.find(reference)) targets.push_back(required->target);
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  std::size_t bytes = 0;
  std::size_t kept = 0;
  while (kept < targets.size() && kept < kMaxRequirements) {
    bytes += targets[kept].name.size();
    if (bytes > kMaxRequirementBytes) break;
    ++kept;
  }
  targets.resize(kept);
  return targets;
}

bool record_differs(const Owned& owned, const model::Resource& resource,
                    const std::vector<model::Target>& requirements) {
  return owned.reference != resource.reference || owned.protect != resource.protect ||
         owned.requirements != requirements;
}

Left left_of(const Observation& observation) {
  return {observation.found, observation.identity.device, observation.identity.inode,
          observation.content};
}

std::string describe_change(const Left& left, Found found, const Identity& identity,
                            const Digest& content) {
  if (left.found != found)
    return std::string(to_string(left.found)).append(" then, ").append(to_string(found)) + " now";
  // Not by the device: the same disk has another number after a reboot, or beside another disk.
  if (left.inode != identity.inode) return "another object in its place";
  if (left.content != content) return "its content";
  return {};
}

}  // namespace datum::core
