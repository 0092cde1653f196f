// One pass in the other mode. Both modes run the same commands up to the plan, so what observe
// would have said follows from the records before the first action: the same core that judged the
// pass judges it once more, with nothing done.
#include "datum/core/decide.hpp"
#include "datum/history/plan.hpp"
#include "datum/inspect/replay.hpp"
#include "datum/inspect/store_report.hpp"
#include "observed.hpp"
#include "passes.hpp"

namespace datum::inspect {

namespace {

constexpr auto kFirstAction = core::EventKind::actions_announced;
constexpr auto kFirstJudgement = core::EventKind::target_contested;

// Everything from the first refusal, announcement or change of ownership on.
bool is_acting(const core::Event& event) {
  const auto kind = core::kind_of(event);
  return kind >= kFirstAction && kind < kFirstJudgement;
}

struct Looked {
  core::State state;  // after the plan, before anything was done
  core::EventPlace last;
  core::PassStarted started;  // as it was recorded
  core::FinishPass finish;    // with what its end or its plan told
};

class PassReplay {
 public:
  PassReplay(core::State state, PassId pass) : pass_(pass) { looked_.state = std::move(state); }

  journal::Visit take(const history::StoredEvent& stored) {
    if (stored.place.seq == pass_) return begin(stored);
    if (std::holds_alternative<core::PassStarted>(stored.event)) return journal::Visit::stop;
    note_plan(stored.event);
    if (const auto* finished = std::get_if<core::PassFinished>(&stored.event)) {
      looked_.last = stored.place;
      end(*finished);
      return journal::Visit::stop;
    }
    if (std::holds_alternative<core::PassInterrupted>(stored.event)) return journal::Visit::stop;
    acting_ = acting_ || is_acting(stored.event) ||
              std::holds_alternative<core::StoreOpened>(stored.event);
    if (acting_) return journal::Visit::go_on;
    core::evolve(looked_.state, stored.event, stored.place);
    looked_.last = stored.place;
    return journal::Visit::go_on;
  }
  Looked result() { return std::move(looked_); }

 private:
  journal::Visit begin(const history::StoredEvent& stored) {
    const auto* started = std::get_if<core::PassStarted>(&stored.event);
    if (started == nullptr) return journal::Visit::stop;
    looked_.started = *started;
    auto observing = *started;
    core::ModeTerms terms;
    terms.argument = core::Mode::observe;
    observing.mode = core::host_mode(terms);
    core::evolve(looked_.state, observing, stored.place);
    looked_.last = stored.place;
    return journal::Visit::go_on;
  }
  void note_plan(const core::Event& event) {
    auto& finish = looked_.finish;
    if (const auto* computed = std::get_if<core::PlanComputed>(&event)) {
      finish.plan = computed->plan;
      finish.planned = computed->counts;
    } else if (const auto* announced = std::get_if<core::ActionsAnnounced>(&event)) {
      finish.plan = announced->plan;
    }
  }
  void end(const core::PassFinished& finished) {
    constexpr auto kCarried = static_cast<std::uint32_t>(core::StatusFlag::degraded);
    auto& finish = looked_.finish;
    finish.observations = finished.observations;
    finish.plan = finished.plan;
    finish.planned = finished.planned;
    finish.observed_only = finished.observed_only;
    finish.observed_only_drifted = finished.observed_only_drifted;
    finish.extra_flags = finished.flags & kCarried;
  }

  PassId pass_;
  bool acting_ = false;
  Looked looked_;
};

PassId last_begun(const core::State& state) {
  if (state.pass) return state.pass->id;
  const PassId finished = state.last_pass ? state.last_pass->id : 0;
  return std::max(finished, state.interrupted ? state.interrupted->pass : 0);
}

Result<Looked> look_at_pass(journal::Reader& reader, Seq at) {
  DATUM_ASSIGN(const auto state, history::fold(reader, at, true));
  const auto pass = last_begun(state);
  if (pass < 2)
    return fail(ErrorCode::not_found, "no pass had begun at record " + std::to_string(state.seq));
  DATUM_ASSIGN(auto before, history::fold(reader, pass - 1, true));
  PassReplay replay(std::move(before), pass);
  DATUM_TRY(history::scan_events(
      reader, pass, [&replay](const history::StoredEvent& stored) { return replay.take(stored); }));
  return replay.result();
}

}  // namespace

Result<Replayed> replay_as_observed(journal::Reader& reader, const ContentSource& content,
                                    Projection projection, Seq at, const Style& style) {
  if (projection != Projection::drift && projection != Projection::status)
    return fail(ErrorCode::invalid_argument,
                "--as observe concerns drift and status; nothing else depends on the mode");
  DATUM_ASSIGN(auto looked, look_at_pass(reader, at));
  looked.finish.now = looked.last.wall;
  looked.finish.mono = looked.last.mono;
  auto& state = looked.state;
  DATUM_ASSIGN(const auto events, core::decide(state, looked.finish));
  for (const auto& event : events) core::evolve(state, event, looked.last);
  const core::StatusInput now{looked.last.wall, looked.last.mono, looked.last.boot};
  const auto status = core::compute_status(state, now);
  Replayed replayed;
  if (projection == Projection::status) {
    DATUM_ASSIGN(const auto contests, read_contests(reader, state, now));
    replayed.text = status_text(state, status, {contests, {}}, now.now, style);
    replayed.json = status_json(state, status, {contests, {}}, now.now);
  } else {
    DATUM_ASSIGN(const auto seen, read_observations(reader, state, !style.fold));
    const PassLine line{state.host, state.last_pass->id,          state.last_pass->mode, status,
                        {},         core::pending_outcomes(state)};
    core::Plan plan;  // names what left the declaration
    if (looked.finish.planned.leave + looked.finish.planned.release != 0) {
      DATUM_ASSIGN(plan, history::read_plan(content, looked.finish.plan));
    }
    const auto acknowledged = core::standing_acknowledgements(state, looked.last.wall);
    replayed = drift_replayed(seen, acknowledged, plan, line, style);
  }
  replayed.at = looked.last.seq;
  return replayed;
}

Result<Replayed> replay_as_enforced(journal::Reader& reader, const ContentSource& content, Seq at,
                                    const Style& style) {
  DATUM_ASSIGN(const auto looked, look_at_pass(reader, at));
  core::Plan plan;
  if (!looked.finish.plan.empty()) {
    DATUM_ASSIGN(plan, history::read_plan(content, looked.finish.plan));
  }
  auto marking = style;
  marking.planned_word = "would be done";
  DATUM_ASSIGN(const auto seen, read_observations(reader, looked.state, !style.fold));
  Replayed replayed;
  replayed.at = looked.last.seq;
  const auto acknowledged = core::standing_acknowledgements(looked.state, looked.last.wall);
  replayed.text =
      plan_text(plan, {}, acknowledged, "datum replay drift --as enforce --all", marking) +
      drift_text(unknown_among(seen), acknowledged, style);
  if (plan.empty()) replayed.text += "Nothing would be done.\n";
  replayed.json = drift_json(unknown_among(seen), acknowledged, false) +
                  plan_json(plan, {}, acknowledged, "would be done");
  return replayed;
}

}  // namespace datum::inspect
