// What a success of a reverting pass means, the same where it was told and where recovery found it.
// Internal to core.
#pragma once

#include "datum/core/reversal.hpp"
#include "decisions.hpp"

namespace datum::core {

// The records that stand before the success: ownership as it was, what the units have to be told
// of, and that the target is only observed from now on.
void append_undone(const State& state, const Reversal& reversal, const Undo& undo, Raiser& raiser,
                   Events& events);
// The same of a target that was found as it was before: nothing was done, and nobody is told.
void append_undone_already(const State& state, const Reversal& reversal, const Undo& undo,
                           Events& events);
// The condition of the declared resource, as far as it is known without a look.
[[nodiscard]] Condition condition_undone(const State& state, const Reversal& reversal,
                                         const model::Target& target);

}  // namespace datum::core
