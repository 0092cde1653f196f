#include "datum/engine/guard_story.hpp"

#include <utility>

namespace datum::engine {

void GuardReader::take(const history::StoredEvent& stored) {
  place_ = stored.place;
  std::visit([this](const auto& event) { tell(event); }, stored.event);
}

GuardStory GuardReader::finish() && {
  // Of one that died nobody has looked yet at what it did.
  if (!story_.from && pass_ && pass_->reverts == 0 && pass_->announced_at != 0) {
    story_.from = pass_->began;
    story_.changed_at = pass_->announced_at;
  }
  for (const auto& [pass, is_undone] : changed_)
    if (!is_undone) story_.to_undo.insert(story_.to_undo.begin(), pass);
  for (auto& [target, words] : left_) story_.not_undone.push_back(std::move(words));
  return std::move(story_);
}

void GuardReader::tell(const core::PassStarted& event) {
  pass_.reset();
  if (event.mode.mode != core::Mode::enforce) return;
  const bool is_its = event.reverts == 0 && event.declaration == id_;
  if (!is_its && !passes_.contains(event.reverts)) return;
  pass_ = Pass{place_.seq, place_.wall, event.reverts, 0, {}};
  if (is_its) passes_[place_.seq] = true;
  // A person reverts by hand, and only one pass.
  const bool is_service = event.actor.kind == core::ActorKind::service;
  story_.is_begun = story_.is_begun || (!is_its && is_service);
}

void GuardReader::note_change() {
  if (pass_->reverts != 0) {
    story_.has_undone = true;
    return;
  }
  changed_[pass_->id] = false;
  story_.changed_at = place_.seq;
  if (!story_.from) story_.from = pass_->began;
}

void GuardReader::tell(const core::ActionsAnnounced& event) {
  if (pass_ && event.pass == pass_->id) pass_->announced_at = place_.seq;
}

void GuardReader::tell(const core::ActionSucceeded& event) {
  if (!pass_ || event.pass != pass_->id) return;
  note_change();
  left_.erase(event.target.text());
}

// One that cannot be told may have changed something.
void GuardReader::tell(const core::ActionRecovered& event) {
  if (!pass_ || event.pass != pass_->id || event.outcome == core::RecoveredOutcome::did_not) return;
  if (pass_->reverts == 0 || event.outcome == core::RecoveredOutcome::took_effect) note_change();
}

void GuardReader::tell(const core::ActionFailed& event) {
  if (!pass_ || event.pass != pass_->id) return;
  if (event.left) note_change();
  not_undone(event.target, event.reference, event.same_as == 0 ? event.message : "as before");
}

void GuardReader::tell(const core::ActionBlocked& event) {
  if (pass_ && event.pass == pass_->id) not_undone(event.target, event.reference, event.reason);
}

void GuardReader::tell(const core::ActionSkipped& event) {
  if (pass_ && event.pass == pass_->id) not_undone(event.target, event.reference, event.reason);
}

void GuardReader::not_undone(const model::Target& target, const model::Reference& reference,
                             const std::string& why) {
  if (pass_->reverts == 0) return;
  pass_->not_undone[target.text()] = reference.text() + " (" + target.text() + "): " + why;
}

void GuardReader::tell(const core::PassReverted& event) {
  if (!pass_ || event.by != pass_->id) return;
  story_.has_undone = true;
}

void GuardReader::tell(const core::PassFinished& event) {
  if (pass_ && event.pass == pass_->id) end_pass(true);
}

void GuardReader::tell(const core::PassInterrupted& event) {
  if (pass_ && event.pass == pass_->id) end_pass(false);
}

void GuardReader::end_pass(bool is_finished) {
  const auto pass = std::move(*std::exchange(pass_, std::nullopt));
  if (!is_finished) return;
  if (pass.reverts != 0) {
    story_.ended_by = pass.id;
    if (const auto found = changed_.find(pass.reverts); found != changed_.end())
      found->second = true;
    for (const auto& [target, words] : pass.not_undone) left_[target] = words;
    return;
  }
  if (story_.finished_at == 0) story_.finished_at = place_.seq;
  if (!story_.from || story_.is_finished) return;
  story_.from = place_.wall;
  story_.is_finished = true;
}

void GuardReader::tell(const core::LinkUp&) {
  story_.linked_since = story_.linked_since || story_.finished_at != 0;
}

void GuardReader::tell(const core::DeclarationRejected& event) {
  if (event.declaration == id_ && !passes_.empty()) story_.told = event.reason;
}

Result<GuardStory> read_guard_story(journal::Reader& reader, const core::DeclarationId& id,
                                    Seq since) {
  GuardReader story(id);
  DATUM_TRY(history::scan_events(reader, since + 1, [&story](const history::StoredEvent& stored) {
    story.take(stored);
    return journal::Visit::go_on;
  }));
  return std::move(story).finish();
}

std::string describe_undoing(const GuardStory& story, std::int64_t within_ns,
                             const std::vector<std::string>& lost) {
  // Leaves room in a record, which would cut it off in a name.
  constexpr std::size_t kRoom = 1800;
  const auto within = std::to_string(within_ns / kNsPerSecond) + " s after it was applied";
  auto words = story.has_undone ? "reverted: no link within " + within
                                : "cannot be reverted: no link within " + within;
  auto left = lost;
  left.insert(left.end(), story.not_undone.begin(), story.not_undone.end());
  for (std::size_t at = 0; at < left.size(); ++at) {
    if (words.size() + left[at].size() > kRoom)
      return words + "; and " + std::to_string(left.size() - at) + " more were not undone";
    words += (at == 0 ? "; not undone: " : ", ") + left[at];
  }
  return words;
}

}  // namespace datum::engine
