// From commands to events: the dispatch, and what all commands of a pass have in common.
#include "datum/core/decide.hpp"

#include "decisions.hpp"

namespace datum::core {

Result<std::vector<Event>> decide(const State& state, const Command& command) {
  return std::visit(Decider(state), command);
}

Status Decider::need_pass() const {
  if (state_.pass) return {};
  return fail(ErrorCode::conflict, "no pass is running");
}

// Whatever a caller believes: a pass that observes announces nothing and owns nothing new.
Status Decider::need_enforcing() const {
  DATUM_TRY(need_pass());
  if (state_.pass->started.mode.mode == Mode::enforce) return {};
  return fail(ErrorCode::refused, "the pass observes: " + state_.pass->started.mode.reason);
}

Status Decider::need_no_open_action() const {
  DATUM_TRY(need_pass());
  const auto count = state_.pass->open.size();
  if (count == 0) return {};
  return fail(ErrorCode::conflict,
              count == 1 ? std::string("1 announced action has no end yet")
                         : std::to_string(count) + " announced actions have no end yet");
}

Phase Decider::phase_of(std::uint32_t ordinal) const {
  const auto& phases = state_.pass->phases;
  return ordinal < phases.size() ? phases[ordinal] : Phase::waiting;
}

}  // namespace datum::core
