// From events to what became of each action.
#include "running.hpp"

namespace datum::engine {

namespace {

struct Fold {
  std::vector<core::Phase>& phases;
  std::vector<core::Outcome>& outcomes;

  void set(std::uint32_t ordinal, core::Phase phase, const std::string& message,
           const std::string& output = {}) const {
    if (ordinal >= phases.size()) return;
    phases[ordinal] = phase;
    outcomes[ordinal] = {phase, message, output};
  }
  void operator()(const core::ActionsAnnounced& event) const {
    for (const auto& action : event.actions) set(action.ordinal, core::Phase::announced, {});
  }
  void operator()(const core::ActionSucceeded& event) const {
    set(event.ordinal, core::Phase::succeeded, {});
  }
  void operator()(const core::ActionFailed& event) const {
    set(event.ordinal, core::Phase::failed, event.message, event.output);
  }
  void operator()(const core::ActionBlocked& event) const {
    set(event.ordinal, core::Phase::blocked, event.reason);
  }
  void operator()(const core::ActionSkipped& event) const {
    set(event.ordinal, core::Phase::skipped, event.reason);
  }
  void operator()(const core::ActionsNotStarted& event) const {
    for (const auto ordinal : event.ordinals) set(ordinal, core::Phase::not_started, event.reason);
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

void fold_outcomes(const std::vector<core::Event>& events, std::vector<core::Phase>& phases,
                   std::vector<core::Outcome>& outcomes) {
  const Fold fold{phases, outcomes};
  for (const auto& event : events) std::visit(fold, event);
}

}  // namespace datum::engine
