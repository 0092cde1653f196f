#include <algorithm>
#include <cstdio>

#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "postmortem_page.hpp"
#include "postmortem_words.hpp"

namespace datum::inspect {

namespace {

// More rows than this are drawn as waves: nobody reads bars a fraction of a pixel high.
constexpr std::size_t kMaxRows = 150;
constexpr double kWidth =
    340;  // about the pixels of the narrowest screen, so that letters are read
constexpr double kLeft = 36;
constexpr double kRight = 6;
constexpr double kTop = 18;
constexpr double kRow = 13;
constexpr double kBar = 9;

struct Row {
  std::string label;
  std::string title;
  char letter = 'w';
  Span span;
  const ActionStory* action = nullptr;  // null: a wave
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

double x_of(double share) {
  return kLeft + share * (kWidth - kLeft - kRight);
}
double y_of(std::size_t row) {
  return kTop + static_cast<double>(row) * kRow;
}

Row row_of(const PassStory& story, const ActionStory& action, const Scale& scale) {
  return {"#" + std::to_string(action.ordinal), name_of(action) + ": " + fate_of(action, story),
          class_of(action), span_of(action, scale), &action};
}

bool is_worse(char a, char b) {
  constexpr std::string_view kWorstFirst = "frbsnwd";
  return kWorstFirst.find(a) < kWorstFirst.find(b);
}

std::vector<Row> wave_rows(const PassStory& story, const Scale& scale) {
  std::map<std::uint32_t, Row> waves;
  std::map<std::uint32_t, std::size_t> counts;
  for (const auto& action : story.actions) {
    const auto span = span_of(action, scale);
    if (action.wave == 0 || !span.drawn) continue;
    auto [at, is_new] = waves.try_emplace(action.wave);
    auto& row = at->second;
    if (is_new) row = {"w" + std::to_string(action.wave), {}, 'd', span, nullptr};
    row.span.begin = std::min(row.span.begin, span.begin);
    row.span.end = std::max(row.span.end, span.end);
    if (is_worse(class_of(action), row.letter)) row.letter = class_of(action);
    ++counts[action.wave];
  }
  std::vector<Row> rows;
  for (auto& [wave, row] : waves) {
    row.title = "wave " + std::to_string(wave) + ", " + text::format_count(counts[wave], "action");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> make_rows(const PassStory& story, const Scale& scale) {
  std::vector<Row> rows;
  if (story.actions.size() > kMaxRows) rows = wave_rows(story, scale);
  if (rows.size() > kMaxRows) rows.resize(kMaxRows);
  const bool all = story.actions.size() <= kMaxRows;
  for (const auto& action : story.actions) {
    if (rows.size() >= 2 * kMaxRows) break;
    if (all || action.phase != core::Phase::succeeded || action.recovered)
      rows.push_back(row_of(story, action, scale));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.span.drawn != b.span.drawn) return a.span.drawn;
    return a.span.begin < b.span.begin;
  });
  return rows;
}

std::string bar(const Row& row, std::size_t place) {
  const auto y = y_of(place);
  std::string svg = "<g class=" + std::string(1, row.letter) + "><title>" + html(row.title) +
                    "</title><text x=0 y=" + number(y + kBar - 1) + ">" + html(row.label) +
                    "</text>";
  if (row.span.drawn) {
    constexpr double kNarrowest = 2.5;
    const auto begin = x_of(row.span.begin);
    const auto width = std::max(kNarrowest, x_of(row.span.end) - begin);
    svg += "<rect x=" + number(begin) + " y=" + number(y) + " width=" + number(width) +
           " height=" + number(kBar) + " rx=1.5 />";
  }
  return svg + "</g>";
}

// From the end of what had to come first to the beginning of what waited for it.
std::string links(const std::vector<Row>& rows) {
  std::map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].action != nullptr && rows[i].span.drawn) places[rows[i].action->ordinal] = i;
  std::string svg;
  for (const auto& [ordinal, place] : places)
    for (const auto before : rows[place].action->after) {
      const auto source = places.find(before);
      if (source == places.end()) continue;
      const auto x1 = x_of(rows[source->second].span.end);
      const auto x2 = x_of(rows[place].span.begin);
      const auto y1 = y_of(source->second) + kBar / 2;
      const auto y2 = y_of(place) + kBar / 2;
      const auto bend = std::max(x1, x2) + 5;
      svg += "<path class=l d='M" + number(x1) + " " + number(y1) + "C" + number(bend) + " " +
             number(y1) + " " + number(bend) + " " + number(y2) + " " + number(x2) + " " +
             number(y2) + "'/>";
    }
  return svg;
}

std::string mark(double share, const char* letter, const std::string& label, double bottom,
                 bool left) {
  const auto x = number(x_of(share));
  return "<g class=" + std::string(letter) + "><path d='M" + x + " 12V" + number(bottom) +
         "'/><text y=9 x=" + x + (left ? " text-anchor=end" : "") + ">" + html(label) +
         "</text></g>";
}

std::string marks(const PassStory& story, const Scale& scale, double bottom) {
  if (!story.interruption) return {};
  const auto& cut = *story.interruption;
  if (!scale.has_break())
    return mark(1, "x", cut.recorded.seq == 0 ? "no end recorded" : "ended early", bottom, true);
  return mark(Scale::kBreak, "x", "cut off", bottom, true) +
         mark(Scale::kResume, "o", "opened again", bottom, false);
}

}  // namespace

std::string timeline_svg(const PassStory& story) {
  const Scale scale(story);
  const auto rows = make_rows(story, scale);
  if (rows.empty()) return {};
  const auto bottom = y_of(rows.size());
  std::string svg =
      "<svg viewBox='0 0 " + number(kWidth) + " " + number(bottom + 4) +
      "' role=img aria-label='Timeline of the actions; every fact of it stands in the "
      "list below'>";
  svg += links(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) svg += bar(rows[i], i);
  return svg + marks(story, scale, bottom) + "</svg>";
}

}  // namespace datum::inspect
