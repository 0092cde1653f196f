// Events and plans without what people wrote or programs said: for a journal that is given to
// somebody else. What happened to which target and when stays; values, messages, output, reasons
// and names of people go. Pure, any thread.
#pragma once

#include <map>
#include <string_view>

#include "datum/core/event.hpp"
#include "datum/core/plan.hpp"

namespace datum::codec {

// What stands in the place of a text that was not empty.
inline constexpr std::string_view kRedacted = "(redacted)";

// Leaves references, targets, kinds, counts, times, digests, versions, host and root as they are. A
// digest of a plan that `plans` names is replaced, since a redacted plan has another one.
void redact_event(core::Event& event, const std::map<Digest, Digest>& plans);
void redact_plan(core::Plan& plan);

}  // namespace datum::codec
