#include <algorithm>

#include "datum/inspect/postmortem.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "postmortem_words.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

text::Colour colour_of_action(const ActionStory& action) {
  switch (action.phase) {
    case core::Phase::succeeded:
      return text::Colour::green;
    case core::Phase::failed:
      return text::Colour::red;
    case core::Phase::waiting:
    case core::Phase::announced:
    case core::Phase::blocked:
    case core::Phase::skipped:
    case core::Phase::not_started:
      return text::Colour::yellow;
  }
  return text::Colour::none;
}

std::string offset_text(const PassStory& story, const ActionStory& action) {
  const auto& at = action.announced.seq != 0 ? action.announced : action.ended;
  return at.seq == 0 ? "" : "+" + text::format_duration(offset_ns(story, at));
}

std::string detail(std::string_view name, const std::string& value) {
  return value.empty() ? "" : "      " + pad(name, 9) + " " + value + "\n";
}

std::string records_text(const ActionStory& action) {
  std::string text;
  if (action.announced.seq != 0)
    text += "announced in " + std::to_string(action.announced.seq) + " (wave " +
            std::to_string(action.wave) + ")";
  const auto end = action.recovered ? action.recovered_at.seq : action.ended.seq;
  if (end != 0) text += (text.empty() ? "" : ", ") + ("told in " + std::to_string(end));
  return text;
}

std::string action_text(const PassStory& story, const ActionStory& action, const Style& style) {
  const text::Painter painter(style.colour);
  const auto took = action.duration_ns > 0 ? text::format_duration(action.duration_ns) : "";
  std::string text = "  " + pad(offset_text(story, action), 8) + " " + pad(took, 6) + " " +
                     pad(kind_word(action), 8) + " " +
                     painter.paint(colour_of_action(action), fate_of(action, story)) + "  " +
                     text::escape(name_of(action)) + "\n";
  text += drift_lines(action.changes, 6, style.width);
  if (!action.message.empty() && action.chain.empty())
    text += detail("why", text::escape(action.message));
  if (!action.chain.empty()) text += detail("why", text::escape(chain_text(action, story)));
  if (action.same_as != 0)
    text += detail("first", "the same failure as record " + std::to_string(action.same_as));
  if (!action.output.empty()) text += detail("output", text::escape(action.output));
  if (!action.old_content.empty())
    text += detail("before", "kept as sha256:" + action.old_content.hex());
  if (!action.not_kept.empty())
    text += detail("before", "not kept: " + text::escape(action.not_kept));
  if (!action.atomic) text += detail("how", "written in place, not by a rename");
  if (action.leftover) text += detail("left", "a file of the dead action lay beside it");
  if (action.deaths != 0)
    text += detail("held", "quarantined after " + text::format_count(action.deaths, "death"));
  text += detail("lines", text::escape(action.documents));
  return text + detail("records", records_text(action));
}

bool is_plain(const ActionStory& action) {
  return action.phase == core::Phase::succeeded && !action.recovered && action.output.empty() &&
         action.not_kept.empty();
}

std::string timeline_text(const PassStory& story, const Style& style) {
  std::vector<const ActionStory*> sorted;
  for (const auto& action : story.actions) sorted.push_back(&action);
  const auto key = [](const ActionStory* action) {
    const auto at = action->announced.seq != 0 ? action->announced.seq : action->ended.seq;
    return std::pair(at == 0 ? ~Seq{0} : at, action->ordinal);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&key](const auto* a, const auto* b) { return key(a) < key(b); });
  const auto plain = static_cast<std::size_t>(std::count_if(
      sorted.begin(), sorted.end(), [](const auto* action) { return is_plain(*action); }));
  const bool folds = style.fold && plain >= kFoldFrom;
  std::string text;
  for (const auto* action : sorted)
    if (!folds || !is_plain(*action)) text += action_text(story, *action, style);
  if (folds)
    text += "  " + text::format_count(plain, "action") +
            " done without anything to tell  (--all lists them)\n";
  return text;
}

std::string chains_text(const PassStory& story, const Style& style) {
  std::string text;
  std::size_t count = 0;
  for (const auto& action : story.actions) {
    if (action.phase != core::Phase::blocked) continue;
    if (style.fold && ++count > kFoldFrom) continue;
    text += "  " + text::escape(chain_text(action, story)) + "\n";
  }
  if (count > kFoldFrom)
    text += "  … and " + std::to_string(count - kFoldFrom) + " more  (--all lists them)\n";
  return text;
}

std::string section(std::string_view title, const std::string& body, const Style& style) {
  const text::Painter painter(style.colour);
  return body.empty() ? "" : "\n" + painter.paint(text::Colour::bold, title) + "\n" + body;
}

}  // namespace

std::string postmortem_text(const PassStory& story, const Style& style) {
  const text::Painter painter(style.colour);
  auto text = painter.paint(text::Colour::bold, text::escape(headline(story))) + "\n";
  if (const auto why = explanation(story); !why.empty()) text += "Why: " + text::escape(why) + "\n";
  std::string facts;
  for (const auto& [name, value] : pass_facts(story))
    facts += "  " + pad(name, 10) + " " + text::escape(value) + "\n";
  text += section("What happened", facts, style);
  text += section("What did not happen, because of what", chains_text(story, style), style);
  text += section("Actions", timeline_text(story, style), style);
  std::string notifications;
  for (const auto& one : story.notifications)
    notifications += "  " + text::escape(notification_text(one)) + "\n";
  return text + section("Notifications", notifications, style);
}

}  // namespace datum::inspect
