#include "words.hpp"

#include <algorithm>

#include "datum/text/human.hpp"

namespace datum::inspect {

text::Colour colour_of(core::Condition condition) {
  switch (condition) {
    case core::Condition::converged:
      return text::Colour::green;
    case core::Condition::drifted:
      return text::Colour::yellow;
    case core::Condition::unknown:
      return text::Colour::red;
    case core::Condition::skipped:
      return text::Colour::dim;
  }
  return text::Colour::none;
}

std::string_view phase_word(core::Phase phase) {
  switch (phase) {
    case core::Phase::waiting:
      return "waiting";
    case core::Phase::announced:
      return "announced";
    case core::Phase::succeeded:
      return "done";
    case core::Phase::failed:
      return "failed";
    case core::Phase::blocked:
      return "blocked";
    case core::Phase::skipped:
      return "skipped";
    case core::Phase::not_started:
      return "not started";
  }
  return "waiting";
}

std::string field_list(const std::vector<core::FieldDrift>& drifts) {
  std::string list;
  for (const auto& drift : drifts) list += (list.empty() ? "" : ", ") + drift.field;
  return list;
}

std::string counts_text(const core::Counts& counts) {
  std::string text;
  const auto add = [&text](std::uint32_t count, std::string_view word) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(word);
  };
  add(counts.drifted, "drifted");
  add(counts.unknown, "unknown");
  add(counts.skipped, "skipped");
  add(counts.converged, "converged");
  return text.empty() ? "no resources" : text;
}

std::string flags_text(std::uint32_t flags) {
  std::string text;
  for (const auto flag : core::flags_in(flags))
    text += (text.empty() ? "" : ", ") + std::string(core::to_string(flag));
  return text;
}

std::string pad(std::string_view text, std::size_t columns) {
  std::string padded(text);
  const std::size_t width = text::width(text);
  if (width < columns) padded.append(columns - width, ' ');
  return padded;
}

std::string drift_lines(const std::vector<core::FieldDrift>& drifts, std::size_t indent,
                        std::size_t width) {
  std::size_t widest = 0;
  for (const auto& drift : drifts) widest = std::max(widest, text::width(drift.field));
  std::string lines;
  for (const auto& drift : drifts) {
    const auto change = text::escape(drift.observed) + " -> " + text::escape(drift.desired);
    const auto line = std::string(indent, ' ') + pad(drift.field, widest) + "  " + change;
    lines += text::fit(line, std::max<std::size_t>(width, 40)) + "\n";
  }
  return lines;
}

void write_drifts(text::JsonWriter& json, const std::vector<core::FieldDrift>& drifts) {
  json.begin_array();
  for (const auto& drift : drifts)
    json.begin_object()
        .member("field", drift.field)
        .member("observed", drift.observed)
        .member("desired", drift.desired)
        .end_object();
  json.end_array();
}

void write_flags(text::JsonWriter& json, std::uint32_t flags) {
  json.begin_array();
  for (const auto flag : core::flags_in(flags)) json.value(core::to_string(flag));
  json.end_array();
}

}  // namespace datum::inspect
