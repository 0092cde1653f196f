// Decisions about a pass: begin, what was observed, what was planned, how it ended.
#include <algorithm>
#include <set>

#include "assessment.hpp"
#include "bounds.hpp"
#include "decisions.hpp"

namespace datum::core {

Result<Events> Decider::operator()(const StartPass& command) const {
  if (!state_.open) return fail(ErrorCode::conflict, "the store is not open");
  if (state_.pass)
    return fail(ErrorCode::busy,
                "pass " + std::to_string(state_.pass->id) + " has begun and not ended");
  if (command.started.reverts != 0) return Events{command.started};
  if (command.manifest_empty && !command.manifest_final)
    return fail(ErrorCode::refused,
                "the manifest is empty; one that is meant to be is marked final (--final)");
  if (state_.accepted &&
      (command.foreign_manifest || command.started.declaration != *state_.accepted))
    return fail(ErrorCode::refused,
                "the store is bound to an accepted declaration and reconciles nothing else");
  return Events{command.started};
}

static void add_undeclared(const Observation& observation, ResourceObserved& event) {
  std::size_t bytes = 0;
  for (const auto& entry : observation.purge) {
    bytes += kElementOverhead + entry.name.size() + std::min(entry.reason.size(), kMaxMessage);
    if (bytes > kMaxUndeclaredBytes)
      ++event.not_declared_more;
    else
      event.not_declared.push_back(
          {entry.name, entry.found, entry.removable, entry.is_drift, bounded(entry.reason)});
  }
}

static ResourceObserved observed_event(PassId pass, const Observation& observation) {
  ResourceObserved event;
  event.pass = pass;
  event.reference = observation.reference;
  event.target = observation.target;
  event.condition = observation.condition;
  event.found = observation.found;
  event.drifts = observation.drifts;
  event.reason = bounded(observation.reason);
  event.obstacle = observation.obstacle;
  event.detail = bounded(observation.obstacle_detail);
  event.missing_parent = observation.missing_parent;
  add_undeclared(observation, event);
  event.observation = observation.digest;
  event.content = observation.content;
  event.traces = observation.traces;
  return event;
}

static void append_forgotten(const State& state, const std::vector<const ResourceState*>& seen,
                             Events& events) {
  std::vector<model::Target> gone;
  for (const auto& [target, resource] : state.resources)
    if (!std::binary_search(seen.begin(), seen.end(), &resource)) gone.push_back(target);
  const auto name_of = [](const model::Target& target) -> const SharedText& { return target.name; };
  split_by_size(gone, name_of, [&](std::size_t begin, std::size_t end) {
    ResourcesForgotten event;
    event.pass = state.pass->id;
    event.targets.assign(gone.begin() + static_cast<std::ptrdiff_t>(begin),
                         gone.begin() + static_cast<std::ptrdiff_t>(end));
    events.push_back(std::move(event));
  });
}

namespace {
// The observations of a pass against what the state knows: what is new of them, and which known
// resources they name.
struct Compared {
  std::vector<const Observation*> changed;
  std::vector<const ResourceState*> known;  // sorted
};
}  // namespace

static tl::unexpected<Error> observed_twice(const model::Target& target) {
  return fail(ErrorCode::conflict, target.text() + " was observed twice");
}

static Result<Compared> compare_observations(const State& state,
                                             std::span<const Observation> observations) {
  Compared compared;
  std::set<model::Target> fresh;
  compared.known.reserve(observations.size());
  auto next = state.resources.begin();  // names often have the order of their targets
  for (const auto& seen : observations) {
    const bool is_next = next != state.resources.end() && next->first == seen.target;
    const auto known = is_next ? next : state.resources.find(seen.target);
    if (known == state.resources.end()) {
      if (!fresh.insert(seen.target).second) return observed_twice(seen.target);
    } else {
      next = std::next(known);
      compared.known.push_back(&known->second);
      if (known->second.observation == seen.digest) continue;
    }
    compared.changed.push_back(&seen);
  }
  if (!std::is_sorted(compared.known.begin(), compared.known.end()))
    std::sort(compared.known.begin(), compared.known.end());
  const auto twice = std::adjacent_find(compared.known.begin(), compared.known.end());
  if (twice != compared.known.end())
    return fail(ErrorCode::conflict, (*twice)->reference.text() + " was observed twice");
  return compared;
}

Result<Events> Decider::operator()(const RecordObservations& command) const {
  DATUM_TRY(need_pass());
  // It declares nothing, and may only tell what it saw of what is declared.
  const bool reverts = state_.pass->started.reverts != 0;
  if (reverts && !command.partial)
    return fail(ErrorCode::refused, "a reverting pass is not measured against its manifest");
  DATUM_ASSIGN(auto compared, compare_observations(state_, command.observations));
  if (reverts && compared.known.size() != command.observations.size())
    return fail(ErrorCode::refused, "a reverting pass observes only what is declared");
  const auto before = [](const Observation* a, const Observation* b) {
    return a->reference < b->reference;
  };
  if (!std::is_sorted(compared.changed.begin(), compared.changed.end(), before))
    std::sort(compared.changed.begin(), compared.changed.end(), before);
  Events events;
  if (!command.partial && compared.known.size() != state_.resources.size())
    append_forgotten(state_, compared.known, events);
  for (const auto* observation : compared.changed)
    events.push_back(observed_event(state_.pass->id, *observation));
  return events;
}

Result<Events> Decider::operator()(const RecordPlan& command) const {
  DATUM_TRY(need_pass());
  if (command.empty || command.digest == state_.last_plan) return Events{};
  const auto pass = state_.pass->id;
  return Events{PlanComputed{pass, command.digest, command.counts}};
}

// A reverting pass leaves what the last pass over the declaration found, and adds its failures.
static PassFacts facts_at_revert(const State& state) {
  auto facts = facts_of_last_pass(state);
  facts.failed = facts.failed || state.pass->failed != 0 || state.pass->blocked != 0;
  return facts;
}

static PassFacts facts_at_end(const PassState& pass, const FinishPass& command) {
  PassFacts facts;
  facts.finished = true;
  facts.declaration = pass.started.declaration;
  facts.mode = pass.started.mode.mode;
  facts.held = pass.started.mode.term == ModeTerm::hold;
  facts.failed = pass.failed != 0 || pass.blocked != 0;
  facts.observed_only = command.observed_only;
  facts.observed_only_drifted = command.observed_only_drifted;
  facts.planned_removals = command.planned.leave;
  facts.carried_flags = command.extra_flags;
  facts.wall = command.now;
  return facts;
}

Result<Events> Decider::operator()(const FinishPass& command) const {
  DATUM_TRY(need_no_open_action());
  const auto& pass = *state_.pass;
  StatusInput input;
  input.now = command.now;
  input.mono = command.mono;
  input.boot = state_.boot;
  const bool reverts = pass.started.reverts != 0;
  const auto facts = reverts ? facts_at_revert(state_) : facts_at_end(pass, command);
  const auto status = assess(state_, facts, input);
  PassFinished finished;
  finished.pass = pass.id;
  finished.condition = status.condition;
  finished.flags = status.flags;
  finished.counts = status.counts;
  finished.planned = command.planned;
  finished.succeeded = pass.succeeded;
  finished.failed = pass.failed;
  finished.blocked = pass.blocked;
  finished.skipped = pass.skipped;
  finished.not_started = pass.not_started;
  finished.observed_only = command.observed_only;
  finished.observed_only_drifted = command.observed_only_drifted;
  finished.observations = command.observations;
  finished.plan = command.plan;
  finished.duration_ns = std::max<std::int64_t>(0, command.mono.ns - pass.started_mono.ns);
  Events events;
  // An empty plan: everything was as before already.
  const bool undone = pass.succeeded != 0 || command.plan.empty();
  if (reverts && undone && pass.started.mode.mode == Mode::enforce)
    events.push_back(PassReverted{pass.started.reverts, pass.id});
  events.push_back(finished);
  return events;
}

// The clock of the pass's boot says which of the two it was, whatever the caller takes it for.
Result<Events> Decider::operator()(const InterruptPass& command) const {
  DATUM_TRY(need_no_open_action());
  PassInterrupted interrupted{state_.pass->id, command.cause, bounded(command.detail)};
  if (command.cause == Interruption::crash || command.cause == Interruption::reboot)
    interrupted.cause =
        state_.pass->boot == state_.boot ? Interruption::crash : Interruption::reboot;
  return Events{interrupted};
}

}  // namespace datum::core
