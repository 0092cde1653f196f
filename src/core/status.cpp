// One function for node and control plane: the worst word first, flags beside it (design §4).
#include "datum/core/status.hpp"

#include <algorithm>
#include <array>

#include "assessment.hpp"
#include "judgement.hpp"

namespace datum::core {
namespace {

struct FlagName {
  StatusFlag flag;
  std::string_view name;
};
constexpr std::array kFlags{
    FlagName{StatusFlag::failed, "failed"},
    FlagName{StatusFlag::degraded, "degraded"},
    FlagName{StatusFlag::partial, "partial"},
    FlagName{StatusFlag::awaiting_reboot, "awaiting-reboot"},
    FlagName{StatusFlag::observing, "observing"},
    FlagName{StatusFlag::mixed_mode, "mixed-mode"},
    FlagName{StatusFlag::held, "held"},
    FlagName{StatusFlag::disconnected, "disconnected"},
    FlagName{StatusFlag::stale, "stale"},
    FlagName{StatusFlag::store_lost, "store-lost"},
    FlagName{StatusFlag::unrecorded, "unrecorded"},
    FlagName{StatusFlag::contested, "contested"},
    FlagName{StatusFlag::unconfirmed, "unconfirmed"},
};

// No pass finished for three timer periods (design §4).
constexpr std::int64_t kStalePeriods = 3;

std::string_view reason_unknown(const State& state, const PassFacts& pass, const Counts& counts) {
  if (state.loss) return "the store was lost and its orphans are undecided";
  if (!pass.finished) return "no pass has finished";
  if (pass.interrupted) return "the last pass was interrupted";
  if (state.accepted && pass.declaration != *state.accepted)
    return "no pass has finished for the accepted declaration";
  if (counts.unknown != 0) return "a resource could not be observed";
  const bool managed = counts.converged + counts.drifted + counts.unknown != 0;
  if (!managed && counts.skipped != 0) return "nothing of it can be managed here";
  return {};
}

bool is_stale(const PassFacts& pass, const StatusInput& input) {
  return input.timer_expected && pass.finished &&
         input.now.ns - pass.wall.ns > kStalePeriods * input.timer_period_ns;
}

// In a pass that came after the last one that finished and declared something: one that was
// stopped, that died, or that put something back.
bool has_failed_since(const State& state) {
  const auto last = state.last_pass ? state.last_pass->id : 0;
  return std::any_of(state.failures.begin(), state.failures.end(),
                     [last](const auto& entry) { return entry.second.pass > last; });
}

std::uint32_t find_flags(const State& state, const PassFacts& pass, const Counts& counts,
                         const StatusInput& input) {
  std::uint32_t bits = pass.carried_flags;
  const auto set = [&bits](StatusFlag flag, bool on) {
    if (on) bits |= static_cast<std::uint32_t>(flag);
  };
  const bool enforces = pass.finished && pass.mode == Mode::enforce;
  set(StatusFlag::failed,
      (pass.finished && pass.failed) || !state.quarantined.empty() || has_failed_since(state));
  set(StatusFlag::partial, counts.skipped != 0);
  set(StatusFlag::awaiting_reboot, !state.reboot_required_by.empty());
  set(StatusFlag::observing, pass.finished && pass.mode == Mode::observe);
  set(StatusFlag::mixed_mode, enforces && pass.observed_only != 0);
  set(StatusFlag::held, is_held_at(state, input.now) || (pass.finished && pass.held));
  set(StatusFlag::disconnected, state.lifecycle == NodeLifecycle::disconnected);
  set(StatusFlag::stale, is_stale(pass, input));
  set(StatusFlag::store_lost, state.loss.has_value());
  set(StatusFlag::contested, !contested_targets(state, input).empty());
  set(StatusFlag::unconfirmed,
      !state.confirmed_version.empty() && state.confirmed_version != state.version);
  return bits;
}

bool stands(const Acknowledgement& acknowledgement, WallNs now) {
  return acknowledgement.until.ns == 0 || acknowledgement.until > now;
}

std::uint32_t count_acknowledged(const State& state, WallNs now) {
  std::uint32_t count = 0;
  for (const auto& [target, acknowledgement] : state.acknowledged) {
    const auto found = state.resources.find(target);
    if (stands(acknowledgement, now) && found != state.resources.end() &&
        found->second.condition == Condition::drifted)
      ++count;
  }
  return count;
}

// The last pass judged which targets that left are to be removed; those of them that are still
// owned and still undeclared are what remains of that. Those it lets go are owned no more once it
// enforced, and were not among the removals before.
std::uint32_t count_leaving(const State& state, const PassFacts& pass) {
  if (!pass.finished || pass.planned_removals == 0) return 0;
  std::uint32_t count = 0;
  for (const auto& [target, owned] : state.owned)
    if (!state.resources.contains(target)) ++count;
  return std::min(count, pass.planned_removals);
}

}  // namespace

PassFacts facts_of_last_pass(const State& state) {
  PassFacts facts;
  facts.interrupted = state.interrupted.has_value();
  if (!state.last_pass) return facts;
  const auto& last = *state.last_pass;
  // What no store holds is known from the last pass alone.
  constexpr auto kCarried = static_cast<std::uint32_t>(StatusFlag::degraded);
  facts.finished = true;
  facts.declaration = last.declaration;
  facts.mode = last.mode.mode;
  facts.held = last.mode.term == ModeTerm::hold;
  facts.failed = last.finished.failed != 0 || last.finished.blocked != 0;
  facts.observed_only = last.finished.observed_only;
  facts.observed_only_drifted = last.finished.observed_only_drifted;
  facts.planned_removals = last.finished.planned.leave;
  facts.carried_flags = last.finished.flags & kCarried;
  facts.wall = last.wall;
  return facts;
}

std::string_view to_string(StatusFlag flag) {
  for (const auto& each : kFlags)
    if (each.flag == flag) return each.name;
  return "?";
}

std::vector<StatusFlag> flags_in(std::uint32_t bits) {
  std::vector<StatusFlag> flags;
  for (const auto& each : kFlags)
    if ((bits & static_cast<std::uint32_t>(each.flag)) != 0) flags.push_back(each.flag);
  return flags;
}

Counts count_resources(const State& state) {
  Counts counts;
  for (const auto& [target, resource] : state.resources) {
    switch (resource.condition) {
      case Condition::converged:
        ++counts.converged;
        break;
      case Condition::drifted:
        ++counts.drifted;
        break;
      case Condition::unknown:
        ++counts.unknown;
        break;
      case Condition::skipped:
        ++counts.skipped;
        break;
    }
  }
  return counts;
}

HostStatus assess(const State& state, const PassFacts& pass, const StatusInput& input) {
  HostStatus status;
  status.counts = count_resources(state);
  status.flags = find_flags(state, pass, status.counts, input);
  status.pending_notifications = static_cast<std::uint32_t>(state.pending.size());
  status.leaving = count_leaving(state, pass);
  status.acknowledged_drifted = count_acknowledged(state, input.now);
  status.observed_only_drifted = pass.finished && pass.mode == Mode::observe
                                     ? status.counts.drifted
                                     : pass.observed_only_drifted;
  const auto reason = reason_unknown(state, pass, status.counts);
  if (status.counts.drifted != 0 || status.pending_notifications != 0 || status.leaving != 0) {
    status.condition = Condition::drifted;
  } else if (!reason.empty()) {
    status.condition = Condition::unknown;
    status.reason = reason;
  } else {
    status.condition = Condition::converged;
  }
  return status;
}

std::vector<model::Target> contested_targets(const State& state, const StatusInput& input) {
  std::vector<model::Target> targets;
  for (const auto& [target, contest] : state.contests)
    if (is_contested_at(contest, {input.now, input.mono, input.boot})) targets.push_back(target);
  return targets;
}

HostStatus compute_status(const State& state, const StatusInput& input) {
  return assess(state, facts_of_last_pass(state), input);
}

std::vector<NotificationOutcome> pending_outcomes(const State& state) {
  std::vector<NotificationOutcome> outcomes;
  for (const auto& [unit, pending] : state.pending) {
    NotificationOutcome outcome;
    outcome.unit = unit;
    outcome.service = pending.service;
    outcome.restart = pending.restart;
    outcome.by = pending.by;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

Acknowledgements standing_acknowledgements(const State& state, WallNs now) {
  Acknowledgements standing;
  for (const auto& [target, acknowledgement] : state.acknowledged)
    if (stands(acknowledgement, now)) standing.emplace(target, acknowledgement);
  return standing;
}

int exit_code(Condition condition) {
  switch (condition) {
    case Condition::converged:
      return 0;
    case Condition::drifted:
      return 2;
    case Condition::unknown:
    case Condition::skipped:
      return 4;
  }
  return 4;
}

}  // namespace datum::core
