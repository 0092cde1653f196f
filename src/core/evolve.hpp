// How each event changes the state: one overload per event, in evolve_*.cpp by group. Internal to
// core. None may look at anything but the state, the event and its place.
#pragma once

#include "datum/core/state.hpp"

namespace datum::core {

class Evolver {
 public:
  Evolver(State& state, const EventPlace& place) : state_(state), place_(place) {}

  // store
  void operator()(const StoreCreated& event) const;
  void operator()(const StoreOpened& event) const;
  void operator()(const StoreClosed& event) const;
  void operator()(const StoreLossDetected& event) const;
  void operator()(const LifecycleChanged& event) const;
  void operator()(const HoldSet& event) const;
  void operator()(const HoldLifted& event) const;
  void operator()(const VersionConfirmed& event) const;
  void operator()(const RolledBack& event) const;
  void operator()(const DeclarationStored& event) const;
  void operator()(const DeclarationAccepted& event) const;
  void operator()(const RebootRequired& event) const;
  void operator()(const RebootSeen& event) const;
  // pass
  void operator()(const PassStarted& event) const;
  void operator()(const ResourceObserved& event) const;
  void operator()(const ObservationSummarized& event) const;
  void operator()(const PlanComputed& event) const;
  void operator()(const PassFinished& event) const;
  void operator()(const PassInterrupted& event) const;
  void operator()(const ResourcesForgotten& event) const;
  // action
  void operator()(const ActionsAnnounced& event) const;
  void operator()(const ActionSucceeded& event) const;
  void operator()(const ActionFailed& event) const;
  void operator()(const ActionsNotStarted& event) const;
  void operator()(const ActionBlocked& event) const;
  void operator()(const ActionSkipped& event) const;
  void operator()(const ActionQuarantined& event) const;
  void operator()(const ActionRecovered& event) const;
  // notification
  void operator()(const NotificationRaised& event) const;
  void operator()(const DeliveryStarted& event) const;
  void operator()(const NotificationDelivered& event) const;
  void operator()(const DeliveryFailed& event) const;
  void operator()(const NotificationDropped& event) const;
  // ownership
  void operator()(const OwnershipCreated& event) const;
  void operator()(const OwnershipAdopted& event) const;
  void operator()(const OwnershipRenamed& event) const;
  void operator()(const OwnershipReleased& event) const;
  void operator()(const OwnershipRemoved& event) const;
  void operator()(const TargetOrphaned& event) const;
  // judgement
  void operator()(const TargetContested& event) const;
  void operator()(const TargetAcknowledged& event) const;
  void operator()(const TargetKept& event) const;

  // Facts for people and for the indexes of the journal: no state follows from them.
  void operator()(const CorruptDetected&) const {}
  void operator()(const StoreUnwritable&) const {}
  void operator()(const StoreWritableAgain&) const {}
  void operator()(const LevelRaised&) const {}
  void operator()(const CheckpointTaken&) const {}
  void operator()(const RecordsArchived&) const {}
  void operator()(const ClockJumped&) const {}
  void operator()(const ModeChanged&) const {}
  void operator()(const ConfigRejected&) const {}
  void operator()(const UpgradePending&) const {}
  void operator()(const VersionRefused&) const {}
  void operator()(const KeyCreated&) const {}
  void operator()(const EnrolmentRequested&) const {}
  void operator()(const EnrolmentGranted&) const {}
  void operator()(const EnrolmentRefused&) const {}
  void operator()(const CertificateRenewed&) const {}
  void operator()(const NodeRevoked&) const {}
  void operator()(const RetirementBegun&) const {}
  void operator()(const NodeRetired&) const {}
  void operator()(const DeclarationReceived&) const {}
  void operator()(const DeclarationRejected&) const {}
  void operator()(const DeclarationSuperseded&) const {}
  void operator()(const PassResumed&) const {}
  void operator()(const ActionToolAdopted&) const {}
  void operator()(const ActionStillRunning& event) const;
  void operator()(const ActionTimedOut&) const {}
  void operator()(const OldContentNotKept&) const {}
  void operator()(const PassReverted&) const {}
  void operator()(const LinkUp&) const {}
  void operator()(const LinkDown&) const {}
  void operator()(const LinkCoalesced&) const {}

 private:
  // Ends an announced action, or one that never was announced.
  void note_leftover(const ActionRecovered& event) const;
  void note_tool(const ActionRecovered& event) const;
  void end_action(std::uint32_t ordinal, Phase phase) const;
  void unsettle(const ActionSucceeded& event) const;
  void unsettle_found(const model::Target& target) const;
  void unsettle_folder(const model::Target& target) const;
  void settle_loss(const model::Target& target) const;
  void end_loss() const;
  void count_correction(const model::Target& target) const;

  State& state_;
  const EventPlace& place_;
};

}  // namespace datum::core
