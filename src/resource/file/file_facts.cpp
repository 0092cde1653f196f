// Capabilities of files.
#include "file_facts.hpp"

#include <algorithm>

namespace datum::resource {

bool loses_capability(os::Files& files, const os::Handle& file, const core::Observation& seen) {
  if (!file) return false;
  const bool drops = std::any_of(seen.drifts.begin(), seen.drifts.end(), [](const auto& drift) {
    return drift.field == "content" || drift.field == "owner" || drift.field == "group";
  });
  if (!drops) return false;
  const auto attributes = files.read_attributes(file);
  return attributes && std::any_of(attributes->begin(), attributes->end(),
                                   [](const auto& one) { return one.name == kCapability; });
}

}  // namespace datum::resource
