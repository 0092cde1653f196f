// What differs, resource by resource. Runs of resources that differ in the same way are folded.
#include <algorithm>
#include <map>

#include "datum/inspect/report.hpp"
#include "datum/text/human.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

// Resources that are told in one line look alike: same type, word, fields and reason.
std::string shape_of(const core::Observation& observation,
                     const core::Acknowledgements& acknowledged) {
  return std::string(model::to_string(observation.reference.type)) + "|" +
         std::string(core::to_string(observation.condition)) + "|" +
         field_list(observation.drifts) + "|" + observation.reason + "|" +
         std::string(core::to_string(observation.obstacle)) + "|" +
         acknowledged_line(acknowledged, observation.target);
}

struct Group {
  std::vector<const core::Observation*> members;
};

// The obstacle and what there is to say about it; without one, what a correction brings with it.
std::string obstacle_line(const core::Observation& observation) {
  if (observation.obstacle == core::Obstacle::none) return observation.obstacle_detail;
  auto words = std::string(core::to_string(observation.obstacle));
  if (!observation.obstacle_detail.empty()) words += ": " + observation.obstacle_detail;
  return words;
}

bool is_told(const core::Observation& observation, bool all) {
  return all || observation.condition != core::Condition::converged;
}

std::string reason_lines(const core::Observation& observation,
                         const core::Acknowledgements& acknowledged, std::size_t width) {
  std::string text = drift_lines(observation.drifts, 6, width);
  const auto line = [&](const std::string& words) {
    text += text::fit("      " + text::escape(words), std::max<std::size_t>(width, 40)) + "\n";
  };
  if (!observation.reason.empty()) line(observation.reason);
  // An obstacle that is the reason was told as such.
  const bool told =
      !observation.reason.empty() && observation.obstacle_detail == observation.reason;
  if (const auto words = obstacle_line(observation); !words.empty() && !told) line(words);
  if (const auto words = acknowledged_line(acknowledged, observation.target); !words.empty())
    line(words);
  for (const auto& entry : observation.purge)
    line((entry.is_drift ? "not declared: " : "not declared (kept): ") + entry.name +
         (entry.reason.empty() ? "" : ", " + entry.reason));
  return text;
}

std::string single_text(const core::Observation& observation,
                        const core::Acknowledgements& acknowledged, std::size_t reference_width,
                        const Style& style) {
  const text::Painter painter(style.colour);
  const auto word = pad(core::to_string(observation.condition), 9);
  return painter.paint(colour_of(observation.condition), word) + "  " +
         pad(text::escape(observation.reference.text()), reference_width) + "  " +
         text::escape(observation.target.text()) + "\n" +
         reason_lines(observation, acknowledged, style.width);
}

std::string folded_text(const Group& group, const Style& style) {
  const auto& first = *group.members.front();
  const text::Painter painter(style.colour);
  std::string what = field_list(first.drifts);
  if (!first.reason.empty()) what += (what.empty() ? "" : "; ") + first.reason;
  const auto type = std::string(model::to_string(first.reference.type));
  return painter.paint(colour_of(first.condition), pad(core::to_string(first.condition), 9)) +
         "  " + text::format_count(group.members.size(), type + " resources", type + " resources") +
         " alike: " + text::escape(what) + "\n      " + text::escape(first.target.text()) + " … " +
         text::escape(group.members.back()->target.text()) + "  (--all lists them)\n";
}

}  // namespace

std::string drift_text(std::span<const core::Observation> observations,
                       const core::Acknowledgements& acknowledged, const Style& style) {
  std::map<std::string, Group> groups;
  std::size_t reference_width = 0;
  for (const auto& observation : observations) {
    if (!is_told(observation, !style.fold)) continue;
    groups[shape_of(observation, acknowledged)].members.push_back(&observation);
  }
  const auto is_folded = [&style](const Group& group) {
    return style.fold && group.members.size() >= kFoldFrom;
  };
  for (const auto& [shape, group] : groups)
    if (!is_folded(group))
      for (const auto* one : group.members)
        reference_width = std::max(reference_width, text::width(one->reference.text()));
  reference_width = std::min<std::size_t>(reference_width, 40);
  std::string text;
  for (const auto& observation : observations) {
    if (!is_told(observation, !style.fold)) continue;
    const auto& group = groups.at(shape_of(observation, acknowledged));
    if (!is_folded(group))
      text += single_text(observation, acknowledged, reference_width, style);
    else if (group.members.front() == &observation)
      text += folded_text(group, style);
  }
  return text;
}

std::string drift_json(std::span<const core::Observation> observations,
                       const core::Acknowledgements& acknowledged, bool all) {
  std::string lines;
  for (const auto& observation : observations) {
    if (!is_told(observation, all)) continue;
    text::JsonWriter json;
    json.begin_object()
        .member("reference", observation.reference.text())
        .member("target", observation.target.text())
        .member("condition", core::to_string(observation.condition))
        .member("found", core::to_string(observation.found))
        .key("drifts");
    write_drifts(json, observation.drifts);
    json.member("reason", observation.reason)
        .member("obstacle", observation.obstacle == core::Obstacle::none
                                ? std::string_view()
                                : core::to_string(observation.obstacle))
        .member("detail", observation.obstacle_detail)
        .member("warning", observation.warning)
        .member("missingParent", observation.missing_parent)
        .key("notDeclared")
        .begin_array();
    for (const auto& entry : observation.purge)
      json.begin_object()
          .member("name", entry.name)
          .member("found", core::to_string(entry.found))
          .member("removable", entry.removable)
          .member("drift", entry.is_drift)
          .member("reason", entry.reason)
          .end_object();
    json.end_array();
    write_acknowledgement(json, acknowledged, observation.target);
    json.end_object();
    lines += json.take() + "\n";
  }
  return lines;
}

std::vector<core::Observation> unknown_among(const std::vector<core::Observation>& observations) {
  std::vector<core::Observation> unknown;
  for (const auto& seen : observations)
    if (seen.condition == core::Condition::unknown) unknown.push_back(seen);
  return unknown;
}

}  // namespace datum::inspect
