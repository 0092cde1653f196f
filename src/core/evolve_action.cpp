// Events of actions and notifications.
#include <algorithm>

#include "evolve.hpp"
#include "judgement.hpp"
#include "planning.hpp"

namespace datum::core {
namespace {

// More actions than any plan has; a record that names a higher one is not believed with memory.
constexpr std::uint32_t kMaxOrdinal = 1U << 24;

// A target that some document declares, and not an entry or a leftover that was removed.
bool is_declared_kind(ActionKind kind) {
  return kind != ActionKind::purge && kind != ActionKind::leave;
}

void end_delivery(PendingNotification& pending) {
  pending.started = pending.again = pending.started_restart = false;
  pending.invocation.clear();
  pending.boot = {};
}

}  // namespace

void Evolver::end_action(std::uint32_t ordinal, Phase phase) const {
  if (!state_.pass || ordinal >= kMaxOrdinal) return;
  auto& pass = *state_.pass;
  if (phase != Phase::announced) pass.open.erase(ordinal);
  if (ordinal >= pass.phases.size()) pass.phases.resize(ordinal + 1, Phase::waiting);
  pass.phases[ordinal] = phase;
}

void Evolver::operator()(const ActionsAnnounced& event) const {
  if (!state_.pass) return;
  auto& pass = *state_.pass;
  if (event.wave != pass.waves) pass.wave_size = 0;
  pass.waves = event.wave;
  pass.wave_size += static_cast<std::uint32_t>(event.actions.size());
  for (const auto& action : event.actions) {
    end_action(action.ordinal, Phase::announced);
    pass.open[action.ordinal] =
        AnnouncedState{action.ordinal, action.kind, action.target, action.before};
  }
}

void Evolver::count_correction(const model::Target& target) const {
  auto& contest = state_.contests[target];
  contest.corrections.push_back({place_.wall, place_.mono, place_.boot});
  if (contest.corrections.size() > kContestedAfter)
    contest.corrections.erase(contest.corrections.begin());
  if (!within_contest(contest.corrections)) contest.contested = false;
}

void Evolver::operator()(const ActionSucceeded& event) const {
  if (is_correction(state_, event.kind)) count_correction(event.target);
  if (state_.pass) ++state_.pass->succeeded;
  end_action(event.ordinal, Phase::succeeded);
  state_.failures.erase(event.target);
  state_.suspects.erase(event.target);
  if (const auto owned = state_.owned.find(event.target); owned != state_.owned.end())
    owned->second.left = event.left;
  if (!is_declared_kind(event.kind)) return;
  if (state_.pass && state_.pass->started.reverts != 0) return unsettle(event);
  auto& resource = state_.resources[event.target];
  resource.reference = event.reference;
  resource.condition = event.condition;
  resource.found = event.left.found;
  resource.observation = event.observation;
  resource.observed_at = place_.seq;
  resource.seen_in = event.pass;
  resource.blocked = false;
}

// What was put back was not measured against the declaration: the next observation is news whatever
// it is, and until then the resource is what the success says of it.
void Evolver::unsettle(const ActionSucceeded& event) const {
  const auto known = state_.resources.find(event.target);
  if (known == state_.resources.end()) return unsettle_folder(event.target);
  auto& resource = known->second;
  resource.condition = event.condition;
  resource.found = event.left.found;
  resource.observation = {};
  resource.observed_at = place_.seq;
  resource.seen_in = event.pass;
  resource.blocked = false;
}

void Evolver::unsettle_found(const model::Target& target) const {
  const auto known = state_.resources.find(target);
  if (known == state_.resources.end()) return unsettle_folder(target);
  known->second.condition = Condition::unknown;
  known->second.observation = {};
  known->second.observed_at = place_.seq;
}

// What no resource declares came into a folder or left it: one that is purged may differ now.
void Evolver::unsettle_folder(const model::Target& target) const {
  if (target.family != model::TargetFamily::path) return;
  const auto folder =
      state_.resources.find(model::Target{target.family, std::string(parent_of(target.name))});
  if (folder == state_.resources.end()) return;
  folder->second.condition = Condition::unknown;
  folder->second.observation = {};
}

void Evolver::operator()(const ActionFailed& event) const {
  if (state_.pass) ++state_.pass->failed;
  end_action(event.ordinal, Phase::failed);
  const auto owned = state_.owned.find(event.target);
  if (event.left && owned != state_.owned.end()) owned->second.left = *event.left;
  auto& failure = state_.failures[event.target];
  failure.pass = event.pass;
  failure.digest = event.failure;
  failure.first = event.same_as != 0 ? event.same_as : place_.seq;
}

void Evolver::operator()(const ActionsNotStarted& event) const {
  if (state_.pass) state_.pass->not_started += static_cast<std::uint32_t>(event.ordinals.size());
  for (const auto ordinal : event.ordinals) end_action(ordinal, Phase::not_started);
}

void Evolver::operator()(const ActionBlocked& event) const {
  if (state_.pass) ++state_.pass->blocked;
  end_action(event.ordinal, Phase::blocked);
  if (const auto found = state_.resources.find(event.target); found != state_.resources.end())
    found->second.blocked = true;
}

void Evolver::operator()(const ActionSkipped& event) const {
  if (state_.pass) ++state_.pass->skipped;
  end_action(event.ordinal, Phase::skipped);
}

void Evolver::operator()(const ActionQuarantined& event) const {
  if (event.deaths != 0) {
    state_.quarantined[event.target] = event.deaths;
    return;
  }
  // It gets another chance, alone, and its deaths count anew.
  state_.quarantined.erase(event.target);
  state_.suspects[event.target] = 0;
}

void Evolver::note_leftover(const ActionRecovered& event) const {
  const auto is_it = [&event](const Leftover& leftover) {
    return leftover.pass == event.pass && leftover.ordinal == event.ordinal;
  };
  std::erase_if(state_.leftovers, is_it);
  if (event.temporary_left) state_.leftovers.push_back({event.pass, event.ordinal, event.target});
}

// Its end is told beside this, so that the pass can go on.
void Evolver::operator()(const ActionStillRunning& event) const {
  state_.running_tools[event.target] = {event.pass, event.ordinal, event.unit};
}

void Evolver::note_tool(const ActionRecovered& event) const {
  const auto running = state_.running_tools.find(event.target);
  if (running != state_.running_tools.end() && running->second.pass == event.pass &&
      running->second.ordinal == event.ordinal)
    state_.running_tools.erase(running);
}

// What did not take effect, or may not have, was running when the process died: it is run alone
// from now on, and only a death in a wave of one is held against it.
void Evolver::operator()(const ActionRecovered& event) const {
  note_leftover(event);
  note_tool(event);
  // How it ended was told before: only its file came or went now.
  if (!state_.pass || state_.pass->id != event.pass || !state_.pass->open.contains(event.ordinal))
    return;
  if (event.outcome == RecoveredOutcome::took_effect) {
    end_action(event.ordinal, Phase::succeeded);
    state_.suspects.erase(event.target);
    if (const auto owned = state_.owned.find(event.target); owned != state_.owned.end())
      owned->second.left = event.left;
    if (state_.pass->started.reverts != 0) unsettle_found(event.target);
    return;
  }
  // What the dead process made and did not finish.
  const auto owned = state_.owned.find(event.target);
  if (owned != state_.owned.end() && owned->second.created && owned->second.left == Left{})
    owned->second.left = event.left;
  const auto& started = state_.pass->started;
  state_.suspected_in = started.reverts != 0 ? state_.last_declared : started.declaration.manifest;
  auto& deaths = state_.suspects[event.target];
  if (state_.pass->wave_size == 1) ++deaths;
  const bool did_not = event.outcome == RecoveredOutcome::did_not;
  end_action(event.ordinal, did_not ? Phase::waiting : Phase::failed);
}

void Evolver::operator()(const NotificationRaised& event) const {
  auto& pending = state_.pending[event.unit];
  if (pending.raised_at == 0) pending.raised_at = place_.seq;
  pending.service = event.service;
  pending.restart = pending.restart || event.restart;
  pending.again = pending.started;
  const auto& by = pending.by;
  if (by.size() < kMaxNotificationCauses && std::find(by.begin(), by.end(), event.by) == by.end())
    pending.by.push_back(event.by);
}

void Evolver::operator()(const DeliveryStarted& event) const {
  const auto found = state_.pending.find(event.unit);
  if (found == state_.pending.end()) return;
  auto& pending = found->second;
  pending.repeated = pending.repeated || pending.started;
  pending.started = true;
  pending.again = false;
  pending.started_restart = event.restart;
  pending.invocation = event.invocation;
  pending.boot = place_.boot;
}

// A reload does not serve a pending restart, and nothing serves what was raised after it began.
void Evolver::operator()(const NotificationDelivered& event) const {
  const auto found = state_.pending.find(event.unit);
  if (found == state_.pending.end()) return;
  auto& pending = found->second;
  if (!pending.again && (event.restart || !pending.restart)) {
    state_.pending.erase(found);
    return;
  }
  end_delivery(pending);
  pending.repeated = false;
}

void Evolver::operator()(const DeliveryFailed& event) const {
  const auto found = state_.pending.find(event.unit);
  if (found == state_.pending.end()) return;
  end_delivery(found->second);
}

void Evolver::operator()(const NotificationDropped& event) const {
  state_.pending.erase(event.unit);
}

}  // namespace datum::core
