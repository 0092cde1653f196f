// Decisions about the store, holds and people's judgements.
#include "bounds.hpp"
#include "decisions.hpp"

namespace datum::core {

Result<Events> Decider::operator()(const CreateStore& command) const {
  if (!state_.store.empty()) return fail(ErrorCode::conflict, "the store exists already");
  if (command.store.empty()) return fail(ErrorCode::refused, "a store needs an identity");
  Events events{
      StoreCreated{command.store, command.root, command.host, command.source, command.version}};
  for (const auto& store : command.after)
    events.push_back(CorruptDetected{store.moved_to, store.problem});
  if (command.lost) append_loss(state_, *command.lost, events);
  return events;
}

Result<Events> Decider::operator()(const OpenStore& command) const {
  if (state_.store.empty()) return fail(ErrorCode::conflict, "no store was created");
  if (command.root != state_.root)
    return fail(ErrorCode::refused,
                "the store is bound to the root " + state_.root + ", not to " + command.root);
  if (command.host != state_.host)
    return fail(ErrorCode::refused,
                "the store is bound to the host " + state_.host + ", not to " + command.host);
  const bool same_boot = command.boot == state_.boot;
  StoreOpened opened{command.boot, command.version, LastEnd::created};
  const bool only_created = state_.seq == 1;
  if (!state_.boot.empty() && !only_created) {
    opened.last_end = LastEnd::clean;
    if (state_.open) opened.last_end = same_boot ? LastEnd::crashed : LastEnd::rebooted;
  }
  Events events{opened};
  if (command.now.ns != 0 && state_.wall.ns - command.now.ns > kClockSlackNs)
    events.push_back(ClockJumped{state_.wall, command.now});
  if (!state_.reboot_required_by.empty() && !same_boot) events.push_back(RebootSeen{command.boot});
  return events;
}

Result<Events> Decider::operator()(const CloseStore& command) const {
  if (!state_.open) return fail(ErrorCode::conflict, "the store is not open");
  if (state_.pass)
    return fail(ErrorCode::conflict, "a pass is running: it must finish or be interrupted first");
  return Events{StoreClosed{command.reason}};
}

Result<Events> Decider::operator()(const RecordUnwritable& command) const {
  if (state_.store.empty()) return fail(ErrorCode::conflict, "no store was created");
  return Events{StoreUnwritable{command.problem, command.sys_errno},
                StoreWritableAgain{command.dropped}};
}

// Recovery reads what a dead pass announced, so nothing of a running one may go.
Result<Events> Decider::operator()(const RecordArchive& command) const {
  if (state_.pass) return fail(ErrorCode::conflict, "a pass is running: its records must stay");
  if (command.from == 0 || command.from > command.to || command.to > command.through ||
      command.through > state_.seq)
    return fail(ErrorCode::refused, "records may go only when a checkpoint covers them");
  return Events{CheckpointTaken{command.through, command.state},
                RecordsArchived{command.from, command.to, command.file, command.head}};
}

// A hold that stands just so is not set again.
Result<Events> Decider::operator()(const SetHold& command) const {
  const auto& standing = command.origin == HoldOrigin::link ? state_.link_hold : state_.local_hold;
  const Hold wanted{command.origin, command.until, command.reason, command.actor};
  if (standing && *standing == wanted) return Events{};
  return Events{HoldSet{command.origin, command.until, command.reason, command.actor}};
}

Result<Events> Decider::operator()(const LiftHold& command) const {
  const auto& standing = command.origin == HoldOrigin::link ? state_.link_hold : state_.local_hold;
  if (!standing)
    return fail(ErrorCode::refused,
                std::string("no ").append(to_string(command.origin)) + " hold stands");
  return Events{HoldLifted{command.origin, command.actor}};
}

Result<Events> Decider::operator()(const Acknowledge& command) const {
  if (!state_.resources.contains(command.target) && !state_.owned.contains(command.target))
    return fail(ErrorCode::refused, command.target.text() + " is neither declared nor owned");
  return Events{
      TargetAcknowledged{command.target, command.actor, bounded(command.reason), command.until}};
}

Result<Events> Decider::operator()(const LiftAcknowledgement& command) const {
  if (!state_.acknowledged.contains(command.target))
    return fail(ErrorCode::refused, command.target.text() + " is not acknowledged");
  return Events{TargetAcknowledged{command.target, command.actor, bounded(command.reason),
                                   kAcknowledgementLifted}};
}

Result<Events> Decider::operator()(const KeepTarget& command) const {
  const bool kept = state_.kept.contains(command.target);
  if (command.until_generation == 0 && !kept)
    return fail(ErrorCode::refused, command.target.text() + " is not kept");
  const bool known =
      kept || state_.resources.contains(command.target) || state_.owned.contains(command.target);
  if (!known)
    return fail(ErrorCode::refused, command.target.text() + " is neither declared nor owned");
  return Events{TargetKept{command.target, command.until_generation, command.manifest, command.pass,
                           command.actor}};
}

Result<Events> Decider::operator()(const LiftQuarantine& command) const {
  if (!state_.quarantined.contains(command.target))
    return fail(ErrorCode::refused, command.target.text() + " is not quarantined");
  ActionQuarantined lifted;
  lifted.pass = state_.pass ? state_.pass->id : 0;
  lifted.target = command.target;
  return Events{lifted};
}

Result<Events> Decider::operator()(const RecordReboot& command) const {
  const auto by = bounded(command.required_by);
  if (by == state_.reboot_required_by) return Events{};
  return Events{RebootRequired{by}};
}

}  // namespace datum::core
