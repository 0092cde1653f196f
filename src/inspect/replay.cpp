// The projections, each as text, as JSON and as rows that can be compared.
#include "datum/inspect/replay.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "datum/inspect/store_report.hpp"
#include "datum/text/human.hpp"
#include "datum/text/table.hpp"
#include "observed.hpp"
#include "passes.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

struct Named {
  std::string_view name;
  Projection projection;
};
constexpr std::array kProjections{
    Named{"lifecycle", Projection::lifecycle}, Named{"owned", Projection::owned},
    Named{"status", Projection::status},       Named{"drift", Projection::drift},
    Named{"passes", Projection::passes},       Named{"notifications", Projection::notifications}};

std::string declaration_text(const std::optional<core::DeclarationId>& declaration) {
  if (!declaration) return "none";
  return std::to_string(declaration->epoch) + "." + std::to_string(declaration->number) +
         " sha256:" + declaration->manifest.hex();
}

std::string hold_text(const std::optional<core::Hold>& hold) {
  if (!hold) return "none";
  return (hold->until.ns == 0 ? std::string("without end")
                              : "until " + text::format_rfc3339(hold->until)) +
         (hold->reason.empty() ? "" : ": " + hold->reason);
}

std::string rolled_back_text(const std::optional<core::RolledBack>& back) {
  return back ? back->from + " to " + back->to + ": " + back->cause : std::string();
}

using Facts = std::vector<std::pair<std::string_view, std::string>>;

Facts lifecycle_facts(const core::State& state) {
  return {{"host", state.host},
          {"root", state.root},
          {"store", state.store.hex()},
          {"source", state.source},
          {"lifecycle", std::string(core::to_string(state.lifecycle))},
          {"version", state.version},
          {"confirmedVersion", state.confirmed_version},
          {"rolledBack", rolled_back_text(state.rolled_back)},
          {"open", state.open ? "yes" : "no"},
          {"boot", state.boot.hex()},
          {"stored", declaration_text(state.stored)},
          {"accepted", declaration_text(state.accepted)},
          {"localHold", hold_text(state.local_hold)},
          {"linkHold", hold_text(state.link_hold)},
          {"rebootRequiredBy", state.reboot_required_by},
          {"storeLoss", state.loss ? std::string(core::to_string(state.loss->kind)) : "none"}};
}

Replayed lifecycle_of(const core::State& state) {
  Replayed replayed;
  text::JsonWriter json;
  json.begin_object().member("seq", state.seq);
  for (const auto& [name, value] : lifecycle_facts(state)) {
    constexpr std::size_t kNameWidth = 17;
    const auto line = pad(name, kNameWidth) + " " + text::escape(value);
    if (!value.empty()) replayed.text += line + "\n";
    replayed.rows.push_back({std::string(name), line});
    json.member(name, value);
  }
  json.end_object();
  replayed.json = json.take() + "\n";
  return replayed;
}

Replayed owned_of(const core::State& state, const Style& style) {
  Replayed replayed;
  text::Table table({{"HOW"}, {"TARGET"}, {"REFERENCE"}, {"SINCE", text::Align::right}, {"LEFT"}});
  for (const auto& [target, owned] : state.owned) {
    const std::string how = owned.created ? "created" : "adopted";
    const auto left = std::string(core::to_string(owned.left.found));
    table.add_row({how, target.text(), owned.reference.text(), std::to_string(owned.since), left});
    const auto content = owned.left.content.empty() ? "" : owned.left.content.hex();
    replayed.rows.push_back({target.text(), how + "  " + text::escape(target.text()) + "  " +
                                                text::escape(owned.reference.text()) + "  since " +
                                                std::to_string(owned.since) + "  " + left +
                                                (content.empty() ? "" : "  sha256:" + content)});
    text::JsonWriter json;
    json.begin_object()
        .member("target", target.text())
        .member("reference", owned.reference.text())
        .member("how", how)
        .member("since", owned.since)
        .member("protect", owned.protect)
        .member("left", left)
        .member("content", content)
        .end_object();
    replayed.json += json.take() + "\n";
  }
  replayed.text = state.owned.empty() ? "Nothing is owned.\n"
                                      : table.render(text::Painter(style.colour), style.width);
  return replayed;
}

Result<Replayed> status_of(journal::Reader& reader, const core::State& state,
                           const core::StatusInput& now, const Style& style) {
  Replayed replayed;
  const auto status = core::compute_status(state, now);
  DATUM_ASSIGN(const auto contests, read_contests(reader, state, now));
  DATUM_ASSIGN(auto reverting, read_reverting(reader, state));
  const StatusNotes notes{contests, {}, {}, std::move(reverting)};
  replayed.text = status_text(state, status, notes, now.now, style);
  replayed.json = status_json(state, status, notes, now.now);
  std::string word = std::string(core::to_string(status.condition)) + ", " + counts_text(status);
  if (const auto flags = flags_text(status.flags); !flags.empty()) word += " [" + flags + "]";
  replayed.rows.push_back({"", text::escape(state.host) + ": " + word});
  for (const auto& [target, resource] : state.resources)
    replayed.rows.push_back({target.text(), std::string(core::to_string(resource.condition)) +
                                                "  " + text::escape(resource.reference.text()) +
                                                "  " + text::escape(target.text()) +
                                                (resource.blocked ? "  (blocked)" : "")});
  return replayed;
}

Result<Replayed> drift_of(journal::Reader& reader, const core::State& state,
                          const core::StatusInput& now, const Style& style) {
  DATUM_ASSIGN(const auto seen, read_observations(reader, state, !style.fold));
  PassLine line;
  line.host = state.host;
  line.status = core::compute_status(state, now);
  if (state.last_pass) {
    line.pass = state.last_pass->id;
    line.mode = state.last_pass->mode;
  }
  if (state.interrupted) line.cut_short = state.interrupted->detail;
  line.notifications = core::pending_outcomes(state);
  return drift_replayed(seen, core::standing_acknowledgements(state, now.now), {}, line, style);
}

Replayed notifications_of(const core::State& state, const Style& style) {
  Replayed replayed;
  text::Table table({{"UNIT"}, {"WHAT"}, {"RAISED", text::Align::right}, {"DELIVERY"}, {"BY"}});
  for (const auto& [unit, pending] : state.pending) {
    std::string by;
    for (const auto& reference : pending.by) by += (by.empty() ? "" : ", ") + reference.text();
    const std::string what = pending.restart ? "restart" : "reload";
    const std::string delivery = pending.started ? "announced, not ended" : "waiting";
    table.add_row({unit.text(), what, std::to_string(pending.raised_at), delivery, by});
    replayed.rows.push_back({unit.text(), text::escape(unit.text()) + "  " + what + "  raised " +
                                              std::to_string(pending.raised_at) + "  " + delivery +
                                              "  by " + text::escape(by)});
    text::JsonWriter json;
    json.begin_object()
        .member("unit", unit.text())
        .member("service", pending.service.text())
        .member("action", what)
        .member("raisedAt", pending.raised_at)
        .member("started", pending.started)
        .key("by")
        .begin_array();
    for (const auto& reference : pending.by) json.value(reference.text());
    json.end_array().end_object();
    replayed.json += json.take() + "\n";
  }
  replayed.text = state.pending.empty() ? "No notification is pending.\n"
                                        : table.render(text::Painter(style.colour), style.width);
  return replayed;
}

Result<Replayed> project(journal::Reader& reader, Projection projection, const core::State& state,
                         const core::StatusInput& now, const Style& style) {
  switch (projection) {
    case Projection::lifecycle:
      return lifecycle_of(state);
    case Projection::owned:
      return owned_of(state, style);
    case Projection::status:
      return status_of(reader, state, now, style);
    case Projection::drift:
      return drift_of(reader, state, now, style);
    case Projection::passes:
      return passes_of(reader, state.seq, style);
    case Projection::notifications:
      return notifications_of(state, style);
  }
  return fail(ErrorCode::invalid_argument, "no such projection");
}

}  // namespace

std::optional<Projection> find_projection(std::string_view name) {
  for (const auto& each : kProjections)
    if (each.name == name) return each.projection;
  return std::nullopt;
}

Replayed drift_replayed(const std::vector<core::Observation>& seen,
                        const core::Acknowledgements& acknowledged, const core::Plan& plan,
                        const PassLine& line, const Style& style) {
  Replayed replayed;
  replayed.text = drift_text(seen, acknowledged, style) +
                  leaving_text(plan, "datum observe --all", style) + pass_text(line, style);
  replayed.json =
      drift_json(seen, acknowledged, !style.fold) + leaving_json(plan) + pass_json(line);
  Style whole;
  whole.fold = style.fold;
  for (const auto& one : seen) {
    auto text = drift_text({&one, 1}, acknowledged, whole);
    if (text.empty()) continue;
    text.pop_back();
    replayed.rows.push_back({one.target.text(), std::move(text)});
  }
  auto foot = pass_text(line, whole);
  foot.pop_back();
  replayed.rows.push_back({"", std::move(foot)});
  return replayed;
}

Result<Replayed> replay(journal::Reader& reader, Projection projection, Seq at,
                        const Style& style) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  if (at > head.seq)
    return fail(ErrorCode::not_found, "the journal ends with record " + std::to_string(head.seq));
  DATUM_ASSIGN(const auto state, history::fold(reader, at, true));
  core::StatusInput now;
  if (state.seq != 0 && state.seq >= head.first) {
    DATUM_ASSIGN(const auto last, history::read_event(reader, state.seq));
    now.now = last.place.wall;
    now.mono = last.place.mono;
    now.boot = last.place.boot;
  }
  DATUM_ASSIGN(auto replayed, project(reader, projection, state, now, style));
  replayed.at = state.seq;
  return replayed;
}

Result<Seq> find_seq_at(journal::Reader& reader, WallNs time) {
  Seq found = 0;
  DATUM_TRY(reader.scan_back(0, [&](const auto& record) {
    using Visit = journal::Visit;
    if (record.stamp.wall.ns > time.ns) return Visit::go_on;
    found = record.seq;
    return Visit::stop;
  }));
  if (found != 0) return found;
  return fail(ErrorCode::not_found, "every record is younger than " + text::format_rfc3339(time));
}

namespace {

using Texts = std::map<std::string, std::string>;
Texts texts_of(const Replayed& replayed) {
  Texts texts;
  for (const auto& row : replayed.rows) texts.emplace(row.key, row.text);
  return texts;
}

struct Change {
  std::string key, before, after;  // empty: not there
};
// By key, so that what is the same on both sides is never in the way.
std::vector<Change> changes_between(const Replayed& before, const Replayed& after) {
  const auto old_texts = texts_of(before);
  const auto new_texts = texts_of(after);
  std::vector<Change> changes;
  for (const auto& [key, text] : old_texts) {
    const auto now = new_texts.find(key);
    if (now == new_texts.end())
      changes.push_back({key, text, {}});
    else if (now->second != text)
      changes.push_back({key, text, now->second});
  }
  for (const auto& [key, text] : new_texts)
    if (!old_texts.contains(key)) changes.push_back({key, {}, text});
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.key < b.key; });
  return changes;
}

std::string marked(const std::string& text, char mark, text::Colour colour, const Style& style) {
  const text::Painter painter(style.colour);
  std::string lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    auto end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    lines += painter.paint(colour, mark + (" " + text.substr(begin, end - begin))) + "\n";
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string diff_text(const Replayed& before, const Replayed& after, const Style& style) {
  const auto changes = changes_between(before, after);
  std::string text;
  for (const auto& change : changes)
    text += marked(change.before, '-', text::Colour::red, style) +
            marked(change.after, '+', text::Colour::green, style);
  const auto range =
      "between record " + std::to_string(before.at) + " and record " + std::to_string(after.at);
  if (changes.empty()) return "No difference " + range + ".\n";
  return text + text::format_count(changes.size(), "difference") + " " + range + ".\n";
}

std::string diff_json(const Replayed& before, const Replayed& after) {
  std::string lines;
  for (const auto& change : changes_between(before, after)) {
    text::JsonWriter json;
    json.begin_object()
        .member("change", change.before.empty()  ? "added"
                          : change.after.empty() ? "removed"
                                                 : "changed")
        .member("key", change.key)
        .member("before", change.before)
        .member("after", change.after)
        .end_object();
    lines += json.take() + "\n";
  }
  return lines;
}

}  // namespace datum::inspect
