// Decisions about actions that run: announcement, and what cannot run, with the chain of causes.
#include <algorithm>
#include <optional>

#include "bounds.hpp"
#include "decisions.hpp"

namespace datum::core {
namespace {

using model::Reference;

bool is_dead(Phase phase) {
  return phase == Phase::failed || phase == Phase::blocked || phase == Phase::skipped ||
         phase == Phase::not_started;
}

bool may_run(const Action& action, Phase phase) {
  return phase == Phase::waiting && is_mutating(action.kind) && !action.observe_only;
}

std::string_view verb(Phase phase) {
  switch (phase) {
    case Phase::failed:
      return " failed";
    case Phase::skipped:
      return " was skipped";
    case Phase::not_started:
      return " was not started";
    default:
      return " is blocked";
  }
}

// "File[a] is blocked: Package[b] failed: no space left"
std::string name_cause(const Action& cause, Phase phase,
                       const std::map<std::uint32_t, std::string>& messages) {
  auto text = cause.reference.text();
  if (cause.kind == ActionKind::purge) text.append(" (").append(cause.target.name).append(")");
  text.append(verb(phase));
  const auto message = messages.find(cause.ordinal);
  if (message != messages.end() && !message->second.empty())
    text.append(": ").append(message->second);
  return bounded(text);
}

void add_unique(std::vector<Reference>& list, const Reference& reference) {
  if (list.size() < kMaxBlockedBy && std::find(list.begin(), list.end(), reference) == list.end())
    list.push_back(reference);
}

// What the state says of a required resource that only observing settles.
std::string name_unsettled(const State& state, const Reference& reference) {
  for (const auto& [target, resource] : state.resources)
    if (resource.reference == reference && resource.condition == Condition::unknown)
      return reference.text() + " could not be observed";
  return reference.text() + " is drifted and only observed";
}

ActionBlocked blocked_event(const State& state, const Action& action) {
  ActionBlocked event;
  event.pass = state.pass->id;
  event.ordinal = action.ordinal;
  event.target = action.target;
  event.reference = action.reference;
  return event;
}

// The event, if any of what must come first is dead.
std::optional<ActionBlocked> find_block(const State& state, const Plan& plan, const Action& action,
                                        const std::vector<Phase>& phases,
                                        const std::map<std::uint32_t, std::string>& messages) {
  auto event = blocked_event(state, action);
  for (const auto before : action.after) {
    if (!is_dead(phases[before])) continue;
    const auto& cause = plan.actions[before];
    if (event.reason.empty()) event.reason = name_cause(cause, phases[before], messages);
    add_unique(event.by, cause.reference);
  }
  if (event.reason.empty()) return {};
  return event;
}

}  // namespace

// `after` only names lower ordinals: one walk reaches everything that hangs on a dead action.
void append_blocked(const State& state, const Plan& plan, std::vector<Phase>& phases,
                    const std::map<std::uint32_t, std::string>& messages, Events& events) {
  auto known = messages;
  for (const auto& action : plan.actions) {
    if (!may_run(action, phases[action.ordinal])) continue;
    auto event = find_block(state, plan, action, phases, known);
    if (!event) continue;
    phases[action.ordinal] = Phase::blocked;
    known[action.ordinal] = event->reason;
    events.push_back(std::move(*event));
  }
}

void append_failure(const State& state, const Action& action, FailureText text, Events& events) {
  ActionFailed event;
  event.pass = state.pass->id;
  event.ordinal = action.ordinal;
  event.target = action.target;
  event.reference = action.reference;
  event.error = text.code;
  event.failure = text.digest;
  event.left = text.left;
  event.traces = text.traces;
  const auto standing = state.failures.find(action.target);
  if (standing != state.failures.end() && !text.digest.empty() &&
      standing->second.digest == text.digest) {
    event.same_as = standing->second.first;
  } else {
    event.message = bounded(text.message);
    event.output = bounded(text.output, kMaxOutput);
  }
  events.push_back(std::move(event));
}

Result<Events> Decider::operator()(const AnnounceWave& command) const {
  DATUM_TRY(need_enforcing());
  DATUM_TRY(need_no_open_action());
  if (command.actions.empty()) return fail(ErrorCode::refused, "a wave needs an action");
  std::vector<std::uint32_t> ordinals;
  for (const auto& action : command.actions) {
    if (phase_of(action.ordinal) != Phase::waiting)
      return fail(ErrorCode::conflict,
                  "action " + std::to_string(action.ordinal) + " has run in this pass");
    ordinals.push_back(action.ordinal);
  }
  std::sort(ordinals.begin(), ordinals.end());
  if (std::adjacent_find(ordinals.begin(), ordinals.end()) != ordinals.end())
    return fail(ErrorCode::conflict, "an action stands twice in its wave");
  Events events;
  const auto name_of = [](const AnnouncedAction& action) -> const SharedText& {
    return action.target.name;
  };
  split_by_size(command.actions, name_of, [&](std::size_t begin, std::size_t end) {
    ActionsAnnounced event{state_.pass->id, state_.pass->waves + 1, command.plan, {}};
    event.actions.assign(command.actions.begin() + static_cast<std::ptrdiff_t>(begin),
                         command.actions.begin() + static_cast<std::ptrdiff_t>(end));
    events.push_back(std::move(event));
  });
  return events;
}

Result<Events> Decider::operator()(const RecordRefusals& command) const {
  DATUM_TRY(need_enforcing());
  const auto& plan = *command.plan;
  auto phases = state_.pass->phases;
  phases.resize(std::max(phases.size(), plan.actions.size()), Phase::waiting);
  std::map<std::uint32_t, std::string> messages;
  Events events;
  for (const auto& action : plan.actions) {
    if (!may_run(action, phases[action.ordinal])) continue;
    if (!action.refusal.empty()) {
      const bool digested = action.ordinal < command.failures.size();
      append_failure(state_, action,
                     {ErrorCode::refused,
                      action.refusal,
                      {},
                      digested ? command.failures[action.ordinal] : Digest{},
                      {},
                      {}},
                     events);
      phases[action.ordinal] = Phase::failed;
      messages[action.ordinal] = action.refusal;
    } else if (!action.blocked_on.empty()) {
      auto event = blocked_event(state_, action);
      for (const auto& reference : action.blocked_on) add_unique(event.by, reference);
      event.reason = name_unsettled(state_, action.blocked_on.front());
      phases[action.ordinal] = Phase::blocked;
      messages[action.ordinal] = event.reason;
      events.push_back(std::move(event));
    }
  }
  append_blocked(state_, plan, phases, messages, events);
  return events;
}

Result<Events> Decider::operator()(const RecordNotStarted& command) const {
  DATUM_TRY(need_pass());
  for (const auto ordinal : command.ordinals)
    if (phase_of(ordinal) != Phase::waiting)
      return fail(ErrorCode::conflict,
                  "action " + std::to_string(ordinal) + " was begun or has ended");
  Events events;
  for (std::size_t begin = 0; begin < command.ordinals.size(); begin += kMaxOrdinals) {
    const auto end = std::min(begin + kMaxOrdinals, command.ordinals.size());
    ActionsNotStarted event{state_.pass->id, {}, bounded(command.reason)};
    event.ordinals.assign(command.ordinals.begin() + static_cast<std::ptrdiff_t>(begin),
                          command.ordinals.begin() + static_cast<std::ptrdiff_t>(end));
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace datum::core
