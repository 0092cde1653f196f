// A plan as people want it: what hurts stands first, what is alike is folded, the last line sums
// up.
#include <algorithm>
#include <map>
#include <optional>

#include "datum/inspect/report.hpp"
#include "datum/text/human.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

bool is_removal(core::ActionKind kind) {
  return kind == core::ActionKind::remove || kind == core::ActionKind::purge ||
         kind == core::ActionKind::leave;
}

char mark_of(core::ActionKind kind) {
  if (is_removal(kind)) return '-';
  if (kind == core::ActionKind::create) return '+';
  return core::is_mutating(kind) ? '~' : '=';
}

text::Colour colour_of_kind(core::ActionKind kind) {
  if (is_removal(kind)) return text::Colour::red;
  if (kind == core::ActionKind::create) return text::Colour::green;
  return core::is_mutating(kind) ? text::Colour::yellow : text::Colour::dim;
}

// What will keep it from happening, or what came of it. Empty: nothing to say.
std::string fate_of(const core::Action& action, const core::Outcome* outcome,
                    const std::string& waits_for) {
  if (outcome != nullptr && outcome->phase != core::Phase::waiting) {
    auto fate = std::string(phase_word(outcome->phase));
    if (!outcome->message.empty()) fate += ": " + outcome->message;
    return fate;
  }
  if (!action.refusal.empty()) return "will fail: " + action.refusal;
  if (!action.blocked_on.empty()) {
    std::string by;
    for (const auto& reference : action.blocked_on)
      by += (by.empty() ? "" : ", ") + reference.text();
    return "blocked: requires " + by + ", which is drifted and only observed";
  }
  if (action.observe_only) return "observed only";
  if (!waits_for.empty()) return "will be blocked: it comes after " + waits_for;
  return {};
}

struct Line {
  const core::Action* action = nullptr;
  const core::Outcome* outcome = nullptr;
  std::string acknowledged;  // in words, or empty
  std::string waits_for;     // what it comes after and that is known not to be done; or empty
};

// By ordinal: the reference of what an action comes after and that is known not to be done. Actions
// come after earlier ones only.
std::vector<std::string> find_waits(const core::Plan& plan) {
  std::vector<std::string> waits(plan.actions.size());
  std::vector<bool> dead(plan.actions.size());
  for (const auto& action : plan.actions) {
    if (action.observe_only || !core::is_mutating(action.kind)) continue;
    dead[action.ordinal] = !action.refusal.empty() || !action.blocked_on.empty();
    for (const auto before : action.after) {
      if (!dead[before]) continue;
      dead[action.ordinal] = true;
      waits[action.ordinal] = plan.actions[before].reference.text();
      break;
    }
  }
  return waits;
}

std::string shape_of(const Line& line) {
  return std::to_string(static_cast<int>(line.action->kind)) + "|" +
         std::string(model::to_string(line.action->reference.type)) + "|" +
         (line.action->kind == core::ActionKind::create ? "" : field_list(line.action->changes)) +
         "|" + fate_of(*line.action, line.outcome, line.waits_for) + "|" + line.action->note + "|" +
         line.acknowledged;
}

// What a tool wrote, under its action: line by line, never cut. One line that `said` has already is
// not told twice.
std::string output_lines(std::string_view output, std::string_view said) {
  std::string text;
  while (!output.empty() && output.back() == '\n') output.remove_suffix(1);
  if (said.find(output) != std::string_view::npos) return text;
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const auto line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (!line.empty()) text += "      | " + text::escape(line) + "\n";
  }
  return text;
}

std::string single_text(const Line& line, std::size_t reference_width, const Style& style) {
  const auto& action = *line.action;
  const text::Painter painter(style.colour);
  auto head = std::string(1, action.privileged ? '!' : ' ') + mark_of(action.kind) + " " +
              pad(core::to_string(action.kind), 8);
  std::string text = painter.paint(colour_of_kind(action.kind), head) + "  " +
                     pad(text::escape(action.reference.text()), reference_width) + "  " +
                     text::escape(action.target.text());
  const auto fate = fate_of(action, line.outcome, line.waits_for);
  const auto width = std::max<std::size_t>(style.width, 40);
  if (fate == "done" || fate == "observed only") text += "  (" + fate + ")";
  if (fate.empty() && !style.planned_word.empty()) text += "  (" + style.planned_word + ")";
  text += "\n";
  if (action.kind == core::ActionKind::update || action.kind == core::ActionKind::replace)
    text += drift_lines(action.changes, 6, width);
  if (!action.note.empty()) text += text::fit("      " + text::escape(action.note), width) + "\n";
  if (!line.acknowledged.empty())
    text += text::fit("      " + text::escape(line.acknowledged), width) + "\n";
  // What went wrong is never cut.
  if (!fate.empty() && fate != "done" && fate != "observed only")
    text += "      " + painter.paint(text::Colour::red, text::escape(fate)) + "\n";
  if (line.outcome != nullptr) text += output_lines(line.outcome->output, fate);
  return text;
}

std::string folded_text(const std::vector<Line>& lines, const std::string& list_command,
                        const Style& style) {
  const auto& first = *lines.front().action;
  const text::Painter painter(style.colour);
  const auto type = std::string(model::to_string(first.reference.type));
  auto head = std::string(1, first.privileged ? '!' : ' ') + mark_of(first.kind) + " " +
              pad(core::to_string(first.kind), 8);
  std::string text = painter.paint(colour_of_kind(first.kind), head) + "  " +
                     text::format_count(lines.size(), type + " resources", type + " resources");
  const auto fields = field_list(first.changes);
  if (first.kind != core::ActionKind::create && !fields.empty()) text += ": " + fields;
  text += "\n      " + text::escape(first.target.text()) + " … " +
          text::escape(lines.back().action->target.text()) + "\n";
  if (!first.note.empty()) text += "      " + text::escape(first.note) + "\n";
  const auto fate = fate_of(first, lines.front().outcome, lines.front().waits_for);
  if (!fate.empty()) text += "      " + text::escape(fate) + "\n";
  if (fate.empty() && !style.planned_word.empty()) text += "      " + style.planned_word + "\n";
  return text + "      `" + list_command + "` lists them\n";
}

std::string section_text(const std::vector<Line>& lines, const std::string& list_command,
                         const Style& style) {
  std::map<std::string, std::vector<Line>> groups;
  for (const auto& line : lines) groups[shape_of(line)].push_back(line);
  const auto is_folded = [&style](const auto& group) {
    return style.fold && group.size() >= kFoldFrom;
  };
  std::size_t reference_width = 0;
  for (const auto& [shape, group] : groups)
    if (!is_folded(group))
      for (const auto& line : group)
        reference_width = std::max(reference_width, text::width(line.action->reference.text()));
  reference_width = std::min<std::size_t>(reference_width, 40);
  std::string text;
  for (const auto& line : lines) {
    const auto& group = groups.at(shape_of(line));
    if (!is_folded(group))
      text += single_text(line, reference_width, style);
    else if (group.front().action == line.action)
      text += folded_text(group, list_command, style);
  }
  return text;
}

std::string summary_text(const core::Plan& plan) {
  const auto& counts = plan.counts;
  std::string text;
  add_count(text, counts.create, "to create");
  add_count(text, counts.update, "to update");
  add_count(text, counts.replace, "to replace");
  add_count(text, counts.adopt, "to adopt unchanged");
  add_count(text, counts.release, "to release");
  if (text.empty()) text = "no other change";
  const auto removals = counts.remove + counts.purge + counts.leave;
  if (counts.refused != 0 || counts.blocked != 0) {
    std::string fates;
    add_count(fates, counts.refused, "will fail");
    add_count(fates, counts.blocked, "will be blocked");
    text += "; of all " + std::to_string(plan.actions.size()) + " actions " + fates;
  }
  return "Plan: " + text + "; " + text::format_count(counts.restarts, "restart") + ", " +
         text::format_count(counts.reloads, "reload") + ", " +
         text::format_count(removals, "removal") + ".\n";
}

std::string brake_text(const core::Brake& brake) {
  if (!brake.engaged) return {};
  return "Brake: " + text::format_count(brake.removals, "removal") + " of " +
         text::format_count(brake.owned, "owned target") +
         " would be more than is allowed at once (" +
         "removals.max, or a fifth of what is owned), so none is done and they stay where they "
         "are. "
         "If they are meant: --allow-removals " +
         std::to_string(brake.removals) + "\n";
}

std::string notifications_text(const core::Plan& plan) {
  std::string text;
  for (const auto& notification : plan.notifications) {
    std::string by;
    for (const auto& reference : notification.by) by += (by.empty() ? "" : ", ") + reference.text();
    text += std::string(" > ") + pad(notification.restart ? "restart" : "reload", 8) + "  " +
            text::escape(notification.service.text()) + "  because of " + text::escape(by) + "\n";
  }
  return text;
}

void write_action(text::JsonWriter& json, const core::Action& action, const core::Outcome* outcome,
                  const core::Acknowledgements& acknowledged, std::string_view planned) {
  json.begin_object()
      .member("ordinal", action.ordinal)
      .member("action", core::to_string(action.kind))
      .member("target", action.target.text())
      .member("reference", action.reference.text())
      .member("found", core::to_string(action.found))
      .key("changes");
  write_drifts(json, action.changes);
  json.key("after").begin_array();
  for (const auto ordinal : action.after) json.value(ordinal);
  json.end_array();
  json.key("blockedOn").begin_array();
  for (const auto& reference : action.blocked_on) json.value(reference.text());
  json.end_array();
  json.member("observeOnly", action.observe_only)
      .member("privileged", action.privileged)
      .member("refusal", action.refusal)
      .member("note", action.note);
  write_acknowledgement(json, acknowledged, action.target);
  json.member("outcome", outcome == nullptr ? planned : phase_word(outcome->phase));
  if (outcome != nullptr)
    json.member("message", outcome->message).member("output", outcome->output);
  json.end_object();
}

}  // namespace

std::string plan_text(const core::Plan& plan, std::span<const core::Outcome> outcomes,
                      const core::Acknowledgements& acknowledged, const std::string& list_command,
                      const Style& style) {
  if (plan.empty()) return {};
  std::vector<Line> first;
  std::vector<Line> rest;
  const auto waits = find_waits(plan);
  for (const auto& action : plan.actions) {
    const Line line{&action, outcomes.empty() ? nullptr : &outcomes[action.ordinal],
                    acknowledged_line(acknowledged, action.target), waits[action.ordinal]};
    (is_removal(action.kind) || action.privileged ? first : rest).push_back(line);
  }
  return section_text(first, list_command, style) + section_text(rest, list_command, style) +
         notifications_text(plan) + brake_text(plan.brake) + summary_text(plan);
}

static bool is_leaving(const core::Action& action) {
  return action.kind == core::ActionKind::leave || action.kind == core::ActionKind::release;
}

std::string leaving_text(const core::Plan& plan, const std::string& list_command,
                         const Style& style) {
  std::vector<Line> lines;
  for (const auto& action : plan.actions)
    if (is_leaving(action)) lines.push_back({&action, nullptr, {}, {}});
  return section_text(lines, list_command, style) + brake_text(plan.brake);
}

std::string leaving_json(const core::Plan& plan) {
  std::string lines;
  for (const auto& action : plan.actions) {
    if (!is_leaving(action)) continue;
    text::JsonWriter json;
    write_action(json, action, nullptr, {}, "planned");
    lines += json.take() + "\n";
  }
  return lines;
}

std::string plan_json(const core::Plan& plan, std::span<const core::Outcome> outcomes,
                      const core::Acknowledgements& acknowledged, std::string_view planned) {
  std::string lines;
  for (const auto& action : plan.actions) {
    text::JsonWriter json;
    write_action(json, action, outcomes.empty() ? nullptr : &outcomes[action.ordinal], acknowledged,
                 planned);
    lines += json.take() + "\n";
  }
  text::JsonWriter json;
  json.begin_object().key("notifications").begin_array();
  for (const auto& notification : plan.notifications) {
    json.begin_object()
        .member("service", notification.service.text())
        .member("action", notification.restart ? "restart" : "reload")
        .key("by")
        .begin_array();
    for (const auto& reference : notification.by) json.value(reference.text());
    json.end_array().end_object();
  }
  json.end_array();
  const auto& counts = plan.counts;
  json.key("summary")
      .begin_object()
      .member("create", counts.create)
      .member("update", counts.update)
      .member("replace", counts.replace)
      .member("remove", counts.remove)
      .member("purge", counts.purge)
      .member("leave", counts.leave)
      .member("release", counts.release)
      .member("adopt", counts.adopt)
      .member("refused", counts.refused)
      .member("blocked", counts.blocked)
      .member("restarts", counts.restarts)
      .member("reloads", counts.reloads)
      .member("brake", plan.brake.engaged)
      .end_object()
      .end_object();
  return lines + json.take() + "\n";
}

std::string pass_text(const PassLine& pass, const Style& style) {
  const text::Painter painter(style.colour);
  const auto condition = pass.status.condition;
  std::string text = notifications_text(pass.notifications) + text::escape(pass.host) + ": " +
                     painter.paint(colour_of(condition), core::to_string(condition)) + ", " +
                     counts_text(pass.status);
  if (const auto flags = flags_text(pass.status.flags); !flags.empty()) text += " [" + flags + "]";
  if (!pass.status.reason.empty()) text += " (" + std::string(pass.status.reason) + ")";
  text += "\n";
  // Who asked to observe need not be told that it was only observed.
  if (pass.mode.mode == core::Mode::observe && pass.mode.term != core::ModeTerm::argument)
    text += "Only observed: " + text::escape(pass.mode.reason) + "\n";
  if (!pass.cut_short.empty()) text += "Ended early: " + text::escape(pass.cut_short) + "\n";
  return text;
}

std::string pass_json(const PassLine& pass) {
  text::JsonWriter json;
  const auto& counts = pass.status.counts;
  json.begin_object()
      .member("host", pass.host)
      .member("pass", pass.pass)
      .member("mode", core::to_string(pass.mode.mode))
      .member("modeTerm", core::to_string(pass.mode.term))
      .member("condition", core::to_string(pass.status.condition))
      .key("flags");
  write_flags(json, pass.status.flags);
  json.key("counts")
      .begin_object()
      .member("converged", counts.converged)
      .member("drifted", counts.drifted)
      .member("unknown", counts.unknown)
      .member("skipped", counts.skipped)
      .member("leaving", pass.status.leaving)
      .member("acknowledgedDrifted", pass.status.acknowledged_drifted)
      .end_object()
      .member("cutShort", pass.cut_short)
      .end_object();
  return notifications_json(pass.notifications) + json.take() + "\n";
}

}  // namespace datum::inspect
