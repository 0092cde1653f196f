#include "observed.hpp"

#include <algorithm>

namespace datum::inspect {

core::Observation observation_of(const core::ResourceObserved& event) {
  core::Observation seen;
  seen.reference = event.reference;
  seen.target = event.target;
  seen.condition = event.condition;
  seen.found = event.found;
  seen.drifts = event.drifts;
  seen.reason = event.reason;
  seen.obstacle = event.obstacle;
  seen.obstacle_detail = event.detail;
  seen.missing_parent = event.missing_parent;
  for (const auto& entry : event.not_declared)
    seen.purge.push_back(
        {entry.name, entry.found, {}, entry.removable, entry.is_drift, entry.reason});
  if (event.not_declared_more != 0)
    seen.reason = seen.reason + (seen.reason.empty() ? "" : "; ") +
                  std::to_string(event.not_declared_more) +
                  " more entries that are not declared are not recorded";
  seen.content = event.content;
  seen.digest = event.observation;
  return seen;
}

static core::Observation known_of(const model::Target& target,
                                  const core::ResourceState& resource) {
  core::Observation seen;
  seen.reference = resource.reference;
  seen.target = target;
  seen.condition = resource.condition;
  seen.found = resource.found;
  seen.digest = resource.observation;
  return seen;
}

Result<std::vector<core::Observation>> read_observations(journal::Reader& reader,
                                                         const core::State& state, bool all) {
  std::vector<core::Observation> seen;
  for (const auto& [target, resource] : state.resources) {
    if (!all && resource.condition == core::Condition::converged) {
      seen.push_back(known_of(target, resource));
      continue;
    }
    const auto stored = history::read_event(reader, resource.observed_at);
    if (!stored && stored.error().code() != ErrorCode::not_found) return fail(stored.error());
    const auto* event = stored ? std::get_if<core::ResourceObserved>(&stored->event) : nullptr;
    seen.push_back(event == nullptr ? known_of(target, resource) : observation_of(*event));
    if (!stored)
      seen.back().reason =
          "record " + std::to_string(resource.observed_at) + ", which tells more, is archived";
  }
  std::sort(seen.begin(), seen.end(),
            [](const auto& a, const auto& b) { return a.reference < b.reference; });
  return seen;
}

}  // namespace datum::inspect
