#include <algorithm>
#include <cstdio>

#include "datum/inspect/postmortem.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "postmortem_page.hpp"
#include "postmortem_words.hpp"
#include "words.hpp"

namespace datum::inspect {

// Colours on white: the palest, #8a5a00 and #5f6368, have a contrast of 5.9 and 6.0 (AA asks for
// 4.5).
const std::string_view kPageStyle =
    ":root{color-scheme:light}"
    "body{margin:0;background:#fff;color:#1c1c1c;font:16px/1.5 system-ui,sans-serif;"
    "overflow-wrap:anywhere}"
    "main{max-width:70rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.35rem;line-height:1.35;margin:.2em 0}h2{font-size:1.1rem;margin:1.6em 0 .4em}"
    ".why{border-left:4px solid #b3261e;padding:.3em 0 .3em .8em;margin:.8em 0;font-size:1.05rem}"
    "dl{margin:0;display:grid;grid-template-columns:7rem 1fr;gap:.2em .8em}"
    "dt{font-weight:600}dd{margin:0}"
    "@media(max-width:600px){dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .5em}}"
    "figure{margin:0;max-width:44rem}svg{width:100%;height:auto;display:block}"
    "svg text{font:10px system-ui,sans-serif;fill:#1c1c1c}"
    ".d rect{fill:#1b7f3b}.f rect{fill:#b3261e}.r rect{fill:#0b57a4}.b rect{fill:#8a5a00}"
    ".s rect{fill:#6b4fa0}.n rect,.w rect{fill:#5f6368}"
    ".l{fill:none;stroke:#767676;stroke-width:.7}"
    ".x path{stroke:#b3261e;stroke-width:1.4;stroke-dasharray:3 2}.x text{fill:#b3261e}"
    ".o path{stroke:#0b57a4;stroke-width:1.4}.o text{fill:#0b57a4}"
    "ol.a{list-style:none;margin:0;padding:0}"
    ".a li{border-top:1px solid #d0d0d0;padding:.45em 0;content-visibility:auto;"
    "contain-intrinsic-size:auto 6rem}"
    ".a p{margin:0}.a b{font-weight:600}.d b{color:#1b7f3b}.f b{color:#b3261e}.r b{color:#0b57a4}"
    ".b b{color:#8a5a00}.s b{color:#6b4fa0}.n b,.w b{color:#5f6368}"
    ".t{background:#eee;height:6px;margin:.25em 0;position:relative}"
    ".t i{position:absolute;top:0;bottom:0;min-width:3px;background:#5f6368}"
    ".d i{background:#1b7f3b}.f i{background:#b3261e}.r i{background:#0b57a4}"
    ".b i{background:#8a5a00}.s i{background:#6b4fa0}"
    "small{color:#4a4a4a;font-size:.85rem}a{color:#0b57a4}"
    "pre{white-space:pre-wrap;background:#f4f4f4;padding:.5em;margin:.3em 0;font-size:.85rem}"
    "footer{border-top:1px solid #d0d0d0;margin-top:2em;padding-top:.6em;font-size:.85rem;"
    "color:#4a4a4a}";

namespace {

std::string markup(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  return safe;
}

// Of plain successes: enough to recognise a digest by; the record has all of it.
std::string shortened(const std::string& value) {
  constexpr std::string_view kStart = "sha256:";
  constexpr std::size_t kShown = kStart.size() + 12;
  constexpr std::size_t kWhole = kStart.size() + 64;
  if (!value.starts_with(kStart) || value.size() < kWhole) return value;
  return value.substr(0, kShown) + "…" + value.substr(kWhole);
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f%%", share * 100);
  return text;
}

std::string paragraph(std::string_view name, const std::string& value) {
  return value.empty() ? "" : "<p>" + std::string(name) + html(value);
}

std::string changes_html(const ActionStory& action) {
  const bool brief = action.phase == core::Phase::succeeded && !action.recovered;
  std::string text;
  for (const auto& change : action.changes) {
    const auto before = brief ? shortened(change.observed) : change.observed;
    const auto after = brief ? shortened(change.desired) : change.desired;
    text += "<p>" + html(change.field) + ": " + html(before) + " → " + html(after);
  }
  return text;
}

std::string record_facts(const PassStory& story, const ActionStory& action) {
  std::string text = "#" + std::to_string(action.ordinal);
  const auto& at = action.announced.seq != 0 ? action.announced : action.ended;
  if (at.seq != 0) text += " · +" + text::format_duration(offset_ns(story, at));
  if (action.duration_ns > 0) text += " · took " + text::format_duration(action.duration_ns);
  if (action.wave != 0)
    text += " · wave " + std::to_string(action.wave) + ", announced in record " +
            std::to_string(action.announced.seq);
  const auto end = action.recovered ? action.recovered_at.seq : action.ended.seq;
  if (end != 0) text += " · told in record " + std::to_string(end);
  if (action.same_as != 0)
    text += " · the same failure as record " + std::to_string(action.same_as);
  if (!action.documents.empty()) text += " · " + html(action.documents);
  for (std::size_t i = 0; i < action.after.size(); ++i) {
    const auto ordinal = std::to_string(action.after[i]);
    text += (i == 0 ? " · after " : ", ") + ("<a href=#a" + ordinal + ">#" + ordinal + "</a>");
  }
  return text;
}

std::string action_html(const PassStory& story, const ActionStory& action, const Scale& scale) {
  std::string text = "<li id=a" + std::to_string(action.ordinal) + " class=" + class_of(action) +
                     "><p><b>" + html(fate_of(action, story)) + "</b> " +
                     std::string(kind_word(action)) + " " + html(name_of(action));
  if (action.privileged) text += " (changes accounts or privileges)";
  const auto span = span_of(action, scale);
  if (span.drawn)
    text += "<div class=t><i style=left:" + percent(span.begin) +
            ";width:" + percent(span.end - span.begin) + "></i></div>";
  text += changes_html(action);
  if (action.chain.empty())
    text += paragraph("Why: ", action.message);
  else
    text += paragraph("Why: ", chain_text(action, story));
  if (!action.output.empty()) text += "<pre>" + html_lines(action.output) + "</pre>";
  if (!action.old_content.empty())
    text += "<p>Old content kept as sha256:" + (action.phase == core::Phase::succeeded
                                                    ? action.old_content.hex().substr(0, 12) + "…"
                                                    : action.old_content.hex());
  text += paragraph("Old content not kept: ", action.not_kept);
  if (!action.atomic) text += "<p>Written in place, not by a rename";
  if (action.leftover) text += "<p>A file of the dead action lay beside it";
  if (action.deaths != 0)
    text += "<p>Quarantined after " + text::format_count(action.deaths, "death");
  return text + "<p><small>" + record_facts(story, action) + "</small>\n";
}

std::string head_html(const PassStory& story) {
  return "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
         "content='width=device-width, initial-scale=1'><meta http-equiv=Content-Security-Policy "
         "content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=referrer "
         "content=no-referrer><title>" +
         html("Pass " + std::to_string(story.pass) + " on " + story.host) + "</title><style>" +
         std::string(kPageStyle) + "</style></head>\n<body><main>\n";
}

std::string facts_html(const PassStory& story) {
  std::string text = "<h2>What happened</h2>\n<dl>";
  for (const auto& [name, value] : pass_facts(story))
    text += "<dt>" + html(name) + "<dd>" + html(value) + "\n";
  return text + "</dl>\n";
}

std::string chains_html(const PassStory& story) {
  std::string items;
  for (const auto& action : story.actions)
    if (action.phase == core::Phase::blocked)
      items += "<li><a href=#a" + std::to_string(action.ordinal) + ">#" +
               std::to_string(action.ordinal) + "</a> " + html(chain_text(action, story)) + "\n";
  return items.empty() ? ""
                       : "<h2>What did not happen, because of what</h2>\n<ul>" + items + "</ul>\n";
}

std::string actions_html(const PassStory& story) {
  if (story.actions.empty()) return {};
  const Scale scale(story);
  std::string text = "<h2>Actions</h2>\n<ol class=a>\n";
  for (const auto& action : story.actions) text += action_html(story, action, scale);
  return text + "</ol>\n";
}

std::string notifications_html(const PassStory& story) {
  if (story.notifications.empty()) return {};
  std::string text = "<h2>Notifications</h2>\n<ul>";
  for (const auto& one : story.notifications) text += "<li>" + html(notification_text(one)) + "\n";
  return text + "</ul>\n";
}

}  // namespace

std::string html(std::string_view untrusted) {
  return markup(text::escape(untrusted));
}

std::string html_lines(std::string_view untrusted) {
  return markup(text::escape_lines(untrusted));
}

Scale::Scale(const PassStory& story) : story_(story) {
  const auto whole = std::max<std::int64_t>(1, length_ns(story));
  first_ = static_cast<double>(whole);
  if (!story.interruption || story.interruption->reopened.seq == 0) return;
  has_break_ = true;
  const auto& cut = *story.interruption;
  const auto until = offset_ns(story, cut.last);
  const auto resumed = offset_ns(story, cut.reopened);
  first_ = static_cast<double>(std::max<std::int64_t>(1, until));
  rest_ = static_cast<double>(std::max<std::int64_t>(1, whole - resumed));
}

double Scale::at(const core::EventPlace& place) const {
  const auto offset = offset_ns(story_, place);
  const auto share = [](double part) { return std::clamp(part, 0.0, 1.0); };
  if (!has_break_) return share(static_cast<double>(offset) / first_);
  const auto& cut = *story_.interruption;
  if (place.seq <= cut.last.seq) return kLast * share(static_cast<double>(offset) / first_);
  const auto since = static_cast<double>(offset - offset_ns(story_, cut.reopened));
  return kResume + (1 - kResume) * share(since / rest_);
}

Span span_of(const ActionStory& action, const Scale& scale) {
  // What recovery found ended with the run, not when somebody looked.
  const auto& end = action.ended;
  if (action.announced.seq == 0 && end.seq == 0) return {};
  Span span;
  span.drawn = true;
  span.begin = scale.at(action.announced.seq != 0 ? action.announced : end);
  if (end.seq != 0)
    span.end = scale.at(end);
  else
    span.end = scale.has_break() ? Scale::kBreak : 1;
  span.end = std::max(span.begin, span.end);
  return span;
}

char class_of(const ActionStory& action) {
  if (action.recovered) return 'r';
  switch (action.phase) {
    case core::Phase::succeeded:
      return 'd';
    case core::Phase::failed:
      return 'f';
    case core::Phase::blocked:
      return 'b';
    case core::Phase::skipped:
      return 's';
    case core::Phase::not_started:
      return 'n';
    case core::Phase::waiting:
    case core::Phase::announced:
      return 'w';
  }
  return 'w';
}

std::string postmortem_html(const PassStory& story) {
  auto page = head_html(story) + "<h1>" + html(headline(story)) + "</h1>\n";
  if (const auto why = explanation(story); !why.empty())
    page += "<p class=why><strong>Why:</strong> " + html(why) + "</p>\n";
  page += facts_html(story);
  if (const auto drawing = timeline_svg(story); !drawing.empty())
    page += "<h2>Timeline</h2>\n<figure>" + drawing +
            "</figure>\n<p><small>Green: done. Red: failed. Blue: cut off, then looked at by "
            "recovery. Brown: blocked. Violet: skipped. Grey: not begun or without an end. Thin "
            "lines: what had to come first.</small></p>\n";
  page += chains_html(story) + actions_html(story) + notifications_html(story);
  return page + "<footer>From the journal of store " + html(story.store.hex()) +
         ", which ends with record " + std::to_string(story.head) +
         ". `datum journal show N` shows a record.</footer>\n</main></body></html>\n";
}

}  // namespace datum::inspect
