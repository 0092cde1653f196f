// The facts of a pass that status rests on: of the last finished one, or of the one that is just
// being finished. Internal to core.
#pragma once

#include "datum/core/status.hpp"

namespace datum::core {

struct PassFacts {
  bool finished = false;     // there is one
  bool interrupted = false;  // a later one began and did not finish
  DeclarationId declaration;
  Mode mode = Mode::observe;
  bool held = false;    // what lowered the mode was a hold of the local configuration
  bool failed = false;  // an action failed or is blocked
  std::uint32_t observed_only = 0, observed_only_drifted = 0;
  std::uint32_t planned_removals = 0;  // of targets that left the declaration, done or not
  std::uint32_t carried_flags = 0;     // facts that no store holds
  WallNs wall;
};
[[nodiscard]] HostStatus assess(const State& state, const PassFacts& pass,
                                const StatusInput& input);
// Of the last pass that finished and reverted nothing.
[[nodiscard]] PassFacts facts_of_last_pass(const State& state);
[[nodiscard]] Counts count_resources(const State& state);

}  // namespace datum::core
