#include "postmortem_words.hpp"

#include <algorithm>

#include "datum/text/human.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

std::string sha(const Digest& digest) {
  return "sha256:" + digest.hex();
}

std::string counted(const PassStory& story) {
  std::string text;
  std::size_t untellable = 0;
  for (const auto& action : story.actions)
    untellable += action.recovered == core::RecoveredOutcome::untellable ? 1 : 0;
  const auto add = [&](core::Phase phase, std::string_view word) {
    std::size_t count = 0;
    for (const auto& action : story.actions)
      count += action.acts() && action.phase == phase &&
                       action.recovered != core::RecoveredOutcome::untellable
                   ? 1
                   : 0;
    add_count(text, count, word);
  };
  add(core::Phase::succeeded, "done");
  add(core::Phase::failed, "failed");
  add(core::Phase::blocked, "blocked");
  add(core::Phase::skipped, "skipped");
  add(core::Phase::not_started, "not begun");
  add(core::Phase::announced, "without an end");
  add(core::Phase::waiting, story.interruption ? "not done" : "not acted on");
  add_count(text, untellable, "whose outcome cannot be told");
  const auto untold = story.untold();
  if (untold && *untold == 0) return text.empty() ? "nothing to do" : text;
  text += text.empty() ? "" : "; ";
  if (!untold) return text + "what else was planned is not known";
  return text + text::format_count(*untold, text.empty() ? "change" : "more change") +
         " of the plan not begun, or only observed";
}

std::string under_way(const PassStory& story) {
  const auto open = story.interruption->open;
  if (open == 0) return "between two waves";
  return "while " + text::format_count(open, "action") + (open == 1 ? " was" : " were") +
         " under way";
}

// Of a process that died, or of a machine that went down.
bool is_death(const Interruption& cut) {
  return cut.reopened.seq != 0 || cut.recorded.seq == 0;
}

std::string observed_headline(const PassStory& story) {
  const auto& seen = story.finished->counts;
  return "only observed (" + story.started.mode.reason + "): " + counts_text(seen) +
         "; nothing was changed.";
}

std::string record_text(Seq seq) {
  return "record " + std::to_string(seq);
}

std::string actor_text(const core::PassStarted& started) {
  const auto& actor = started.actor;
  std::string text = actor.name.empty() ? std::string("uid ") + std::to_string(actor.uid)
                                        : actor.name + " (uid " + std::to_string(actor.uid) + ")";
  if (actor.kind == core::ActorKind::service) text = "the service";
  if (actor.kind == core::ActorKind::control_plane) text = "the control plane, " + actor.name;
  if (actor.kind == core::ActorKind::recovery) text = "recovery";
  if (!actor.command.empty()) text += ", `" + actor.command + "`";
  return text;
}

std::string declared_text(const PassStory& story) {
  const auto& started = story.started;
  std::string text = text::format_count(started.resources, "resource") + ", manifest " +
                     sha(started.declaration.manifest);
  const auto& provenance = started.provenance;
  if (!provenance.source.empty()) text += ", from " + provenance.source;
  if (!provenance.revision.empty()) text += ", revision " + provenance.revision;
  if (!provenance.pushed_by.empty()) text += ", pushed by " + provenance.pushed_by;
  if (started.declaration.number != 0)
    text += ", generation " + std::to_string(started.declaration.epoch) + "." +
            std::to_string(started.declaration.number);
  return text;
}

std::string plan_text_of(const PassStory& story) {
  if (story.plan.empty()) return "nothing to do";
  if (!story.plan_missing.empty()) {
    const auto changes = story.changes();
    return (changes ? text::format_count(*changes, "change") : "of unknown size") + "; " +
           sha(story.plan) + "; its body is not here (" + story.plan_missing +
           "), so only what records name is told: " +
           text::format_count(story.actions.size(), "action");
  }
  const auto mutating = std::count_if(story.actions.begin(), story.actions.end(),
                                      [](const auto& one) { return one.acts(); });
  return text::format_count(story.actions.size(), "action") + ", " + std::to_string(mutating) +
         " of them to be done; " + sha(story.plan);
}

std::string durable_text(const PassStory& story) {
  const auto& cut = *story.interruption;
  std::size_t ends = 0;
  std::size_t kept = 0;
  std::size_t announced = 0;
  std::uint32_t wave = 0;
  for (const auto& action : story.actions) {
    ends += action.ended.seq != 0 && action.ended.seq <= cut.last.seq ? 1 : 0;
    if (action.announced.seq == 0) continue;
    ++announced;
    wave = std::max(wave, action.wave);
    kept += action.old_content.empty() ? 0 : 1;
  }
  std::string text = "every record up to " + std::to_string(cut.last.seq);
  if (announced == 0) return text + "; no action was announced, so nothing was begun";
  return text + ": " + text::format_count(announced, "action") + " announced in " +
         text::format_count(wave, "wave") + ", the ends of " + std::to_string(ends) +
         ", and the old content of " + std::to_string(kept);
}

std::string recovery_text(const PassStory& story) {
  std::size_t effect = 0;
  std::size_t none = 0;
  std::size_t untold = 0;
  std::size_t files = 0;
  Seq at = 0;
  for (const auto& action : story.actions) {
    if (!action.recovered) continue;
    at = at == 0 ? action.recovered_at.seq : std::min(at, action.recovered_at.seq);
    effect += *action.recovered == core::RecoveredOutcome::took_effect ? 1 : 0;
    none += *action.recovered == core::RecoveredOutcome::did_not ? 1 : 0;
    untold += *action.recovered == core::RecoveredOutcome::untellable ? 1 : 0;
    files += action.leftover ? 1 : 0;
  }
  if (at == 0) return {};
  std::string text = "looked at what was under way (from " + record_text(at) +
                     "): " + std::to_string(effect) + " took effect, " + std::to_string(none) +
                     " did not, " + std::to_string(untold) + " cannot be told";
  if (files != 0)
    text += "; " + text::format_count(files, "file") + " of dead actions still lay about then";
  return text;
}

// Where it was cut off, to the record, and when the next run saw it.
std::string break_text(const PassStory& story) {
  const auto& cut = *story.interruption;
  std::string text = "after " + record_text(cut.last.seq) + " (" + cut.last_kind + ", " +
                     time_text(cut.last) + ")";
  if (cut.reopened.seq != 0)
    text += "; the store was opened again by " + record_text(cut.reopened.seq) + " at " +
            time_text(cut.reopened) + " and found that the last run had " +
            std::string(core::to_string(cut.last_end));
  else if (cut.recorded.seq == 0)
    text += "; nothing later is in this journal, which ends with " + record_text(story.head);
  return text;
}

void add_end(const PassStory& story, Facts& facts) {
  if (story.finished) {
    const auto& finished = *story.finished;
    std::string text = time_text(story.last) + " (" + record_text(story.last.seq) + "), after " +
                       text::format_duration(finished.duration_ns) + ": " +
                       std::string(core::to_string(finished.condition)) + ", " +
                       counts_text(finished.counts);
    if (const auto flags = flags_text(finished.flags); !flags.empty()) text += " [" + flags + "]";
    facts.emplace_back("ended", text);
  }
  if (!story.interruption) return;
  const auto& cut = *story.interruption;
  facts.emplace_back("cut off", break_text(story));
  if (is_death(cut)) facts.emplace_back("durable", durable_text(story));
  if (const auto text = recovery_text(story); !text.empty()) facts.emplace_back("recovery", text);
  if (cut.recorded.seq != 0)
    facts.emplace_back("closed", time_text(cut.recorded) + " (" + record_text(cut.recorded.seq) +
                                     ") as interrupted by " +
                                     std::string(core::to_string(cut.cause)) +
                                     (cut.detail.empty() ? "" : ": " + cut.detail));
  if (cut.followed_by != 0)
    facts.emplace_back("then", "pass " + std::to_string(cut.followed_by) +
                                   " planned afresh; `datum postmortem " +
                                   std::to_string(cut.followed_by) + "` tells it");
}

std::string explain_failure(const PassStory& story) {
  const auto& first = *story.find(*story.first_failure);
  std::size_t because = 0;
  for (const auto& action : story.actions)
    because += !action.chain.empty() && action.chain.back() == first.ordinal ? 1 : 0;
  auto text = name_of(first) + " " + std::string(phase_word(first.phase)) +
              (first.message.empty() ? "" : ": " + first.message);
  if (because != 0)
    text += ". " + text::format_count(because, "other action") + " did not happen because of it";
  const auto failed = static_cast<std::size_t>(std::count_if(
      story.actions.begin(), story.actions.end(),
      [](const auto& one) { return one.phase == core::Phase::failed && !one.recovered; }));
  if (failed > 1) text += ". " + text::format_count(failed - 1, "other action") + " failed too";
  return text;
}

std::string explain_break(const PassStory& story) {
  const auto& cut = *story.interruption;
  if (cut.recorded.seq != 0 && !is_death(cut))
    return "it was ended by " + std::string(core::to_string(cut.cause)) +
           (cut.detail.empty() ? "" : ": " + cut.detail);
  if (cut.recorded.seq == 0)
    return "the journal has no end of it: it runs still, or its process died. The next command "
           "that opens the store looks at the machine and says which actions took effect";
  const auto gap = cut.reopened.wall.ns - cut.last.wall.ns;
  return "the process " +
         std::string(cut.cause == core::Interruption::reboot ? "went down with the machine"
                                                             : "died") +
         " after " + record_text(cut.last.seq) + " (" + cut.last_kind + ") and before " +
         record_text(cut.reopened.seq) + ", at most " + text::format_duration(gap) + " later";
}

}  // namespace

std::string time_text(const core::EventPlace& place) {
  return text::format_rfc3339(place.wall, text::Precision::milliseconds);
}

std::int64_t offset_ns(const PassStory& story, const core::EventPlace& place) {
  const auto spent = place.boot == story.began.boot ? place.mono.ns - story.began.mono.ns
                                                    : place.wall.ns - story.began.wall.ns;
  return std::max<std::int64_t>(0, spent);
}

std::int64_t length_ns(const PassStory& story) {
  return offset_ns(story, story.last);
}

std::string name_of(const ActionStory& action) {
  if (action.target.name.empty()) return "(only the plan names its target)";
  const auto target = action.target.text();
  return action.reference.name.empty() ? target : action.reference.text() + " " + target;
}

std::string headline(const PassStory& story) {
  auto text = "Pass " + std::to_string(story.pass) + " on " + story.host + " ";
  if (story.interruption) {
    const auto& cut = *story.interruption;
    if (cut.recorded.seq == 0)
      return text + "has no end, " + under_way(story) + ": " + counted(story) + ".";
    const auto cause = std::string(core::to_string(cut.cause));
    if (is_death(cut))
      return text + "was cut off by a " + cause + " " + under_way(story) + ": " + counted(story) +
             ".";
    return text + "was ended early (" + cause + "): " + counted(story) + ".";
  }
  const auto& finished = *story.finished;
  if (story.started.mode.mode == core::Mode::observe) return text + observed_headline(story);
  return text + "finished after " + text::format_duration(finished.duration_ns) +
         " and left the host " + std::string(core::to_string(finished.condition)) + ": " +
         counted(story) + ".";
}

std::string explanation(const PassStory& story) {
  std::string text;
  if (story.interruption) text = explain_break(story);
  if (story.first_failure) text += (text.empty() ? "" : ". ") + explain_failure(story);
  if (!text.empty()) return text + ".";
  for (const auto& action : story.actions)
    if (action.phase == core::Phase::blocked) return chain_text(action, story) + ".";
  return {};
}

Facts pass_facts(const PassStory& story) {
  Facts facts;
  facts.emplace_back("began", time_text(story.began) + " (" + record_text(story.pass) + "), " +
                                  std::string(core::to_string(story.started.trigger)) + ", by " +
                                  actor_text(story.started) + ", version " + story.started.version);
  const auto& mode = story.started.mode;
  facts.emplace_back("mode", std::string(core::to_string(mode.mode)) + " (" +
                                 std::string(core::to_string(mode.term)) + ")" +
                                 (mode.reason.empty() ? "" : ": " + mode.reason));
  const auto reverts = story.started.reverts;
  if (reverts != 0)
    facts.emplace_back("undoes", "pass " + std::to_string(reverts) + ", of " +
                                     text::format_count(story.started.resources, "target"));
  else
    facts.emplace_back("declared", declared_text(story));
  if (story.undone_by != 0)
    facts.emplace_back("undone", "by pass " + std::to_string(story.undone_by));
  if (!story.documents_missing.empty() && reverts == 0)
    facts.emplace_back(
        "lines", "which document lines asked for it is not told here: " + story.documents_missing);
  facts.emplace_back("plan", plan_text_of(story));
  add_end(story, facts);
  std::string owned;
  for (const auto& [word, count] : story.ownership)
    owned += (owned.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  if (!owned.empty()) facts.emplace_back("ownership", owned);
  return facts;
}

std::string fate_of(const ActionStory& action, const PassStory& story) {
  if (action.recovered) {
    switch (*action.recovered) {
      case core::RecoveredOutcome::took_effect:
        return "cut off; recovery found that it took effect";
      case core::RecoveredOutcome::did_not:
        return "cut off; recovery found that it did not take effect";
      case core::RecoveredOutcome::untellable:
        return "cut off; recovery could not tell";
    }
  }
  if (action.phase == core::Phase::announced) return "announced, and its end is not recorded";
  if (action.phase != core::Phase::waiting) return std::string(phase_word(action.phase));
  if (action.observe_only || story.started.mode.mode == core::Mode::observe) return "only observed";
  if (!action.acts()) return "recorded";
  return story.interruption ? "not reached" : "not done";
}

std::string_view kind_word(const ActionStory& action) {
  return action.kind ? core::to_string(*action.kind) : "change";
}

std::string chain_text(const ActionStory& action, const PassStory& story) {
  auto text = name_of(action) + " is blocked";
  if (action.chain.empty()) {
    std::string by;
    for (const auto& reference : action.blocked_by)
      by += (by.empty() ? "" : ", ") + reference.text();
    if (!action.message.empty()) return text + ": " + action.message;
    return by.empty() ? text : text + " by " + by;
  }
  for (std::size_t i = 0; i < action.chain.size(); ++i) {
    const auto& cause = *story.find(action.chain[i]);
    text += (i == 0 ? " by " : ", which is blocked by ") + name_of(cause);
    if (i + 1 == action.chain.size() && cause.phase != core::Phase::blocked)
      text += ", which " + std::string(cause.phase == core::Phase::skipped ? "was " : "") +
              fate_of(cause, story) + (cause.message.empty() ? "" : ": " + cause.message);
  }
  return text;
}

std::string notification_text(const NotificationStory& notification) {
  std::string by;
  for (const auto& reference : notification.by) by += (by.empty() ? "" : ", ") + reference.text();
  auto text = std::string(notification.restart ? "restart" : "reload") + " of " +
              notification.service.text() + " (" + notification.unit.text() + "), because of " +
              by + ": " + notification.end;
  if (notification.ended.seq != 0)
    text +=
        " at " + time_text(notification.ended) + " (" + record_text(notification.ended.seq) + ")";
  if (notification.repeated) text += ", perhaps for the second time";
  if (!notification.message.empty()) text += ": " + notification.message;
  return text;
}

}  // namespace datum::inspect
