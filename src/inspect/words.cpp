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

void add_count(std::string& list, std::size_t count, std::string_view word) {
  if (count == 0) return;
  list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(word);
}

std::string actions_text(const core::PassFinished& finished) {
  std::string text;
  add_count(text, finished.succeeded, "done");
  add_count(text, finished.failed, "failed");
  add_count(text, finished.blocked, "blocked");
  add_count(text, finished.skipped, "skipped");
  add_count(text, finished.not_started, "not started");
  return text;
}

static std::string counted(const core::Counts& counts) {
  std::string text;
  add_count(text, counts.drifted, "drifted");
  add_count(text, counts.unknown, "unknown");
  add_count(text, counts.skipped, "skipped");
  add_count(text, counts.converged, "converged");
  return text;
}

std::string counts_text(const core::Counts& counts) {
  const auto text = counted(counts);
  return text.empty() ? "no resources" : text;
}

std::string counts_text(const core::HostStatus& status) {
  auto text = counted(status.counts);
  add_count(text, status.leaving, "no longer declared and still there");
  add_count(text, status.acknowledged_drifted, "acknowledged");
  return text.empty() ? "no resources" : text;
}

std::string acknowledged_line(const core::Acknowledgements& acknowledged,
                              const model::Target& target) {
  const auto found = acknowledged.find(target);
  if (found == acknowledged.end()) return {};
  const auto& by = found->second;
  auto words = std::string("acknowledged");
  if (!by.actor.name.empty()) words += " by " + by.actor.name;
  if (by.until.ns != 0) words += " until " + text::format_rfc3339(by.until);
  return words + ": " + by.reason;
}

void write_acknowledgement(text::JsonWriter& json, const core::Acknowledgements& acknowledged,
                           const model::Target& target) {
  const auto found = acknowledged.find(target);
  json.key("acknowledged");
  if (found == acknowledged.end()) {
    json.null();
    return;
  }
  const auto& by = found->second;
  json.begin_object()
      .member("by", by.actor.name)
      .member("uid", by.actor.uid)
      .member("reason", by.reason)
      .member("until", by.until.ns == 0 ? std::string() : text::format_rfc3339(by.until))
      .end_object();
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

// Enough of a digest to tell two apart; the whole one stands in the JSON.
static std::string short_digests(std::string_view text) {
  constexpr std::string_view kName = "sha256:";
  constexpr std::size_t kDigits = 64;
  constexpr std::size_t kShown = 12;
  std::string out;
  for (auto at = text.find(kName); at != std::string_view::npos; at = text.find(kName)) {
    const auto digits = text.substr(at + kName.size(), kDigits);
    const bool whole = digits.size() == kDigits &&
                       digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    out.append(text.substr(0, at + kName.size()));
    text.remove_prefix(at + kName.size());
    if (!whole) continue;
    out.append(digits.substr(0, kShown)).append("…");
    text.remove_prefix(kDigits);
  }
  return out.append(text);
}

std::string drift_lines(const std::vector<core::FieldDrift>& drifts, std::size_t indent,
                        std::size_t width) {
  std::size_t widest = 0;
  for (const auto& drift : drifts) widest = std::max(widest, text::width(drift.field));
  std::string lines;
  for (const auto& drift : drifts) {
    const auto change = short_digests(text::escape(drift.observed)) + " -> " +
                        short_digests(text::escape(drift.desired));
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
