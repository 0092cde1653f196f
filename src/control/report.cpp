#include "datum/control/report.hpp"

#include <algorithm>

#include "datum/core/status.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"
#include "report_words.hpp"

namespace datum::control {
namespace {

std::string_view token_word(const TokenState& token, WallNs now) {
  if (token.is_withdrawn) return "withdrawn";
  if (!token.rule.is_multi_use && !token.uses.empty()) return "used";
  return now <= token.rule.expires ? "open" : "expired";
}

std::string heard_text(const Presence& presence, WallNs now) {
  if (!presence.last_heard) return "not since the start";
  return text::format_duration(now.ns - presence.last_heard->ns) + " ago";
}

std::string facts_text(const std::vector<core::Fact>& facts) {
  std::string text;
  for (const auto& fact : facts) text += (text.empty() ? "" : ", ") + fact.name + "=" + fact.value;
  return text.empty() ? "-" : text;
}

// "drifted", "unknown (silent)": what a person looks for first.
std::string condition_text(const Node& node, const Presence& presence, const View& view) {
  const auto condition = condition_of(node, presence, view);
  std::string words(core::to_string(condition));
  if (is_silent(presence, view)) {
    words += " (silent";
    if (node.report && node.report->condition != condition)
      words += ", last " + std::string(core::to_string(node.report->condition));
    words += ")";
  }
  return words;
}

text::Colour colour_of(core::Condition condition) {
  if (condition == core::Condition::converged) return text::Colour::green;
  return condition == core::Condition::drifted ? text::Colour::red : text::Colour::yellow;
}

void write_facts(text::JsonWriter& json, std::string_view name,
                 const std::vector<core::Fact>& facts) {
  json.key(name).begin_object();
  for (const auto& fact : facts) json.member(fact.name, fact.value);
  json.end_object();
}

void write_report(text::JsonWriter& json, const core::control::NodeReport& report) {
  json.key("report").begin_object();
  json.member("condition", core::to_string(report.condition))
      .member("mode", core::to_string(report.mode))
      .member("lifecycle", core::to_string(report.lifecycle))
      .member("hostVersion", report.host_version)
      .member("upgradingTo", report.upgrading_to);
  json.key("flags").begin_array();
  for (const auto flag : core::flags_in(report.flags)) json.value(core::to_string(flag));
  json.end_array();
  json.key("counts")
      .begin_object()
      .member("converged", report.counts.converged)
      .member("drifted", report.counts.drifted)
      .member("unknown", report.counts.unknown)
      .member("skipped", report.counts.skipped)
      .end_object();
  write_generation(json, "accepted", report.accepted);
  json.end_object();
}

std::string node_json(const View& view, const Node& node) {
  const auto presence = view.presence(node.self.node);
  text::JsonWriter json;
  json.begin_object()
      .member("node", node.self.node)
      .member("standing", core::control::to_string(node.standing))
      .member("condition", core::to_string(condition_of(node, presence, view)))
      .member("linked", presence.is_linked)
      .member("silent", is_silent(presence, view))
      .member("lastHeard", presence.last_heard ? format_rfc3339(*presence.last_heard) : "")
      .member("fingerprint", node.self.fingerprint.hex())
      .member("store", node.self.store.hex())
      .member("token", node.self.token)
      .member("address", node.self.address)
      .member("enrolled", format_rfc3339(node.enrolled))
      .member("certificateUntil", format_rfc3339(node.not_after))
      .member("ended", node.ended);
  write_facts(json, "labels", node.labels);
  write_facts(json, "profile", node.self.profile);
  write_facts(json, "inventory", node.self.inventory);
  write_generation(json, "newest", node.newest);
  write_generation(json, "stored", node.stored);
  write_generation(json, "accepted", node.accepted);
  write_generation(json, "applied", node.applied);
  write_generation(json, "rejected", node.rejected);
  json.member("rejectedWhy", node.rejected_why);
  json.key("order").begin_object();
  if (node.order) write_order(json, *node.order);
  json.end_object();
  if (node.report) write_report(json, *node.report);
  json.end_object();
  return json.take() + "\n";
}

std::string request_json(const Request& request) {
  const auto& self = request.applicant;
  text::JsonWriter json;
  json.begin_object()
      .member("node", self.node)
      .member("standing", request.accepted ? *request.accepted ? "accepted" : "refused" : "waiting")
      .member("fingerprint", self.fingerprint.hex())
      .member("token", self.token)
      .member("address", self.address)
      .member("asked", format_rfc3339(request.at));
  write_facts(json, "profile", self.profile);
  write_facts(json, "inventory", self.inventory);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace

bool is_silent(const Presence& presence, const View& view) {
  constexpr int kSilentAfter = 3;  // heartbeats
  if (presence.is_linked) return false;
  return !presence.last_heard ||
         view.now.ns - presence.last_heard->ns > kSilentAfter * view.heartbeat_ns;
}

bool is_behind(const Node& node) {
  return (node.report ? node.report->accepted : core::Generation{}) < node.newest;
}

bool is_shown(const View& view, const Node& node) {
  return std::all_of(view.labels.begin(), view.labels.end(), [&](const core::Fact& wanted) {
    return std::find(node.labels.begin(), node.labels.end(), wanted) != node.labels.end();
  });
}

std::string generation_text(const core::Generation& generation) {
  if (generation == core::Generation{}) return "-";
  return std::to_string(generation.epoch) + "." + std::to_string(generation.number);
}

std::string time_text(WallNs at) {
  return at.ns == 0 ? "-" : format_rfc3339(at);
}

void write_generation(text::JsonWriter& json, std::string_view name,
                      const core::Generation& generation) {
  json.key(name)
      .begin_object()
      .member("epoch", generation.epoch)
      .member("number", generation.number)
      .end_object();
}

core::Condition condition_of(const Node& node, const Presence& presence, const View& view) {
  if (!node.report) return core::Condition::unknown;
  const auto last = node.report->condition;
  if (last != core::Condition::converged) return last;
  return is_silent(presence, view) || is_behind(node) ? core::Condition::unknown : last;
}

std::string nodes_report(const View& view) {
  std::string lines;
  text::Table table({{"NODE"}, {"STANDING"}, {"CONDITION"}, {"MODE"}, {"GENERATION"}, {"HEARD"}});
  for (const auto& [key, request] : view.state.requests) {
    if (!view.labels.empty()) continue;  // it has none yet
    if (view.json) {
      lines += request_json(request);
      continue;
    }
    const auto word = request.accepted ? *request.accepted ? "accepted" : "refused" : "waiting";
    table.add_row({request.applicant.node, word, "key " + key.hex().substr(0, 16), "-", "-",
                   time_text(request.at)});
  }
  for (const auto& [name, node] : view.state.nodes) {
    if (!is_shown(view, node)) continue;
    if (view.json) {
      lines += node_json(view, node);
      continue;
    }
    const auto presence = view.presence(name);
    auto generation = node.report ? generation_text(node.report->accepted) : "-";
    if (node.report && is_behind(node)) generation += " of " + generation_text(node.newest);
    table.add_row(
        {name,
         core::control::to_string(node.standing),
         {condition_text(node, presence, view), colour_of(condition_of(node, presence, view))},
         node.report ? core::to_string(node.report->mode) : "-",
         generation,
         heard_text(presence, view.now)});
  }
  if (view.json) return lines;
  if (table.row_count() == 0) return "no node is known\n";
  return table.render(text::Painter(view.colour), view.width);
}

std::string node_report(const View& view, const Node& node) {
  if (view.json) return node_json(view, node);
  const auto presence = view.presence(node.self.node);
  std::string text = node.self.node + ": " + std::string(core::control::to_string(node.standing)) +
                     (node.ended.empty() ? "" : " (" + text::escape(node.ended) + ")") + ", " +
                     condition_text(node, presence, view) + "\n";
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += "  " + std::string(name) + ": " + text::escape(value) + "\n";
  };
  line("link", (presence.is_linked ? "up" : "down") + std::string(", heard ") +
                   heard_text(presence, view.now));
  line("enrolled",
       time_text(node.enrolled) + " with token " + node.self.token + ", from " + node.self.address);
  line("key", node.self.fingerprint.hex());
  line("certificate until", time_text(node.not_after));
  line("labels", facts_text(node.labels));
  line("profile", facts_text(node.self.profile));
  line("newest declaration", generation_text(node.newest));
  line("accepted", generation_text(node.accepted));
  line("applied", generation_text(node.applied));
  if (node.rejected != core::Generation{})
    line("rejected", generation_text(node.rejected) + ": " + node.rejected_why);
  if (node.order)
    line("ordered",
         std::string(core::to_string(node.order->kind)) + " by " + node.order->by.name + ", " +
             time_text(node.order->at) +
             (!node.order->answer               ? ", not acknowledged"
              : node.order->answer->carried_out ? ", acknowledged"
                                                : ", refused: " + node.order->answer->reason));
  if (node.report) {
    const auto& counts = node.report->counts;
    line("resources", std::to_string(counts.converged) + " converged, " +
                          std::to_string(counts.drifted) + " drifted, " +
                          std::to_string(counts.unknown) + " unknown, " +
                          std::to_string(counts.skipped) + " skipped");
    line("mode", std::string(core::to_string(node.report->mode)));
    line("datum-host", node.report->host_version);
    if (!node.report->upgrading_to.empty()) line("makes room for", node.report->upgrading_to);
  }
  return text;
}

std::string tokens_report(const View& view) {
  std::string lines;
  text::Table table({{"TOKEN"}, {"STATE"}, {"NAMES"}, {"USES"}, {"UNTIL"}, {"BY"}});
  for (const auto& [id, token] : view.state.tokens) {
    const auto word = token_word(token, view.now);
    if (!view.json) {
      table.add_row({id, word, token.rule.names,
                     std::to_string(token.uses.size()) + (token.rule.is_multi_use ? "" : " of 1"),
                     time_text(token.rule.expires), token.by.name});
      continue;
    }
    text::JsonWriter json;
    json.begin_object()
        .member("token", id)
        .member("state", word)
        .member("names", token.rule.names)
        .member("multi", token.rule.is_multi_use)
        .member("byHand", token.rule.is_by_hand)
        .member("expires", format_rfc3339(token.rule.expires))
        .member("made", format_rfc3339(token.made))
        .member("by", token.by.name);
    write_facts(json, "required", token.rule.required);
    write_facts(json, "labels", token.rule.labels);
    json.key("nodes").begin_array();
    for (const auto& use : token.uses) json.value(use.node);
    json.end_array().end_object();
    lines += json.take() + "\n";
  }
  if (view.json) return lines;
  if (table.row_count() == 0) return "there is no token\n";
  return table.render(text::Painter(view.colour), view.width);
}

}  // namespace datum::control
