// What waves of accounts, packages, units, mounts and timers have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "datum/resource/wave.hpp"

namespace datum::resource {

// What the action is about; null if it left the declaration.
inline const model::Resource* find_resource(const Declared& declared, const core::Action& action) {
  if (action.kind == core::ActionKind::leave) return nullptr;
  return declared.manifest->find(action.reference);
}

// What a look after a failure showed (an Observation or a LeavingObservation); nothing where it
// showed nothing.
template <class Seen>
std::optional<core::Remains> remains_of(const Seen& seen) {
  if (seen.found == core::Found::unseen) return std::nullopt;
  const core::Left left{seen.found, seen.identity.device, seen.identity.inode, seen.content};
  return core::Remains{left, seen.traces, false};
}

// One `Work` for each action, with the action and its declared resource: null if it left the
// declaration.
template <class Work>
std::vector<Work> make_works(const Declared& declared, const core::Plan& plan,
                             const std::vector<std::uint32_t>& ordinals) {
  std::vector<Work> works;
  for (const auto ordinal : ordinals) {
    Work work;
    work.action = &plan.actions[ordinal];
    work.resource = find_resource(declared, *work.action);
    works.push_back(std::move(work));
  }
  return works;
}

// What it was before stands in the plan.
template <class Work>
std::vector<Prepared> prepare_without_content(const std::vector<Work>& works) {
  std::vector<Prepared> prepared;
  for (const auto& work : works) {
    Prepared one;
    one.ordinal = work.action->ordinal;
    one.before = work.action->found;
    prepared.push_back(std::move(one));
  }
  return prepared;
}

}  // namespace datum::resource
