// The sentences of a post-mortem, unescaped and without layout; text and page share them. Internal
// to inspect.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datum/inspect/pass_story.hpp"

namespace datum::inspect {

// "Pass 12 on web1 was cut off by a crash while 5 actions were under way: 20 done, 15 not begun."
[[nodiscard]] std::string headline(const PassStory& story);
// What explains it, in one or two sentences. Empty: nothing went wrong.
[[nodiscard]] std::string explanation(const PassStory& story);
// Name and value, in the order in which they happened: began, mode, declared, plan, … recovery.
using Facts = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Facts pass_facts(const PassStory& story);

// "done", "failed", "under way when it was cut off", "took effect, says recovery", …
[[nodiscard]] std::string fate_of(const ActionStory& action, const PassStory& story);
// "File[c] /c is blocked by File[b] /b, which is blocked by File[a] /a, which failed: …"
[[nodiscard]] std::string chain_text(const ActionStory& action, const PassStory& story);
[[nodiscard]] std::string_view kind_word(const ActionStory& action);
[[nodiscard]] std::string name_of(const ActionStory& action);  // "File[a] /a"
[[nodiscard]] std::string notification_text(const NotificationStory& notification);

[[nodiscard]] std::string time_text(const core::EventPlace& place);  // with milliseconds
// From the beginning of the pass, by the clock that counts suspend within one boot, else by the
// wall. Never negative.
[[nodiscard]] std::int64_t offset_ns(const PassStory& story, const core::EventPlace& place);
// Of the last record that belongs to the pass.
[[nodiscard]] std::int64_t length_ns(const PassStory& story);

}  // namespace datum::inspect
