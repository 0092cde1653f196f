// Looking at many resources in parallel: jobs of bounded size on the pool, at most its width minus
// one at a time, so that something of it stays free for a pass's other work.
#pragma once

#include <memory>
#include <vector>

#include "datum/core/state.hpp"
#include "datum/loop/loop.hpp"
#include "datum/loop/task.hpp"
#include "datum/resource/observer.hpp"

namespace datum::engine {

// A job looks at this many resources or at this much declared content, whichever comes first
// (decision 0023).
inline constexpr std::size_t kJobResources = 256;
inline constexpr std::uint64_t kJobBytes = 8 * 1024 * 1024;

struct Looking {
  std::shared_ptr<const resource::Machine> machine;
  std::shared_ptr<const resource::Declared> declared;
};

// One observation for each of these places in the declared manifest, in the order of the places.
[[nodiscard]] loop::Task<std::vector<core::Observation>> observe_places(
    loop::Loop& loop, Looking with, std::vector<std::size_t> places);
[[nodiscard]] std::vector<std::size_t> all_places(const model::Manifest& manifest);

struct LeavingTarget {
  model::Target target;
  core::Owned owned;
};
// Owned targets that no resource of the manifest declares.
[[nodiscard]] std::vector<LeavingTarget> find_leaving(const core::State& state,
                                                      const model::Manifest& manifest);
[[nodiscard]] loop::Task<std::vector<core::LeavingObservation>> observe_leaving(
    loop::Loop& loop, Looking with, std::vector<LeavingTarget> targets);

}  // namespace datum::engine
