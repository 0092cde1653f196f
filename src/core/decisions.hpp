// One overload per command, in decide_*.cpp by group, and what they share. Internal to core.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "datum/core/decide.hpp"

namespace datum::core {

using Events = std::vector<Event>;

class Decider {
 public:
  explicit Decider(const State& state) : state_(state) {}

  // store, holds, judgements
  [[nodiscard]] Result<Events> operator()(const CreateStore& command) const;
  [[nodiscard]] Result<Events> operator()(const OpenStore& command) const;
  [[nodiscard]] Result<Events> operator()(const CloseStore& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordLoss& command) const;
  [[nodiscard]] Result<Events> operator()(const DecideOrphans& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordUnwritable& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordArchive& command) const;
  [[nodiscard]] Result<Events> operator()(const SetHold& command) const;
  [[nodiscard]] Result<Events> operator()(const LiftHold& command) const;
  [[nodiscard]] Result<Events> operator()(const Acknowledge& command) const;
  [[nodiscard]] Result<Events> operator()(const LiftAcknowledgement& command) const;
  [[nodiscard]] Result<Events> operator()(const KeepTarget& command) const;
  [[nodiscard]] Result<Events> operator()(const LiftQuarantine& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordCleaned& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordToolAdopted& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordToolEnded& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordReboot& command) const;
  // the service's own life
  [[nodiscard]] Result<Events> operator()(const ChangeLifecycle& command) const;
  [[nodiscard]] Result<Events> operator()(const ChangeMode& command) const;
  [[nodiscard]] Result<Events> operator()(const RejectConfig& command) const;
  [[nodiscard]] Result<Events> operator()(const ConfirmVersion& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordUpgradePending& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordRolledBack& command) const;
  // enrolment, declarations, link
  [[nodiscard]] Result<Events> operator()(const RecordKeyCreated& command) const;
  [[nodiscard]] Result<Events> operator()(const RequestEnrolment& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordEnrolment& command) const;
  [[nodiscard]] Result<Events> operator()(const RefuseEnrolment& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordCertificate& command) const;
  [[nodiscard]] Result<Events> operator()(const ReceiveDeclaration& command) const;
  [[nodiscard]] Result<Events> operator()(const StoreDeclaration& command) const;
  [[nodiscard]] Result<Events> operator()(const AcceptDeclaration& command) const;
  [[nodiscard]] Result<Events> operator()(const RejectDeclaration& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordLinkUp& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordLinkDown& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordLinkPairs& command) const;
  // pass
  [[nodiscard]] Result<Events> operator()(const StartPass& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordObservations& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordPlan& command) const;
  [[nodiscard]] Result<Events> operator()(const FinishPass& command) const;
  [[nodiscard]] Result<Events> operator()(const InterruptPass& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordRecovery& command) const;
  // actions
  [[nodiscard]] Result<Events> operator()(const AnnounceWave& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordResults& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordRefusals& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordNotStarted& command) const;
  // ownership, notifications
  [[nodiscard]] Result<Events> operator()(const RecordOwnership& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordUndone& command) const;
  [[nodiscard]] Result<Events> operator()(const StartDelivery& command) const;
  [[nodiscard]] Result<Events> operator()(const RecordDelivery& command) const;
  [[nodiscard]] Result<Events> operator()(const DropNotification& command) const;

 private:
  // Something may be recorded of a pass only while one runs; of an act, only while it enforces.
  [[nodiscard]] Status need_pass() const;
  [[nodiscard]] Status need_enforcing() const;
  [[nodiscard]] Status need_no_open_action() const;
  [[nodiscard]] Phase phase_of(std::uint32_t ordinal) const;

  const State& state_;
};

// Appends StoreLossDetected, and TargetOrphaned for each target that the state does not own.
void append_loss(const State& state, const LostStore& lost, Events& events);

// Notifications raised by one command: those that add nothing are left out, in the state's terms
// and the command's own.
class Raiser {
 public:
  explicit Raiser(const State& state) : state_(state) {}
  void raise(const model::Target& unit, const model::Reference& service, bool restart,
             const model::Reference& by, Events& events);

 private:
  const State& state_;
  std::map<model::Target, PendingNotification> pending_;
};

// Appends ActionFailed: an identical failure that still stands is referred to.
struct FailureText {
  ErrorCode code = ErrorCode::internal;
  std::string message, output;
  Digest digest;
  std::optional<Left> left = {};  // where the target was changed all the same
  std::optional<Traces> traces = {};
};
void append_failure(const State& state, const Action& action, FailureText text, Events& events);

// Appends ActionBlocked for every action that can no longer run, given the phases as they will be;
// `messages` says of actions that ended now why. Changes `phases` accordingly.
void append_blocked(const State& state, const Plan& plan, std::vector<Phase>& phases,
                    const std::map<std::uint32_t, std::string>& messages, Events& events);

}  // namespace datum::core
