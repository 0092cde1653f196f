// Gathering what a pass did: announcements with their ends, what became owned and what was let go.
#include "done.hpp"

#include <algorithm>

#include "datum/history/plan.hpp"

namespace datum::engine {

namespace {

class Gatherer {
 public:
  explicit Gatherer(PassId pass) : pass_(pass) {}

  journal::Visit take(const history::StoredEvent& stored) {
    if (stored.place.seq == pass_) {
      if (const auto* started = std::get_if<core::PassStarted>(&stored.event)) {
        result_.started = *started;
        return journal::Visit::go_on;
      }
      return journal::Visit::stop;
    }
    if (core::pass_of(stored.event) != pass_) return journal::Visit::go_on;
    std::visit([this](const auto& event) { tell(event); }, stored.event);
    return ended_ ? journal::Visit::stop : journal::Visit::go_on;
  }

  DonePass finish(const ContentSource& content) {
    if (!plan_.empty()) add_plan(history::read_plan(content, plan_));
    for (auto& [ordinal, one] : by_ordinal_)
      if (one.ended) keep(std::move(one.done));
    return std::move(result_);
  }
  [[nodiscard]] const std::map<model::Target, model::Reference>& removed() const {
    return removed_;
  }

 private:
  struct Action {
    Done done;
    bool ended = false;
  };

  void tell(const core::PlanComputed& event) { plan_ = event.plan; }
  void tell(const core::ActionsAnnounced& event) {
    plan_ = event.plan;
    for (const auto& action : event.actions) by_ordinal_[action.ordinal].done.announced = action;
  }
  void tell(const core::ActionSucceeded& event) {
    auto& one = by_ordinal_[event.ordinal];
    one.ended = true;
    one.done.left = event.left;
    one.done.traces = event.traces;
    one.done.reference = event.reference;
    one.done.atomic = event.atomic;
    one.done.told = true;
  }
  // A later record of the same action says only that its file came or went.
  void tell(const core::ActionRecovered& event) {
    const auto found = by_ordinal_.find(event.ordinal);
    if (found == by_ordinal_.end() || found->second.ended || failed_.contains(event.ordinal))
      return;
    if (event.outcome == core::RecoveredOutcome::did_not) return;
    auto& one = found->second;
    one.ended = true;
    one.done.left = event.left;
    one.done.traces = event.traces;
    one.done.tellable = event.outcome == core::RecoveredOutcome::took_effect;
  }
  // What it changed all the same is there to be undone.
  void tell(const core::ActionFailed& event) {
    const auto found = by_ordinal_.find(event.ordinal);
    if (found == by_ordinal_.end() || !event.left) {
      failed_[event.ordinal] = true;
      return;
    }
    auto& one = found->second;
    one.ended = true;
    one.done.left = *event.left;
    one.done.traces = event.traces;
    one.done.reference = event.reference;
    one.done.told = true;
  }
  void tell(const core::ActionSkipped& event) { failed_[event.ordinal] = true; }
  void tell(const core::OldContentNotKept& event) {
    constexpr std::string_view kSaid = "old content not kept: ";
    const std::string_view reason = event.reason;
    not_kept_[event.target] = reason.substr(reason.starts_with(kSaid) ? kSaid.size() : 0);
  }
  void tell(const core::OwnershipCreated& event) { disowned_[event.target] = true; }
  void tell(const core::OwnershipAdopted& event) { disowned_[event.target] = true; }
  void tell(const core::OwnershipRemoved& event) { removed_[event.target] = event.reference; }
  void tell(const core::OwnershipReleased& event) { removed_[event.target] = event.reference; }
  void tell(const core::PassFinished& event) {
    if (!event.plan.empty()) plan_ = event.plan;
    ended_ = true;
  }
  void tell(const core::PassInterrupted&) { ended_ = true; }
  template <class Other>
  void tell(const Other&) {}

  void add_plan(Result<core::Plan> plan) {
    if (!plan) return;
    for (auto& action : plan->actions) {
      const auto found = by_ordinal_.find(action.ordinal);
      if (found == by_ordinal_.end()) continue;
      found->second.done.changes = std::move(action.changes);
      found->second.done.reference = action.reference;
    }
    result_.notifications = std::move(plan->notifications);
  }

  void keep(Done done) {
    const auto& target = done.announced.target;
    if (const auto found = not_kept_.find(target); found != not_kept_.end())
      done.not_kept = found->second;
    done.disowns = disowned_.contains(target);
    result_.done.insert_or_assign(target, std::move(done));
  }

  PassId pass_;
  DonePass result_;
  Digest plan_;
  bool ended_ = false;
  std::map<std::uint32_t, Action> by_ordinal_;
  std::map<std::uint32_t, bool> failed_;
  std::map<model::Target, std::string> not_kept_;
  std::map<model::Target, bool> disowned_;
  std::map<model::Target, model::Reference> removed_;
};

// How a target was owned when the pass let it go, from the older records about it. Where they do
// not tell any more, as if adopted: Datum never removes that.
Result<core::Owned> read_ownership(journal::Reader& reader, const model::Target& target,
                                   const model::Reference& reference, PassId pass) {
  constexpr std::size_t kStep = 256;
  core::Owned owned;
  owned.reference = reference;
  for (Seq from = 1; from < pass;) {
    DATUM_ASSIGN(const auto events, history::find_target(reader, target, from, kStep));
    for (const auto& stored : events) {
      if (stored.place.seq >= pass) return owned;
      if (const auto* created = std::get_if<core::OwnershipCreated>(&stored.event)) {
        owned.created = true;
        owned.protect = created->protect;
        owned.requirements = created->requirements;
      } else if (const auto* adopted = std::get_if<core::OwnershipAdopted>(&stored.event)) {
        owned.created = false;
        owned.protect = adopted->protect;
        owned.requirements = adopted->requirements;
      } else if (const auto* renamed = std::get_if<core::OwnershipRenamed>(&stored.event)) {
        owned.protect = renamed->protect;
        owned.requirements = renamed->requirements;
      }
    }
    if (events.size() < kStep) break;
    from = events.back().place.seq + 1;
  }
  return owned;
}

Status check_is_pass(journal::Reader& reader, PassId pass) {
  const auto number = std::to_string(pass);
  DATUM_ASSIGN(const auto head, reader.read_head());
  // Of a pass before a gap in the archive some records may be here: not enough to act upon.
  if (pass < head.first)
    return fail(ErrorCode::not_found, "the records of pass " + number + " are not here any more");
  auto stored = history::read_event(reader, pass);
  if (!stored && stored.error().code() == ErrorCode::not_found)
    return fail(ErrorCode::not_found, "there is no pass " + number);
  if (!stored) return fail(std::move(stored).error());
  if (std::holds_alternative<core::PassStarted>(stored->event)) return {};
  return fail(ErrorCode::not_found,
              "record " + number + " begins no pass; `datum replay passes` lists them");
}

}  // namespace

Result<DonePass> read_done(journal::Reader& reader, const ContentSource& content, PassId pass) {
  DATUM_TRY(check_is_pass(reader, pass));
  Gatherer gatherer(pass);
  DATUM_TRY(history::scan_events(reader, pass, [&gatherer](const history::StoredEvent& stored) {
    return gatherer.take(stored);
  }));
  auto result = gatherer.finish(content);
  for (const auto& [target, reference] : gatherer.removed()) {
    const auto done = result.done.find(target);
    if (done == result.done.end()) continue;
    DATUM_ASSIGN(done->second.owned, read_ownership(reader, target, reference, pass));
  }
  if (result.done.empty())
    return fail(ErrorCode::refused, "pass " + std::to_string(pass) + " changed nothing");
  return result;
}

}  // namespace datum::engine
