// Packages bring files, accounts and units along: what the plan saw before them is looked at again
// before its action, and the action is made anew from that. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "datum/core/plan.hpp"

namespace datum::core {

// Whether a package action of the plan has run, so that what was seen before it may not hold.
[[nodiscard]] bool has_run_packages(const Plan& plan, std::span<const Phase> phases);

// The plan with the actions of `ordinals` as `input.observations` now ask for; only observations of
// their resources need be given. Each keeps its place and what must come before it. What is as
// declared by now is `adopt`, or `release` where it was to go; what cannot be done any more has its
// refusal. Actions on entries of folders and on what left the declaration stay as they are.
[[nodiscard]] Plan plan_again(const PlanInput& input, const Plan& plan,
                              std::span<const std::uint32_t> ordinals);

}  // namespace datum::core
