// What contested targets were corrected from.
#include "contest_report.hpp"

#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

// Far more records than the corrections of a day have; a target's whole history may be long.
constexpr Seq kRecent = 20'000;
constexpr std::size_t kEvents = 1'000'000;

std::vector<ContestLine::Corrected> newest_corrections(
    const std::vector<history::StoredEvent>& events, Seq through) {
  std::vector<ContestLine::Corrected> corrections;
  std::vector<core::FieldDrift> from;
  for (const auto& stored : events) {
    if (stored.place.seq > through) break;
    if (const auto* seen = std::get_if<core::ResourceObserved>(&stored.event)) {
      if (seen->condition == core::Condition::drifted) from = seen->drifts;
    } else if (std::holds_alternative<core::ActionSucceeded>(stored.event)) {
      corrections.push_back({stored.place.wall, stored.place.seq, std::exchange(from, {})});
    }
  }
  if (corrections.size() > core::kContestedAfter)
    corrections.erase(corrections.begin(), corrections.end() - core::kContestedAfter);
  return corrections;
}

std::string drifts_text(const std::vector<core::FieldDrift>& drifts) {
  if (drifts.empty()) return "what was recorded earlier";
  std::string text;
  for (const auto& drift : drifts)
    text += (text.empty() ? "" : ", ") + drift.field + " " + text::escape(drift.observed);
  return text;
}

Result<ContestLine> read_contest(journal::Reader& reader, const core::State& state,
                                 const model::Target& target) {
  ContestLine line;
  line.target = target;
  if (const auto known = state.resources.find(target); known != state.resources.end())
    line.reference = known->second.reference;
  const Seq recent = state.seq > kRecent ? state.seq - kRecent : 1;
  for (const Seq from : {recent, Seq{1}}) {
    DATUM_ASSIGN(const auto events, history::find_target(reader, target, from, kEvents));
    line.corrections = newest_corrections(events, state.seq);
    if (line.corrections.size() >= core::kContestedAfter || from == 1) break;
  }
  return line;
}

}  // namespace

Result<std::vector<ContestLine>> read_contests(journal::Reader& reader, const core::State& state,
                                               const core::StatusInput& now) {
  std::vector<ContestLine> contests;
  for (const auto& target : core::contested_targets(state, now)) {
    DATUM_ASSIGN(auto contest, read_contest(reader, state, target));
    contests.push_back(std::move(contest));
  }
  return contests;
}

std::string contests_text(std::span<const ContestLine> contests, WallNs now, const Style& style) {
  constexpr std::size_t kNameWidth = 14;
  const auto today = text::local_time(now);
  std::string text;
  for (const auto& contest : contests) {
    text += "  " + pad("contested", kNameWidth) + " " + text::escape(contest.reference.text()) +
            "  " + text::escape(contest.target.text()) + "\n";
    for (const auto& corrected : contest.corrections)
      text +=
          text::fit("    corrected " + text::format_local(text::local_time(corrected.at), today) +
                        " from " + drifts_text(corrected.from),
                    std::max<std::size_t>(style.width, 80)) +
          "\n";
  }
  return text;
}

void write_contests(text::JsonWriter& json, std::span<const ContestLine> contests) {
  json.key("contested").begin_array();
  for (const auto& contest : contests) {
    json.begin_object()
        .member("reference", contest.reference.text())
        .member("target", contest.target.text())
        .key("corrections")
        .begin_array();
    for (const auto& corrected : contest.corrections) {
      json.begin_object()
          .member("time", text::format_rfc3339(corrected.at, text::Precision::milliseconds))
          .member("seq", corrected.seq)
          .key("from");
      write_drifts(json, corrected.from);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace datum::inspect
