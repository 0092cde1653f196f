// What the looks of a reverting pass say of declared resources. Such a pass looks at what an
// earlier one left and not at what is declared: it can contradict that a resource is as declared,
// and never confirm it. Pure.
#pragma once

#include <span>
#include <vector>

#include "datum/core/observation.hpp"
#include "datum/core/reversal.hpp"
#include "datum/core/state.hpp"

namespace datum::core {

// The resources that the state takes for converged and that are not as Datum left them last:
// drifted where what was enforced is still what is declared and what differs is part of it, unknown
// where only a look at the declaration can tell. `looks` is sorted by target. Each has its reason,
// and a digest of zero: the next observation of it is news, whatever it is. For a
// RecordObservations that is partial.
[[nodiscard]] std::vector<Observation> contradicted_by(const State& state, const Reversal& reversal,
                                                       std::span<const LeavingObservation> looks);

}  // namespace datum::core
