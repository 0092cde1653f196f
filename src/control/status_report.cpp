// The fleet at a glance: how many hosts match, and what stands out.
#include <algorithm>

#include "datum/base/rfc3339.hpp"
#include "datum/control/orders.hpp"
#include "datum/control/rollout.hpp"
#include "datum/core/status.hpp"
#include "datum/text/human.hpp"
#include "report_words.hpp"

namespace datum::control {
namespace {

// So many names stand in a line; `--json` has all.
constexpr std::size_t kNamesInLine = 8;

bool is_open_token(const TokenState& token, WallNs now) {
  const bool is_used = !token.rule.is_multi_use && !token.uses.empty();
  return !token.is_withdrawn && !is_used && now <= token.rule.expires;
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesInLine); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamesInLine)
    text += " and " + std::to_string(names.size() - kNamesInLine) + " more";
  return text;
}

void count_node(FleetCounts& counts, const View& view, const Node& node) {
  const auto& name = node.self.node;
  const auto presence = view.presence(name);
  ++counts.nodes;
  if (presence.is_linked) ++counts.linked;
  const auto condition = condition_of(node, presence, view);
  if (condition == core::Condition::converged)
    ++counts.match;
  else if (condition == core::Condition::drifted)
    ++counts.drifted;
  else
    ++counts.unknown;
  if (is_behind(node)) counts.behind.push_back(name);
  if (node.newer > node.newer_accepted) counts.newer.push_back(name);
  const auto* order = unanswered_order(node);
  if (order != nullptr) counts.unacknowledged.push_back(name);
  if (node.report) {
    for (const auto flag : core::flags_in(node.report->flags)) counts.flags[flag].push_back(name);
    counts.versions[node.report->host_version].push_back(name);
  }
  if (!is_silent(presence, view)) return;
  const auto since = presence.last_heard.value_or(view.began);
  counts.silent.push_back({name, since, presence.last_heard.has_value(),
                           node.report ? node.report->upgrading_to : std::string()});
}

void write_names(text::JsonWriter& json, std::string_view name,
                 const std::vector<std::string>& names) {
  json.key(name).begin_array();
  for (const auto& each : names) json.value(each);
  json.end_array();
}

void write_silence(text::JsonWriter& json, const Silence& silence) {
  json.begin_object()
      .member("node", silence.node)
      .member("since", format_rfc3339(silence.since))
      .member("wasHeard", silence.was_heard)
      .member("upgradingTo", silence.upgrading_to)
      .end_object();
}

std::string status_json(const View& view, const FleetCounts& counts) {
  const auto& state = view.state;
  text::JsonWriter json;
  json.begin_object()
      .member("mesh", state.mesh)
      .member("version", view.version)
      .member("nodes", counts.nodes)
      .member("match", counts.match)
      .member("drifted", counts.drifted)
      .member("unknown", counts.unknown)
      .member("linked", counts.linked)
      .member("waiting", counts.waiting)
      .member("openTokens", counts.tokens);
  write_generation(json, "generation", state.last);
  json.member("revision", state.push ? state.push->begun.revision : "");
  json.member("stage", stage_line(state, view.now));
  write_names(json, "behind", counts.behind);
  write_names(json, "newer", counts.newer);
  write_names(json, "unacknowledged", counts.unacknowledged);
  json.key("flags").begin_object();
  for (const auto& [flag, names] : counts.flags) write_names(json, core::to_string(flag), names);
  json.end_object().key("versions").begin_object();
  for (const auto& [version, names] : counts.versions) json.member(version, names.size());
  json.end_object().key("silent").begin_array();
  for (const auto& each : counts.silent) write_silence(json, each);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string silence_text(const View& view, const Silence& silence) {
  const auto since =
      text::format_duration(std::max<std::int64_t>(view.now.ns - silence.since.ns, 0));
  const auto& version = silence.upgrading_to;
  if (silence.was_heard && version.empty()) return silence.node + ": silent for " + since;
  if (silence.was_heard)
    return silence.node + ": silent since upgrading to " + version + ", for " + since;
  return silence.node + ": not heard of since this server began, " + since + " ago" +
         (version.empty() ? "" : "; silent since upgrading to " + version);
}

std::string push_text(const State& state) {
  const auto& begun = state.push->begun;
  return "pushed: generation " + generation_text(state.last) + " of " + text::escape(begun.source) +
         ", revision " + (begun.revision.empty() ? "unknown" : text::escape(begun.revision)) +
         ", " + time_text(state.push->at) + " by " + text::escape(begun.by.name) + "\n";
}

}  // namespace

FleetCounts count_fleet(const View& view) {
  FleetCounts counts;
  for (const auto& [name, node] : view.state.nodes)
    if (is_shown(view, node) && node.standing == Standing::enrolled) count_node(counts, view, node);
  for (const auto& [key, request] : view.state.requests)
    if (!request.accepted) ++counts.waiting;
  for (const auto& [id, token] : view.state.tokens)
    if (is_open_token(token, view.now)) ++counts.tokens;
  return counts;
}

std::string fleet_line(const FleetCounts& counts) {
  return std::to_string(counts.match) + " of " + text::format_count(counts.nodes, "host") +
         " match, " + std::to_string(counts.drifted) + " drifted, " +
         std::to_string(counts.unknown) + " unknown or silent";
}

std::string status_report(const View& view) {
  const auto counts = count_fleet(view);
  const auto& state = view.state;
  if (view.json) return status_json(view, counts);
  std::string text = "mesh " + state.mesh + ": " + fleet_line(counts) + "\n";
  text += text::format_count(counts.linked, "node") + " linked, " +
          // For a person, both of them.
          text::format_count(counts.waiting + counts.newer.size(), "machine") + " waiting, " +
          text::format_count(counts.tokens, "open token") + "\n";
  if (state.push) text += push_text(state);
  if (const auto stage = stage_line(state, view.now); !stage.empty())
    text += text::escape(stage) + "\n";
  const auto line = [&text](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty())
      text += what + ": " + text::format_count(names.size(), "host") + " (" +
              text::escape(names_text(names)) + ")\n";
  };
  line("behind the newest declaration", counts.behind);
  line("newer than the backup, to be accepted by name", counts.newer);
  line("an order is not acknowledged", counts.unacknowledged);
  for (const auto& [flag, names] : counts.flags) line(std::string(core::to_string(flag)), names);
  if (counts.versions.size() > 1)
    for (const auto& [version, names] : counts.versions)
      line("datum-host " + text::escape(version), names);
  for (std::size_t i = 0; i < std::min(counts.silent.size(), kNamesInLine); ++i)
    text += text::escape(silence_text(view, counts.silent[i])) + "\n";
  if (counts.silent.size() > kNamesInLine)
    text += std::to_string(counts.silent.size() - kNamesInLine) + " more are silent\n";
  return text;
}

SilenceReport silence_report(const View& view, std::int64_t longer_than_ns) {
  SilenceReport report;
  for (const auto& each : count_fleet(view).silent) {
    if (view.now.ns - each.since.ns < longer_than_ns) continue;
    report.is_any = true;
    if (!view.json) {
      report.text += text::escape(silence_text(view, each)) + "\n";
      continue;
    }
    text::JsonWriter json;
    write_silence(json, each);
    report.text += json.take() + "\n";
  }
  if (report.text.empty() && !view.json) report.text = "no node is silent for that long\n";
  return report;
}

std::string metrics_report(const View& view) {
  const auto counts = count_fleet(view);
  std::string out;
  const auto begin = [&out](std::string_view name, std::string_view help) {
    out.append("# HELP datum_control_").append(name).append(" ").append(help);
    out.append("\n# TYPE datum_control_").append(name).append(" gauge\n");
  };
  const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    begin(name, help);
    out.append("datum_control_").append(name).append(" ");
    out.append(std::to_string(value)).append("\n");
  };
  gauge("nodes", "Nodes that are enrolled.", counts.nodes);
  gauge("nodes_matching", "Of these, converged, heard of, and at their newest generation.",
        counts.match);
  gauge("nodes_drifted", "Of these, drifted by their last report.", counts.drifted);
  gauge("nodes_unknown", "Of these, unknown, silent or behind.", counts.unknown);
  gauge("nodes_linked", "Of these, linked now.", counts.linked);
  gauge("nodes_silent", "Of these, not heard of for three heartbeats.", counts.silent.size());
  gauge("nodes_behind", "Of these, at an older declaration than the newest for them.",
        counts.behind.size());
  gauge("orders_unacknowledged", "Nodes that have not acknowledged their newest order.",
        counts.unacknowledged.size());
  gauge("requests_waiting", "Machines that wait for a person.", counts.waiting);
  gauge("tokens_open", "Tokens that somebody could use now.", counts.tokens);
  gauge("generation", "Number of the newest push.", view.state.last.number);
  gauge("push_paused", "1 while a push in stages is paused.",
        view.state.push && view.state.push->paused ? 1 : 0);
  begin("nodes_flagged", "Nodes whose last report has this flag.");
  constexpr std::uint32_t kAllFlags = ~std::uint32_t{0};
  for (const auto flag : core::flags_in(kAllFlags)) {
    const auto found = counts.flags.find(flag);
    const auto count = found == counts.flags.end() ? 0 : found->second.size();
    out.append("datum_control_nodes_flagged{flag=\"").append(core::to_string(flag));
    out.append("\"} ").append(std::to_string(count)).append("\n");
  }
  gauge("written_seconds", "When this was written, since 1970.",
        static_cast<std::uint64_t>(std::max<std::int64_t>(view.now.ns / kNsPerSecond, 0)));
  return out;
}

}  // namespace datum::control
