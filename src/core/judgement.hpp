// Rules that decide and evolve must answer alike. Internal to core.
#pragma once

#include <vector>

#include "datum/core/plan.hpp"
#include "datum/core/state.hpp"

namespace datum::core {

// A success that puts back what somebody else changed: under the same manifest as the last finished
// pass. The first success after a changed declaration is no correction.
[[nodiscard]] bool is_correction(const State& state, ActionKind kind);
// How long after `earlier` `later` was. Within one boot by the clock that does not jump; over a
// reboot by the wall clock, but no less than `later` says its boot had lasted.
[[nodiscard]] std::int64_t elapsed_ns(const Correction& earlier, const Correction& later);
// Whether the newest kContestedAfter of `corrections` lie within kContestedWithinNs.
[[nodiscard]] bool within_contest(const std::vector<Correction>& corrections);
// Whether the target is being fought over at that moment: contested, and not at peace for a day.
[[nodiscard]] bool is_contested_at(const Contest& contest, const Correction& now);
// Whether the hold stands at that time.
[[nodiscard]] bool is_held_at(const State& state, WallNs now);
// This many deaths in a wave of one and the action is quarantined (design §5).
inline constexpr std::uint32_t kQuarantineAfter = 3;
// Causes listed for one pending notification; further ones add nothing that a person would read.
inline constexpr std::size_t kMaxNotificationCauses = 16;
// Whether a raised notification would change what is pending: a new unit, a stronger kind, a cause
// that is not listed yet, or a delivery that may have come too early for it.
[[nodiscard]] bool adds_notification(const PendingNotification* pending, bool restart,
                                     const model::Reference& by);

}  // namespace datum::core
