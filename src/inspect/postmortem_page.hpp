// The page of a post-mortem in parts: its style, its drawing, and what both rows and drawing share.
// Internal to inspect.
#pragma once

#include <string>
#include <string_view>

#include "datum/inspect/pass_story.hpp"

namespace datum::inspect {

// Text of the journal as text of the page: controls and bidirectional characters visible, markup
// inert, in attributes too.
[[nodiscard]] std::string html(std::string_view untrusted);
// The same for many lines.
[[nodiscard]] std::string html_lines(std::string_view untrusted);

// Style sheet: readable at 360 pixels without a horizontal scroll, contrast AA.
extern const std::string_view kPageStyle;

// Where a place lies between the beginning (0) and the end (1) of what is drawn. How long the run
// went on after its last record nobody knows, and the time until the next run says nothing of the
// pass: both are drawn at a fixed length.
class Scale {
 public:
  explicit Scale(const PassStory& story);
  [[nodiscard]] double at(const core::EventPlace& place) const;
  [[nodiscard]] bool has_break() const { return has_break_; }
  static constexpr double kLast = 0.58;    // the last record before the break
  static constexpr double kBreak = 0.74;   // the break is drawn from here …
  static constexpr double kResume = 0.84;  // … to here

 private:
  const PassStory& story_;
  bool has_break_ = false;
  double first_ = 1;  // nanoseconds before the break
  double rest_ = 1;   // and after it
};

struct Span {
  double begin = 0;
  double end = 0;
  bool drawn = false;  // an action that nothing was recorded of has no place in time
};
[[nodiscard]] Span span_of(const ActionStory& action, const Scale& scale);
// One letter for the style sheet.
[[nodiscard]] char class_of(const ActionStory& action);

// The drawing: a bar for each action (for each wave, where there are many), what waited for what,
// the break and the resumption.
[[nodiscard]] std::string timeline_svg(const PassStory& story);

}  // namespace datum::inspect
