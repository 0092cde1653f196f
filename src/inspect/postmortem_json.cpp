#include "datum/inspect/postmortem.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "postmortem_words.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

void write_time(text::JsonWriter& json, std::string_view name, const core::EventPlace& place) {
  json.key(name);
  if (place.seq == 0)
    json.null();
  else
    json.value(time_text(place));
}

void write_place(text::JsonWriter& json, std::string_view name, const core::EventPlace& place) {
  json.key(name);
  if (place.seq == 0) {
    json.null();
    return;
  }
  json.begin_object().member("seq", place.seq).member("time", time_text(place)).end_object();
}

void write_interruption(text::JsonWriter& json, const PassStory& story) {
  json.key("interruption");
  if (!story.interruption) {
    json.null();
    return;
  }
  const auto& cut = *story.interruption;
  json.begin_object()
      .member("cause", cut.recorded.seq == 0 ? "" : core::to_string(cut.cause))
      .member("detail", cut.detail)
      .member("lastKind", cut.last_kind)
      .member("underWay", cut.open);
  write_place(json, "last", cut.last);
  write_place(json, "reopened", cut.reopened);
  write_place(json, "recorded", cut.recorded);
  json.member("followedBy", cut.followed_by).end_object();
}

void write_count(text::JsonWriter& json, std::string_view name, std::optional<std::size_t> count) {
  json.key(name);
  if (count)
    json.value(*count);
  else
    json.null();
}

std::string pass_line(const PassStory& story) {
  text::JsonWriter json;
  const auto& started = story.started;
  json.begin_object()
      .member("pass", story.pass)
      .member("host", story.host)
      .member("root", story.root)
      .member("store", story.store.hex())
      .member("headline", headline(story))
      .member("why", explanation(story));
  write_time(json, "began", story.began);
  write_time(json, "lastRecord", story.last);
  json.member("trigger", core::to_string(started.trigger))
      .member("actor", started.actor.name)
      .member("uid", started.actor.uid)
      .member("command", started.actor.command)
      .member("mode", core::to_string(started.mode.mode))
      .member("modeTerm", core::to_string(started.mode.term))
      .member("reverts", started.reverts)
      .member("undoneBy", story.undone_by)
      .member("version", started.version)
      .member("manifest", started.declaration.manifest.hex())
      .member("source", started.provenance.source)
      .member("revision", started.provenance.revision)
      .member("plan", story.plan.empty() ? "" : story.plan.hex())
      .member("planMissing", story.plan_missing);
  write_count(json, "changes", story.plan.empty() ? 0 : story.changes());
  write_count(json, "untold", story.untold());
  json.member("documentsMissing", story.documents_missing)
      .member("condition", story.finished ? core::to_string(story.finished->condition) : "");
  write_interruption(json, story);
  json.key("firstFailure");
  if (story.first_failure)
    json.value(*story.first_failure);
  else
    json.null();
  json.key("ownership").begin_object();
  for (const auto& [word, count] : story.ownership) json.member(word, count);
  json.end_object().end_object();
  return json.take() + "\n";
}

std::string_view recovered_word(const ActionStory& action) {
  return action.recovered ? core::to_string(*action.recovered) : std::string_view();
}

std::string action_line(const PassStory& story, const ActionStory& action) {
  text::JsonWriter json;
  json.begin_object()
      .member("ordinal", action.ordinal)
      .member("action", action.kind ? core::to_string(*action.kind) : "")
      .member("target", action.target.name.empty() ? "" : action.target.text())
      .member("reference", action.reference.name.empty() ? "" : action.reference.text())
      .member("before", core::to_string(action.before))
      .member("outcome", phase_word(action.phase))
      .member("fate", fate_of(action, story))
      .key("changes");
  write_drifts(json, action.changes);
  json.key("after").begin_array();
  for (const auto ordinal : action.after) json.value(ordinal);
  json.end_array().member("wave", action.wave);
  write_place(json, "announced", action.announced);
  write_place(json, "ended", action.ended);
  json.member("durationNs", action.duration_ns)
      .member("message", action.message)
      .member("output", action.output)
      .member("sameAs", action.same_as)
      .key("blockedBy")
      .begin_array();
  for (const auto& reference : action.blocked_by) json.value(reference.text());
  json.end_array().key("chain").begin_array();
  for (const auto ordinal : action.chain) json.value(ordinal);
  json.end_array()
      .member("recovered", recovered_word(action))
      .member("oldContent", action.old_content.empty() ? "" : action.old_content.hex())
      .member("notKept", action.not_kept)
      .member("documents", action.documents)
      .end_object();
  return json.take() + "\n";
}

std::string notification_line(const NotificationStory& notification) {
  text::JsonWriter json;
  json.begin_object()
      .member("unit", notification.unit.text())
      .member("service", notification.service.text())
      .member("notification", notification.restart ? "restart" : "reload")
      .key("by")
      .begin_array();
  for (const auto& reference : notification.by) json.value(reference.text());
  json.end_array().member("end", notification.end).member("message", notification.message);
  write_place(json, "raised", notification.raised);
  write_place(json, "started", notification.started);
  write_place(json, "ended", notification.ended);
  json.member("repeated", notification.repeated).end_object();
  return json.take() + "\n";
}

}  // namespace

std::string postmortem_json(const PassStory& story) {
  auto lines = pass_line(story);
  for (const auto& action : story.actions) lines += action_line(story, action);
  for (const auto& notification : story.notifications) lines += notification_line(notification);
  return lines;
}

}  // namespace datum::inspect
