// Gathers the records of one pass, in order, into its story.
#include "datum/inspect/pass_story.hpp"

#include <algorithm>
#include <set>

#include "datum/history/documents.hpp"
#include "datum/history/plan.hpp"
#include "pass_chain.hpp"

namespace datum::inspect {

namespace {

class Teller {
 public:
  explicit Teller(PassStory& story) : story_(story) {}

  // Records from the beginning of the pass on. `stop` once nothing of it can follow.
  journal::Visit take(const history::StoredEvent& stored) {
    place_ = stored.place;
    const auto of_pass =
        stored.place.seq == story_.pass || core::pass_of(stored.event) == story_.pass;
    if (!ended_ && !of_pass) note_break(stored);
    std::visit([this](const auto& event) { tell(event); }, stored.event);
    if (of_pass) story_.last = place_;
    if (of_pass || !ended_) {
      before_ = place_;
      before_kind_ = std::string(core::to_string(core::kind_of(stored.event)));
    }
    return ended_ && waiting_.empty() && next_seen_ ? journal::Visit::stop : journal::Visit::go_on;
  }
  [[nodiscard]] bool has_ended() const { return ended_; }
  // By ordinal, those that a record names.
  [[nodiscard]] std::vector<ActionStory> take_actions() {
    std::vector<ActionStory> actions;
    for (auto& [ordinal, one] : actions_) actions.push_back(std::move(one));
    return actions;
  }
  // The journal ends here.
  void finish() {
    if (ended_ || story_.interruption) return;
    Interruption cut;
    cut.last = before_;
    cut.last_kind = before_kind_;
    cut.open = open_;
    story_.interruption = cut;
  }

 private:
  ActionStory& action(std::uint32_t ordinal) {
    // More actions than any plan has; a record that names a higher one gets no memory for it.
    constexpr std::uint32_t kMaxOrdinal = 1U << 24U;
    if (ordinal >= kMaxOrdinal) return spare_;
    auto& one = actions_[ordinal];
    one.ordinal = ordinal;
    return one;
  }
  template <class Event>
  [[nodiscard]] bool is_ours(const Event& event) const {
    return event.pass == story_.pass;
  }
  // The store was opened anew while the pass had no end: what ran it is gone.
  void note_break(const history::StoredEvent& stored) {
    const auto* opened = std::get_if<core::StoreOpened>(&stored.event);
    if (opened == nullptr || story_.interruption) return;
    Interruption cut;
    cut.last = before_;
    cut.last_kind = before_kind_;
    cut.open = open_;
    cut.reopened = place_;
    cut.last_end = opened->last_end;
    story_.interruption = cut;
  }
  ActionStory& end(std::uint32_t ordinal, core::Phase phase) {
    auto& one = action(ordinal);
    if (one.announced.seq != 0 && one.ended.seq == 0 && open_ > 0) --open_;
    one.ended = place_;
    one.phase = phase;
    return one;
  }

  void tell(const core::PassStarted& event) {
    if (place_.seq != story_.pass) {
      next_seen_ = true;
      if (story_.interruption && story_.interruption->followed_by == 0)
        story_.interruption->followed_by = place_.seq;
      return;
    }
    story_.started = event;
    story_.began = place_;
  }
  void tell(const core::PlanComputed& event) {
    if (!is_ours(event)) return;
    story_.plan = event.plan;
    story_.planned = event.counts;
  }
  void tell(const core::ActionsAnnounced& event) {
    if (!is_ours(event)) return;
    story_.plan = event.plan;
    for (const auto& announced : event.actions) {
      auto& one = action(announced.ordinal);
      one.kind = announced.kind;
      one.target = announced.target;
      one.before = announced.before;
      one.old_content = announced.old_content;
      one.wave = event.wave;
      one.announced = place_;
      one.phase = core::Phase::announced;
      ++open_;
    }
  }
  void tell(const core::ActionSucceeded& event) {
    if (!is_ours(event)) return;
    auto& one = end(event.ordinal, core::Phase::succeeded);
    one.kind = event.kind;
    one.target = event.target;
    one.reference = event.reference;
    one.condition = event.condition;
    one.atomic = event.atomic;
    one.duration_ns = event.duration_ns;
  }
  void tell(const core::ActionFailed& event) {
    if (!is_ours(event)) return;
    auto& one = end(event.ordinal, core::Phase::failed);
    one.target = event.target;
    one.reference = event.reference;
    one.message = event.message;
    one.output = event.output;
    one.same_as = event.same_as;
    if (event.message.empty()) one.message = std::string(datum::to_string(event.error));
  }
  void tell(const core::ActionBlocked& event) {
    if (!is_ours(event)) return;
    auto& one = end(event.ordinal, core::Phase::blocked);
    one.target = event.target;
    one.reference = event.reference;
    one.blocked_by = event.by;
    one.message = event.reason;
  }
  void tell(const core::ActionSkipped& event) {
    if (!is_ours(event)) return;
    auto& one = end(event.ordinal, core::Phase::skipped);
    one.target = event.target;
    one.reference = event.reference;
    one.message = event.reason;
  }
  void tell(const core::ActionsNotStarted& event) {
    if (!is_ours(event)) return;
    for (const auto ordinal : event.ordinals)
      end(ordinal, core::Phase::not_started).message = event.reason;
  }
  void tell(const core::ActionTimedOut& event) {
    if (is_ours(event)) action(event.ordinal).message = "its limit passed";
  }
  void tell(const core::ActionStillRunning& event) {
    if (is_ours(event)) action(event.ordinal).message = "still running as " + event.unit;
  }
  void tell(const core::ActionQuarantined& event) {
    if (is_ours(event) && event.deaths != 0) action(event.ordinal).deaths = event.deaths;
  }
  // Of an action that had no end; of one that had, or in a later record of the same ordinal, only
  // that its file came or went.
  void tell(const core::ActionRecovered& event) {
    if (!is_ours(event)) return;
    auto& one = action(event.ordinal);
    one.leftover = event.temporary_left;
    if (one.recovered || one.ended.seq != 0) return;
    one.recovered = event.outcome;
    one.recovered_at = place_;
    if (event.outcome == core::RecoveredOutcome::took_effect) one.phase = core::Phase::succeeded;
    if (event.outcome == core::RecoveredOutcome::untellable) one.phase = core::Phase::failed;
    if (event.outcome == core::RecoveredOutcome::did_not) one.phase = core::Phase::waiting;
  }
  void tell(const core::OldContentNotKept& event) {
    if (!is_ours(event)) return;
    not_kept_[event.target] = event.reason;
    for (auto& [ordinal, one] : actions_)
      if (one.wave != 0 && one.target == event.target) one.not_kept = event.reason;
  }
  void tell(const core::NotificationRaised& event) {
    if (!is_ours(event)) return;
    auto known = std::find_if(story_.notifications.begin(), story_.notifications.end(),
                              [&](const auto& one) { return one.unit == event.unit; });
    if (known == story_.notifications.end()) {
      story_.notifications.push_back(
          {event.unit, event.service, false, {}, place_, {}, {}, "pending", {}, false});
      known = std::prev(story_.notifications.end());
      waiting_.insert(event.unit);
    }
    known->restart = known->restart || event.restart;
    known->by.push_back(event.by);
  }
  NotificationStory* waiting(const model::Target& unit) {
    if (!waiting_.contains(unit)) return nullptr;
    for (auto& one : story_.notifications)
      if (one.unit == unit) return &one;
    return nullptr;
  }
  void tell(const core::DeliveryStarted& event) {
    if (auto* one = waiting(event.unit)) one->started = place_;
  }
  void end_notification(const model::Target& unit, const char* word, const std::string& message) {
    auto* one = waiting(unit);
    if (one == nullptr) return;
    one->ended = place_;
    one->end = word;
    one->message = message;
    waiting_.erase(unit);
  }
  void tell(const core::NotificationDelivered& event) {
    if (auto* one = waiting(event.unit)) one->repeated = event.repeated;
    end_notification(event.unit, "delivered", {});
  }
  void tell(const core::DeliveryFailed& event) {
    if (auto* one = waiting(event.unit)) one->message = event.message;
  }
  void tell(const core::NotificationDropped& event) {
    end_notification(event.unit, "dropped", event.reason);
  }
  template <class Event>
  void own(const Event& event, const char* word) {
    if (is_ours(event)) ++story_.ownership[word];
  }
  void tell(const core::OwnershipCreated& event) { own(event, "created"); }
  void tell(const core::OwnershipAdopted& event) { own(event, "adopted"); }
  void tell(const core::OwnershipRenamed& event) { own(event, "renamed"); }
  void tell(const core::OwnershipReleased& event) { own(event, "released"); }
  void tell(const core::OwnershipRemoved& event) { own(event, "removed"); }
  void tell(const core::PassReverted& event) {
    if (is_ours(event)) story_.undone_by = event.by;
  }
  void tell(const core::TargetKept& event) {
    own(event, event.until_generation == 0 ? "no longer kept" : "kept");
  }
  void tell(const core::PassFinished& event) {
    if (!is_ours(event)) return;
    story_.finished = event;
    if (!event.plan.empty()) story_.plan = event.plan;
    story_.planned = event.planned;
    ended_ = true;
  }
  void tell(const core::PassInterrupted& event) {
    if (!is_ours(event)) return;
    ended_ = true;
    if (!story_.interruption) {
      story_.interruption.emplace();
      story_.interruption->last = before_;
      story_.interruption->last_kind = before_kind_;
    }
    story_.interruption->recorded = place_;
    story_.interruption->cause = event.cause;
    story_.interruption->detail = event.detail;
  }
  template <class Event>
  void tell(const Event&) {}

  PassStory& story_;
  core::EventPlace place_;
  core::EventPlace before_;
  std::string before_kind_;
  std::size_t open_ = 0;
  bool ended_ = false;
  bool next_seen_ = false;
  std::set<model::Target> waiting_;
  std::map<model::Target, std::string> not_kept_;
  std::map<std::uint32_t, ActionStory> actions_;
  ActionStory spare_;
};

// What only the plan tells; what was recorded of an action goes first.
void add_plan(PassStory& story, const core::Plan& plan) {
  std::map<std::uint32_t, ActionStory> actions;
  for (auto& one : story.actions) actions.emplace(one.ordinal, std::move(one));
  for (const auto& planned : plan.actions) {
    auto& one = actions[planned.ordinal];
    one.ordinal = planned.ordinal;
    one.kind = planned.kind;
    one.target = planned.target;
    one.reference = planned.reference;
    one.changes = planned.changes;
    one.after = planned.after;
    one.privileged = planned.privileged;
    one.observe_only = planned.observe_only;
    if (one.before == core::Found::unseen) one.before = planned.found;
    if (one.message.empty()) one.message = planned.refusal.empty() ? planned.note : planned.refusal;
    if (one.blocked_by.empty()) one.blocked_by = planned.blocked_on;
  }
  story.actions.clear();
  for (auto& [ordinal, one] : actions) story.actions.push_back(std::move(one));
  story.planned = plan.counts;
}

// A plan that equals the last one that was recorded is not recorded again: its size stands there.
Status find_planned(journal::Reader& reader, PassStory& story) {
  constexpr auto kComputed = static_cast<std::uint16_t>(core::EventKind::plan_computed);
  return reader.scan_back(story.pass - 1, [&](const journal::Record& record) {
    if (record.kind != kComputed) return journal::Visit::go_on;
    const auto stored = history::decode(record);
    const auto* computed = stored ? std::get_if<core::PlanComputed>(&stored->event) : nullptr;
    if (computed != nullptr && computed->plan == story.plan) story.planned = computed->counts;
    return journal::Visit::stop;
  });
}

void add_documents(PassStory& story, const ContentSource& content) {
  const auto& digest = story.started.provenance.documents;
  if (digest.empty()) {
    story.documents_missing = "the pass recorded none";
    return;
  }
  const auto lines = history::read_documents(content, digest);
  if (!lines) {
    story.documents_missing = lines.error().message();
    return;
  }
  for (auto& one : story.actions)
    if (const auto found = lines->find(one.reference.text()); found != lines->end())
      one.documents = found->second;
}

Result<PassId> last_pass(journal::Reader& reader) {
  PassId pass = 0;
  constexpr auto kStarted = static_cast<std::uint16_t>(core::EventKind::pass_started);
  DATUM_TRY(reader.scan_back(0, [&](const auto& record) {
    if (record.kind != kStarted) return journal::Visit::go_on;
    pass = record.seq;
    return journal::Visit::stop;
  }));
  if (pass == 0) return fail(ErrorCode::not_found, "no pass has begun in this journal");
  return pass;
}

Status check_is_pass(journal::Reader& reader, PassId pass) {
  DATUM_ASSIGN(const auto stored, history::read_event(reader, pass));
  if (std::holds_alternative<core::PassStarted>(stored.event)) return {};
  return fail(ErrorCode::not_found, "record " + std::to_string(pass) +
                                        " begins no pass; `datum replay passes` lists them");
}

// Records about a pass that came long after it.
Result<PassId> find_undoing(journal::Reader& reader, PassId pass, Seq after, PassId known) {
  constexpr std::size_t kLater = 1000;  // removed files of dead actions, and undoings
  DATUM_ASSIGN(const auto later, history::find_pass(reader, pass, after + 1, kLater));
  PassId by = known;
  for (const auto seq : later) {
    DATUM_ASSIGN(const auto stored, history::read_event(reader, seq));
    if (const auto* reverted = std::get_if<core::PassReverted>(&stored.event)) by = reverted->by;
  }
  return by;
}

}  // namespace

std::size_t PassStory::count(core::Phase phase) const {
  return static_cast<std::size_t>(std::count_if(
      actions.begin(), actions.end(), [phase](const auto& one) { return one.phase == phase; }));
}

const ActionStory* PassStory::find(std::uint32_t ordinal) const {
  const auto found =
      std::lower_bound(actions.begin(), actions.end(), ordinal,
                       [](const auto& one, std::uint32_t wanted) { return one.ordinal < wanted; });
  return found == actions.end() || found->ordinal != ordinal ? nullptr : &*found;
}

std::optional<std::size_t> PassStory::changes() const {
  if (!planned) return std::nullopt;
  const auto& counts = *planned;
  return std::size_t{counts.create} + counts.update + counts.replace + counts.remove +
         counts.purge + counts.leave;
}

std::optional<std::size_t> PassStory::untold() const {
  if (plan_missing.empty()) return 0;
  const auto all = changes();
  const auto told = static_cast<std::size_t>(
      std::count_if(actions.begin(), actions.end(), [](const auto& one) { return one.acts(); }));
  if (!all || *all < told) return std::nullopt;
  return *all - told;
}

static Status tell_records(journal::Reader& reader, PassStory& story) {
  Teller teller(story);
  Seq missing = 0;
  Seq next = story.pass;
  DATUM_TRY(history::scan_events(reader, story.pass, [&](const history::StoredEvent& stored) {
    // What lies in a gap may be the end of the pass: nothing behind it is held to be that.
    if (stored.place.seq != next && !teller.has_ended()) {
      missing = next;
      return journal::Visit::stop;
    }
    next = stored.place.seq + 1;
    return teller.take(stored);
  }));
  if (missing != 0)
    return fail(ErrorCode::not_found, "pass " + std::to_string(story.pass) +
                                          " did not end before record " + std::to_string(missing) +
                                          ", which is archived, and no file of the archive has it");
  teller.finish();
  story.actions = teller.take_actions();
  return {};
}

Result<PassStory> tell_pass(journal::Reader& reader, const ContentSource& content, PassId pass) {
  PassStory story;
  if (pass == 0) {
    DATUM_ASSIGN(pass, last_pass(reader));
  }
  story.pass = pass;
  DATUM_TRY(check_is_pass(reader, pass));
  DATUM_ASSIGN(const auto head, reader.read_head());
  story.head = head.seq;
  DATUM_TRY(tell_records(reader, story));
  const auto state = history::fold(reader, pass, true);
  if (state) {
    story.host = state->host;
    story.root = state->root;
    story.store = state->store;
  } else if (state.error().code() == ErrorCode::corrupt) {
    return fail(state.error());
  }  // else what lies before the pass is gone, and with it the names
  if (story.host.empty()) story.host = story.started.declaration.node;
  story.store = reader.store_id().empty() ? story.store : reader.store_id();
  if (!story.plan.empty()) {
    const auto plan = history::read_plan(content, story.plan);
    if (plan) {
      add_plan(story, *plan);
    } else {
      story.plan_missing = plan.error().message();
      if (!story.planned && pass > 1) DATUM_TRY(find_planned(reader, story));
    }
  }
  DATUM_ASSIGN(story.undone_by, find_undoing(reader, pass, story.last.seq, story.undone_by));
  add_documents(story, content);
  find_chains(story);
  return story;
}

}  // namespace datum::inspect
