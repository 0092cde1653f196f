// Events of a pass: its begin and end, what was observed, what was planned.
#include "evolve.hpp"
#include "judgement.hpp"

namespace datum::core {

// Only actions of the pass before this one are marked blocked, and a pass that finished counted
// them: walking all resources for nothing would cost more than the rest of a fold.
static bool may_have_blocked(const State& state) {
  return state.pass || state.interrupted || !state.last_pass ||
         state.last_pass->finished.blocked != 0;
}

void Evolver::operator()(const PassStarted& event) const {
  if (may_have_blocked(state_))
    for (auto& [target, resource] : state_.resources) resource.blocked = false;
  PassState pass;
  pass.id = place_.seq;
  pass.started = event;
  pass.started_mono = place_.mono;
  pass.boot = place_.boot;
  state_.pass = std::move(pass);
  // What is put back is nobody's declaration.
  if (event.reverts != 0) return;
  state_.last_declared = event.declaration.manifest;
  if (event.mode.mode == Mode::enforce)
    std::erase_if(state_.kept, [&event](const auto& entry) {
      const auto& manifest = entry.second.manifest;
      return !manifest.empty() && manifest != event.declaration.manifest;
    });
  // A local declaration is accepted by enforcing it: a newer one is another chance, as for a mesh.
  if (event.mode.mode != Mode::enforce || event.declaration.manifest == state_.suspected_in) return;
  state_.suspects.clear();
  state_.quarantined.clear();
}

// A resource that is as declared has no failure any more.
void Evolver::operator()(const ResourceObserved& event) const {
  auto& resource = state_.resources[event.target];
  resource.reference = event.reference;
  resource.condition = event.condition;
  resource.found = event.found;
  resource.observation = event.observation;
  resource.observed_at = place_.seq;
  resource.seen_in = event.pass;
  if (event.condition == Condition::converged) state_.failures.erase(event.target);
}

void Evolver::operator()(const ObservationSummarized& event) const {
  if (!state_.pass) return;
  state_.pass->counts = event.counts;
  state_.pass->observations = event.observations;
}

void Evolver::operator()(const PlanComputed& event) const {
  state_.last_plan = event.plan;
  if (!state_.pass) return;
  state_.pass->plan = event.plan;
  state_.pass->planned = event.counts;
}

// What this pass acted on and what did not fail again has no failure that stands; a pass that only
// observed proves nothing about that. A contest that nobody fought for a day is over.
void Evolver::operator()(const PassFinished& event) const {
  if (state_.pass && state_.pass->started.reverts != 0) return state_.pass.reset();
  LastPass last;
  last.id = event.pass;
  last.finished_at = place_.seq;
  last.finished = event;
  last.wall = place_.wall;
  if (state_.pass) {
    last.mode = state_.pass->started.mode;
    last.declaration = state_.pass->started.declaration;
  }
  if (last.mode.mode == Mode::enforce)
    std::erase_if(state_.failures,
                  [&](const auto& entry) { return entry.second.pass != event.pass; });
  std::erase_if(state_.contests, [&](const auto& entry) {
    const auto& corrections = entry.second.corrections;
    const Correction now{place_.wall, place_.mono, place_.boot};
    return corrections.empty() || elapsed_ns(corrections.back(), now) > kContestedWithinNs;
  });
  end_loss();
  state_.last_pass = std::move(last);
  state_.interrupted.reset();
  state_.pass.reset();
}

void Evolver::operator()(const PassInterrupted& event) const {
  state_.interrupted = event;
  state_.pass.reset();
}

void Evolver::operator()(const ResourcesForgotten& event) const {
  for (const auto& target : event.targets) {
    state_.resources.erase(target);
    state_.failures.erase(target);
    state_.contests.erase(target);
    state_.acknowledged.erase(target);
  }
}

}  // namespace datum::core
