// Every fact that a journal of Datum can hold, as plain values. The journal owns sequence, time and
// chain; `codec` owns the bytes. Numbers of kinds are stored and never reused. Names are past
// tense.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "datum/core/host_event.hpp"
#include "datum/core/pass_event.hpp"

namespace datum::core {

// Numbers are stored in the envelope's `kind`. A new event gets the next number of its group.
enum class EventKind : std::uint16_t {
  store_created = 1,
  store_opened,
  store_closed,
  corrupt_detected,
  store_loss_detected,
  store_unwritable,
  store_writable_again,
  level_raised,
  checkpoint_taken,
  records_archived,
  clock_jumped,
  lifecycle_changed = 20,
  mode_changed,
  hold_set,
  hold_lifted,
  config_rejected,
  version_confirmed,
  upgrade_pending,
  rolled_back,
  version_refused,
  key_created = 40,
  enrolment_requested,
  enrolment_granted,
  enrolment_refused,
  certificate_renewed,
  node_revoked,
  retirement_begun,
  node_retired,
  declaration_received = 60,
  declaration_stored,
  declaration_accepted,
  declaration_rejected,
  declaration_superseded,
  pass_started = 80,
  resource_observed,
  observation_summarized,
  plan_computed,
  pass_finished,
  pass_interrupted,
  pass_resumed,
  resources_forgotten,
  actions_announced = 100,
  action_succeeded,
  action_failed,
  actions_not_started,
  action_blocked,
  action_skipped,
  action_tool_adopted,
  action_still_running,
  action_timed_out,
  action_quarantined,
  action_recovered,
  notification_raised = 120,
  delivery_started,
  notification_delivered,
  delivery_failed,
  notification_dropped,
  ownership_created = 140,
  ownership_adopted,
  ownership_renamed,
  ownership_released,
  ownership_removed,
  target_orphaned,
  old_content_not_kept,
  target_contested = 160,
  target_acknowledged,
  pass_reverted,
  target_kept,
  link_up = 180,
  link_down,
  link_coalesced,
  reboot_required = 200,
  reboot_seen,
};

// Same order as EventKind.
using AnyEvent = std::variant<
    StoreCreated, StoreOpened, StoreClosed, CorruptDetected, StoreLossDetected, StoreUnwritable,
    StoreWritableAgain, LevelRaised, CheckpointTaken, RecordsArchived, ClockJumped,
    LifecycleChanged, ModeChanged, HoldSet, HoldLifted, ConfigRejected, VersionConfirmed,
    UpgradePending, RolledBack, VersionRefused, KeyCreated, EnrolmentRequested, EnrolmentGranted,
    EnrolmentRefused, CertificateRenewed, NodeRevoked, RetirementBegun, NodeRetired,
    DeclarationReceived, DeclarationStored, DeclarationAccepted, DeclarationRejected,
    DeclarationSuperseded, PassStarted, ResourceObserved, ObservationSummarized, PlanComputed,
    PassFinished, PassInterrupted, PassResumed, ResourcesForgotten, ActionsAnnounced,
    ActionSucceeded, ActionFailed, ActionsNotStarted, ActionBlocked, ActionSkipped,
    ActionToolAdopted, ActionStillRunning, ActionTimedOut, ActionQuarantined, ActionRecovered,
    NotificationRaised, DeliveryStarted, NotificationDelivered, DeliveryFailed, NotificationDropped,
    OwnershipCreated, OwnershipAdopted, OwnershipRenamed, OwnershipReleased, OwnershipRemoved,
    TargetOrphaned, OldContentNotKept, TargetContested, TargetAcknowledged, PassReverted,
    TargetKept, LinkUp, LinkDown, LinkCoalesced, RebootRequired, RebootSeen>;

template <class Body, class Any>
inline constexpr bool kIsOneOf = false;
template <class Body, class... Bodies>
inline constexpr bool kIsOneOf<Body, std::variant<Bodies...>> = (std::is_same_v<Body, Bodies> ||
                                                                 ...);
template <class Body>
concept EventBody = kIsOneOf<Body, AnyEvent>;

// One event of any kind: the variant, with what makes, copies and ends it compiled once. Inline, a
// variant of this many kinds costs every file that makes one some thousand functions.
class Event : public AnyEvent {
 public:
  Event();  // StoreCreated, all of it empty
  template <EventBody Body>
  Event(Body body);  // NOLINT(google-explicit-constructor): as of the variant itself
  Event(const Event& other);
  Event(Event&& other) noexcept;
  Event& operator=(const Event& other);
  Event& operator=(Event&& other) noexcept;
  ~Event();
};

[[nodiscard]] EventKind kind_of(const Event& event);
[[nodiscard]] std::string_view to_string(EventKind kind);  // "passStarted", as in docs and JSON
// The pass an event belongs to, 0 if none. For PassStarted the caller knows: it is its own
// sequence.
[[nodiscard]] PassId pass_of(const Event& event);
// The targets an event is about (for the index `targets`); borrowed from the event.
[[nodiscard]] std::vector<const model::Target*> targets_of(const Event& event);
// The blobs that an event names: whoever keeps the event keeps them. Of a declaration's manifest
// only its own digest, not what the manifest names.
[[nodiscard]] std::vector<Digest> blobs_of(const Event& event);

}  // namespace datum::core
