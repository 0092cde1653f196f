// Decisions about the service's own life: what the node is, its mode, its configuration, its
// version.
#include "bounds.hpp"
#include "decisions.hpp"

namespace datum::core {

Result<Events> Decider::operator()(const ChangeLifecycle& command) const {
  if (state_.store.empty()) return fail(ErrorCode::conflict, "no store was created");
  if (state_.lifecycle == command.to) return Events{};
  return Events{
      LifecycleChanged{state_.lifecycle, command.to, bounded(command.cause), command.actor}};
}

Result<Events> Decider::operator()(const ChangeMode& command) const {
  if (command.from == command.to) return Events{};
  return Events{ModeChanged{command.from, command.to, command.actor}};
}

Result<Events> Decider::operator()(const RejectConfig& command) const {
  if (state_.store.empty()) return fail(ErrorCode::conflict, "no store was created");
  return Events{
      ConfigRejected{command.file, command.line, command.column, bounded(command.problem)}};
}

// A pass that did not finish proves nothing about the version that ran it.
Result<Events> Decider::operator()(const ConfirmVersion& command) const {
  if (command.version == state_.confirmed_version) return Events{};
  if (command.version != state_.version)
    return fail(ErrorCode::refused, "version " + command.version +
                                        " does not run: " + state_.version + " has the store open");
  if (!state_.last_pass || state_.last_pass->id != command.pass)
    return fail(ErrorCode::refused,
                "pass " + std::to_string(command.pass) + " is not the last that finished");
  return Events{VersionConfirmed{command.version, command.pass}};
}

Result<Events> Decider::operator()(const RecordUpgradePending& command) const {
  if (state_.pass)
    return fail(ErrorCode::conflict, "a pass is running: it must finish or be interrupted first");
  return Events{UpgradePending{command.from, command.to}};
}

Result<Events> Decider::operator()(const RecordRolledBack& command) const {
  if (state_.store.empty()) return fail(ErrorCode::conflict, "no store was created");
  const RolledBack event{command.from, command.to, bounded(command.cause)};
  if (state_.rolled_back == event) return Events{};
  return Events{event};
}

}  // namespace datum::core
