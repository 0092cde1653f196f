#include "datum/inspect/store_report.hpp"

#include <algorithm>

#include "contest_report.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

// What is listed under the first line of a status: more than this is a list of its own.
constexpr std::size_t kListed = 20;

std::string row(std::string_view name, const std::string& value) {
  return "  " + pad(name, 14) + " " + value + "\n";
}

std::string last_pass_text(const core::LastPass& last, WallNs now) {
  const auto local = text::local_time(last.wall);
  std::string text = std::to_string(last.id) + ", finished " +
                     text::format_local(local, text::local_time(now)) + " after " +
                     text::format_duration(last.finished.duration_ns) + ", " +
                     std::string(core::to_string(last.mode.mode)) + " (" +
                     std::string(core::to_string(last.mode.term)) + ")";
  return text;
}

// What is told as the last pass: the newest that finished.
const core::LastPass* newest_pass(const core::State& state, const StatusNotes& notes) {
  if (notes.reverting) return &notes.reverting->pass;
  return state.last_pass ? &*state.last_pass : nullptr;
}

std::string newest_pass_text(const core::LastPass& newest, const StatusNotes& notes, WallNs now) {
  auto text = row("last pass", last_pass_text(newest, now));
  if (notes.reverting) text += row("", "to undo pass " + std::to_string(notes.reverting->reverts));
  if (const auto actions = actions_text(newest.finished); !actions.empty())
    text += row("actions", actions);
  return text;
}

// The record that tells the failure of the target's last action, 0 if it has none.
Seq failed_at(const core::State& state, const model::Target& target) {
  const auto at = state.failures.find(target);
  return at == state.failures.end() ? 0 : at->second.first;
}

using ResourceAt = std::map<model::Target, core::ResourceState>::const_iterator;

// Those that are neither converged nor skipped; the acknowledged ones behind the others.
std::vector<ResourceAt> told_resources(const core::State& state,
                                       const core::Acknowledgements& acknowledged) {
  std::vector<ResourceAt> told;
  for (auto at = state.resources.begin(); at != state.resources.end(); ++at)
    if (at->second.condition == core::Condition::drifted ||
        at->second.condition == core::Condition::unknown)
      told.push_back(at);
  std::stable_partition(told.begin(), told.end(),
                        [&](const auto& at) { return !acknowledged.contains(at->first); });
  return told;
}

std::string resource_line(const core::State& state, ResourceAt at,
                          const core::Acknowledgements& acknowledged, const Style& style) {
  const text::Painter painter(style.colour);
  const auto& [target, resource] = *at;
  auto text =
      "  " +
      painter.paint(colour_of(resource.condition), pad(core::to_string(resource.condition), 9)) +
      "  " + text::escape(resource.reference.text()) + "  " + text::escape(target.text());
  if (const auto seq = failed_at(state, target); seq != 0)
    text += "  (failed, record " + std::to_string(seq) + ")";
  if (resource.blocked) text += "  (blocked)";
  if (const auto words = acknowledged_line(acknowledged, target); !words.empty())
    text += "\n             " + text::escape(words);
  return text + "\n";
}

std::string resources_text(const core::State& state, WallNs now, const Style& style) {
  const auto acknowledged = core::standing_acknowledgements(state, now);
  const auto told = told_resources(state, acknowledged);
  const auto listed = style.fold ? std::min(told.size(), kListed) : told.size();
  std::string text;
  for (std::size_t i = 0; i < listed; ++i)
    text += resource_line(state, told[i], acknowledged, style);
  if (told.size() > listed)
    text += "  … and " + std::to_string(told.size() - listed) + " more: `datum status --all`\n";
  return text;
}

std::string hold_text(const core::Hold& hold) {
  return (hold.until.ns == 0 ? std::string("without end")
                             : "until " + text::format_rfc3339(hold.until)) +
         (hold.reason.empty() ? "" : ": " + text::escape(hold.reason));
}

}  // namespace

static std::string generation_text(const std::optional<core::DeclarationId>& id) {
  return id ? std::to_string(id->epoch) + "." + std::to_string(id->number) : std::string();
}

std::string status_text(const core::State& state, const core::HostStatus& status,
                        const StatusNotes& notes, WallNs now, const Style& style) {
  const text::Painter painter(style.colour);
  std::string text = text::escape(state.host) + ": " +
                     painter.paint(colour_of(status.condition), core::to_string(status.condition)) +
                     ", " + counts_text(status);
  if (const auto flags = flags_text(status.flags); !flags.empty()) text += " [" + flags + "]";
  if (!status.reason.empty()) text += " (" + std::string(status.reason) + ")";
  text += "\n";
  if (const auto* newest = newest_pass(state, notes)) text += newest_pass_text(*newest, notes, now);
  if (state.interrupted)
    text += row("interrupted", "pass " + std::to_string(state.interrupted->pass) + " by " +
                                   std::string(core::to_string(state.interrupted->cause)) + "; " +
                                   text::escape(state.interrupted->detail));
  if (state.pass) text += row("unfinished", "pass " + std::to_string(state.pass->id));
  if (state.local_hold) text += row("held here", hold_text(*state.local_hold));
  if (state.link_hold) text += row("held", hold_text(*state.link_hold));
  if (status.pending_notifications > 0)
    text += row("pending", text::format_count(status.pending_notifications, "notification"));
  if (!state.reboot_required_by.empty())
    text += row("restart", "wanted by " + text::escape(state.reboot_required_by));
  if (!notes.link.empty()) text += row("node", text::escape(notes.link));
  if (state.accepted) text += row("declaration", generation_text(state.accepted));
  text += row("root", text::escape(state.root));
  text += row("owned", text::format_count(state.owned.size(), "target"));
  if (!state.kept.empty())
    text += row("kept", text::format_count(state.kept.size(), "target") +
                            " only observed; `datum keep` lists them");
  for (const auto& fault : notes.faults)
    text += row("store", painter.paint(text::Colour::red, text::escape(fault)));
  return text + contests_text(notes.contests, now, style) + resources_text(state, now, style);
}

static void write_last_pass(text::JsonWriter& json, const core::LastPass* last, PassId reverts) {
  json.key("lastPass");
  if (last == nullptr) {
    json.null();
    return;
  }
  json.begin_object()
      .member("pass", last->id)
      .member("reverts", reverts)
      .member("finished", text::format_rfc3339(last->wall, text::Precision::milliseconds))
      .member("mode", core::to_string(last->mode.mode))
      .member("modeTerm", core::to_string(last->mode.term))
      .member("manifest", last->declaration.manifest.hex())
      .member("durationNs", last->finished.duration_ns)
      .member("succeeded", last->finished.succeeded)
      .member("failed", last->finished.failed)
      .member("blocked", last->finished.blocked)
      .member("skipped", last->finished.skipped)
      .member("notStarted", last->finished.not_started)
      .end_object();
}

static void write_resources(text::JsonWriter& json, const core::State& state, WallNs now) {
  const auto acknowledged = core::standing_acknowledgements(state, now);
  json.key("resources").begin_array();
  for (const auto& [target, resource] : state.resources) {
    if (resource.condition == core::Condition::converged) continue;
    json.begin_object()
        .member("reference", resource.reference.text())
        .member("target", target.text())
        .member("condition", core::to_string(resource.condition))
        .member("observedAt", resource.observed_at)
        .member("failedAt", failed_at(state, target))
        .member("blocked", resource.blocked);
    write_acknowledgement(json, acknowledged, target);
    json.end_object();
  }
  json.end_array();
}

std::string status_json(const core::State& state, const core::HostStatus& status,
                        const StatusNotes& notes, WallNs now) {
  text::JsonWriter json;
  json.begin_object()
      .member("host", state.host)
      .member("root", state.root)
      .member("store", state.store.hex())
      .member("seq", state.seq)
      .member("condition", core::to_string(status.condition))
      .member("reason", status.reason)
      .key("flags");
  write_flags(json, status.flags);
  json.key("counts")
      .begin_object()
      .member("converged", status.counts.converged)
      .member("drifted", status.counts.drifted)
      .member("unknown", status.counts.unknown)
      .member("skipped", status.counts.skipped)
      .member("leaving", status.leaving)
      .member("observedOnlyDrifted", status.observed_only_drifted)
      .member("acknowledgedDrifted", status.acknowledged_drifted)
      .member("pendingNotifications", status.pending_notifications)
      .end_object()
      .member("owned", state.owned.size())
      .member("kept", state.kept.size());
  json.member("rebootRequiredBy", state.reboot_required_by)
      .member("link", notes.link)
      .member("declaration", generation_text(state.accepted));
  write_last_pass(json, newest_pass(state, notes), notes.reverting ? notes.reverting->reverts : 0);
  write_resources(json, state, now);
  write_contests(json, notes.contests);
  json.key("faults").begin_array();
  for (const auto& fault : notes.faults) json.value(fault);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string acknowledgement_json(const core::State& state, const model::Target& target) {
  text::JsonWriter json;
  json.begin_object().member("target", target.text());
  write_acknowledgement(json, state.acknowledged, target);
  json.end_object();
  return json.take() + "\n";
}

// What became of what Datum left there.
static std::string_view owned_now(const OwnedLine& line) {
  if (line.now.found == core::Found::unseen) return "unseen";
  if (line.now.found == core::Found::absent) return "gone";
  const auto& left = line.owned.left;
  const bool same = line.now.found == left.found && line.now.identity.inode == left.inode &&
                    line.now.content == left.content;
  return same ? "as left" : "changed";
}

std::string owned_text(std::span<const OwnedLine> lines, const Style& style) {
  if (lines.empty()) return "Nothing is owned.\n";
  text::Table table({{"HOW"}, {"TARGET"}, {"REFERENCE"}, {"SINCE", text::Align::right}, {"NOW"}});
  for (const auto& line : lines) {
    const auto now = owned_now(line);
    table.add_row(
        {line.owned.created ? "created" : "adopted",
         line.target.text(),
         line.owned.reference.text(),
         std::to_string(line.owned.since),
         {std::string(now), now == "as left" ? text::Colour::none : text::Colour::yellow}});
  }
  return table.render(text::Painter(style.colour), style.width);
}

std::string owned_json(std::span<const OwnedLine> lines) {
  std::string text;
  for (const auto& line : lines) {
    text::JsonWriter json;
    json.begin_object()
        .member("target", line.target.text())
        .member("reference", line.owned.reference.text())
        .member("how", line.owned.created ? "created" : "adopted")
        .member("since", line.owned.since)
        .member("protect", line.owned.protect)
        .member("found", core::to_string(line.now.found))
        .member("now", owned_now(line))
        .end_object();
    text += json.take() + "\n";
  }
  return text;
}

}  // namespace datum::inspect
