// How an event of each kind is made, copied and ended: the only place that pays for it.
#include <utility>

#include "datum/core/event.hpp"

namespace datum::core {

template <EventBody Body>
Event::Event(Body body) : AnyEvent(std::in_place_type<Body>, std::move(body)) {}

Event::Event() = default;
Event::Event(const Event& other) = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(const Event& other) = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;

// In the order of the alternatives of AnyEvent.
template Event::Event(StoreCreated);
template Event::Event(StoreOpened);
template Event::Event(StoreClosed);
template Event::Event(CorruptDetected);
template Event::Event(StoreLossDetected);
template Event::Event(StoreUnwritable);
template Event::Event(StoreWritableAgain);
template Event::Event(LevelRaised);
template Event::Event(CheckpointTaken);
template Event::Event(RecordsArchived);
template Event::Event(ClockJumped);
template Event::Event(LifecycleChanged);
template Event::Event(ModeChanged);
template Event::Event(HoldSet);
template Event::Event(HoldLifted);
template Event::Event(ConfigRejected);
template Event::Event(VersionConfirmed);
template Event::Event(UpgradePending);
template Event::Event(RolledBack);
template Event::Event(VersionRefused);
template Event::Event(KeyCreated);
template Event::Event(EnrolmentRequested);
template Event::Event(EnrolmentGranted);
template Event::Event(EnrolmentRefused);
template Event::Event(CertificateRenewed);
template Event::Event(NodeRevoked);
template Event::Event(RetirementBegun);
template Event::Event(NodeRetired);
template Event::Event(DeclarationReceived);
template Event::Event(DeclarationStored);
template Event::Event(DeclarationAccepted);
template Event::Event(DeclarationRejected);
template Event::Event(DeclarationSuperseded);
template Event::Event(PassStarted);
template Event::Event(ResourceObserved);
template Event::Event(ObservationSummarized);
template Event::Event(PlanComputed);
template Event::Event(PassFinished);
template Event::Event(PassInterrupted);
template Event::Event(PassResumed);
template Event::Event(ResourcesForgotten);
template Event::Event(ActionsAnnounced);
template Event::Event(ActionSucceeded);
template Event::Event(ActionFailed);
template Event::Event(ActionsNotStarted);
template Event::Event(ActionBlocked);
template Event::Event(ActionSkipped);
template Event::Event(ActionToolAdopted);
template Event::Event(ActionStillRunning);
template Event::Event(ActionTimedOut);
template Event::Event(ActionQuarantined);
template Event::Event(ActionRecovered);
template Event::Event(NotificationRaised);
template Event::Event(DeliveryStarted);
template Event::Event(NotificationDelivered);
template Event::Event(DeliveryFailed);
template Event::Event(NotificationDropped);
template Event::Event(OwnershipCreated);
template Event::Event(OwnershipAdopted);
template Event::Event(OwnershipRenamed);
template Event::Event(OwnershipReleased);
template Event::Event(OwnershipRemoved);
template Event::Event(TargetOrphaned);
template Event::Event(OldContentNotKept);
template Event::Event(TargetContested);
template Event::Event(TargetAcknowledged);
template Event::Event(PassReverted);
template Event::Event(TargetKept);
template Event::Event(LinkUp);
template Event::Event(LinkDown);
template Event::Event(LinkCoalesced);
template Event::Event(RebootRequired);
template Event::Event(RebootSeen);

}  // namespace datum::core
