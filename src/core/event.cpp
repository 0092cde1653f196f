// What can be said of an event without knowing the state: its kind, its pass, its targets.
#include "datum/core/event.hpp"

#include <array>

namespace datum::core {
namespace {

struct Kind {
  EventKind kind;
  std::string_view name;
};

// In the order of the alternatives of Event.
constexpr std::array kKinds{
    Kind{EventKind::store_created, "storeCreated"},
    Kind{EventKind::store_opened, "storeOpened"},
    Kind{EventKind::store_closed, "storeClosed"},
    Kind{EventKind::corrupt_detected, "corruptDetected"},
    Kind{EventKind::store_loss_detected, "storeLossDetected"},
    Kind{EventKind::store_unwritable, "storeUnwritable"},
    Kind{EventKind::store_writable_again, "storeWritableAgain"},
    Kind{EventKind::level_raised, "levelRaised"},
    Kind{EventKind::checkpoint_taken, "checkpointTaken"},
    Kind{EventKind::records_archived, "recordsArchived"},
    Kind{EventKind::clock_jumped, "clockJumped"},
    Kind{EventKind::lifecycle_changed, "lifecycleChanged"},
    Kind{EventKind::mode_changed, "modeChanged"},
    Kind{EventKind::hold_set, "holdSet"},
    Kind{EventKind::hold_lifted, "holdLifted"},
    Kind{EventKind::config_rejected, "configRejected"},
    Kind{EventKind::version_confirmed, "versionConfirmed"},
    Kind{EventKind::upgrade_pending, "upgradePending"},
    Kind{EventKind::rolled_back, "rolledBack"},
    Kind{EventKind::version_refused, "versionRefused"},
    Kind{EventKind::key_created, "keyCreated"},
    Kind{EventKind::enrolment_requested, "enrolmentRequested"},
    Kind{EventKind::enrolment_granted, "enrolmentGranted"},
    Kind{EventKind::enrolment_refused, "enrolmentRefused"},
    Kind{EventKind::certificate_renewed, "certificateRenewed"},
    Kind{EventKind::node_revoked, "nodeRevoked"},
    Kind{EventKind::retirement_begun, "retirementBegun"},
    Kind{EventKind::node_retired, "nodeRetired"},
    Kind{EventKind::declaration_received, "declarationReceived"},
    Kind{EventKind::declaration_stored, "declarationStored"},
    Kind{EventKind::declaration_accepted, "declarationAccepted"},
    Kind{EventKind::declaration_rejected, "declarationRejected"},
    Kind{EventKind::declaration_superseded, "declarationSuperseded"},
    Kind{EventKind::pass_started, "passStarted"},
    Kind{EventKind::resource_observed, "resourceObserved"},
    Kind{EventKind::observation_summarized, "observationSummarized"},
    Kind{EventKind::plan_computed, "planComputed"},
    Kind{EventKind::pass_finished, "passFinished"},
    Kind{EventKind::pass_interrupted, "passInterrupted"},
    Kind{EventKind::pass_resumed, "passResumed"},
    Kind{EventKind::resources_forgotten, "resourcesForgotten"},
    Kind{EventKind::actions_announced, "actionsAnnounced"},
    Kind{EventKind::action_succeeded, "actionSucceeded"},
    Kind{EventKind::action_failed, "actionFailed"},
    Kind{EventKind::actions_not_started, "actionsNotStarted"},
    Kind{EventKind::action_blocked, "actionBlocked"},
    Kind{EventKind::action_skipped, "actionSkipped"},
    Kind{EventKind::action_tool_adopted, "actionToolAdopted"},
    Kind{EventKind::action_still_running, "actionStillRunning"},
    Kind{EventKind::action_timed_out, "actionTimedOut"},
    Kind{EventKind::action_quarantined, "actionQuarantined"},
    Kind{EventKind::action_recovered, "actionRecovered"},
    Kind{EventKind::notification_raised, "notificationRaised"},
    Kind{EventKind::delivery_started, "deliveryStarted"},
    Kind{EventKind::notification_delivered, "notificationDelivered"},
    Kind{EventKind::delivery_failed, "deliveryFailed"},
    Kind{EventKind::notification_dropped, "notificationDropped"},
    Kind{EventKind::ownership_created, "ownershipCreated"},
    Kind{EventKind::ownership_adopted, "ownershipAdopted"},
    Kind{EventKind::ownership_renamed, "ownershipRenamed"},
    Kind{EventKind::ownership_released, "ownershipReleased"},
    Kind{EventKind::ownership_removed, "ownershipRemoved"},
    Kind{EventKind::target_orphaned, "targetOrphaned"},
    Kind{EventKind::old_content_not_kept, "oldContentNotKept"},
    Kind{EventKind::target_contested, "targetContested"},
    Kind{EventKind::target_acknowledged, "targetAcknowledged"},
    Kind{EventKind::pass_reverted, "passReverted"},
    Kind{EventKind::target_kept, "targetKept"},
    Kind{EventKind::link_up, "linkUp"},
    Kind{EventKind::link_down, "linkDown"},
    Kind{EventKind::link_coalesced, "linkCoalesced"},
    Kind{EventKind::reboot_required, "rebootRequired"},
    Kind{EventKind::reboot_seen, "rebootSeen"},
};
static_assert(kKinds.size() == std::variant_size_v<AnyEvent>);

template <class T>
PassId pass_in(const T& event) {
  if constexpr (requires { event.pass; })
    return event.pass;
  else
    return 0;
}

using Targets = std::vector<const model::Target*>;

template <class T>
void add_targets(const T& event, Targets& out) {
  if constexpr (requires { event.target; }) {
    out.push_back(&event.target);
  } else if constexpr (requires { event.unit.name; }) {
    out.push_back(&event.unit);
  } else if constexpr (requires { event.targets; }) {
    for (const auto& each : event.targets) out.push_back(&each);
  } else if constexpr (requires { event.last_known_owned; }) {
    for (const auto& each : event.last_known_owned) out.push_back(&each);
  } else if constexpr (requires { event.actions; }) {
    for (const auto& each : event.actions) out.push_back(&each.target);
  }
}

void add_blob(const Digest& digest, std::vector<Digest>& out) {
  if (!digest.empty()) out.push_back(digest);
}

template <class T>
void add_blobs(const T& event, std::vector<Digest>& out) {
  if constexpr (requires { event.plan.bytes; }) add_blob(event.plan, out);
  if constexpr (requires { event.declaration.manifest; }) add_blob(event.declaration.manifest, out);
  if constexpr (requires { event.provenance; }) add_blob(event.provenance.documents, out);
  if constexpr (requires { event.profile.bytes; }) add_blob(event.profile, out);
  if constexpr (requires { event.actions; })
    for (const auto& each : event.actions) {
      add_blob(each.old_content, out);
      add_blob(each.attributes, out);
    }
}

}  // namespace

EventKind kind_of(const Event& event) {
  return kKinds[event.index()].kind;
}

std::string_view to_string(EventKind kind) {
  for (const auto& each : kKinds)
    if (each.kind == kind) return each.name;
  return "?";
}

PassId pass_of(const Event& event) {
  return std::visit([](const auto& value) { return pass_in(value); }, event);
}

std::vector<const model::Target*> targets_of(const Event& event) {
  Targets targets;
  std::visit([&targets](const auto& value) { add_targets(value, targets); }, event);
  return targets;
}

std::vector<Digest> blobs_of(const Event& event) {
  std::vector<Digest> blobs;
  std::visit([&blobs](const auto& value) { add_blobs(value, blobs); }, event);
  return blobs;
}

}  // namespace datum::core
