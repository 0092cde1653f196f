// The story of a pass as somebody needs it at night: first what happened and why, then the chain of
// causes, then every detail with the records it rests on. As text, as JSON lines
// (docs/reference/json.md) and as one self-contained page.
#pragma once

#include <string>

#include "datum/inspect/pass_story.hpp"
#include "datum/inspect/report.hpp"

namespace datum::inspect {

// Runs of actions that were simply done are folded unless `style.fold` is false.
[[nodiscard]] std::string postmortem_text(const PassStory& story, const Style& style);
// One object for the pass, one for each action, one for each notification.
[[nodiscard]] std::string postmortem_json(const PassStory& story);
// HTML without script and without a reference to anything outside. Texts of the journal are shown,
// never obeyed. At most 5 MB for 10,000 actions with usual paths.
[[nodiscard]] std::string postmortem_html(const PassStory& story);

}  // namespace datum::inspect
