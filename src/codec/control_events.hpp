// The list of all events of the control plane, by type and by the name of their number, in the
// order of core::control::Event.
#pragma once

#include "datum/core/control_event.hpp"

// clang-format off
#define DATUM_CONTROL_EVENTS(X) \
  X(PlaneCreated, plane_created) \
  X(PlaneOpened, plane_opened) \
  X(PlaneClosed, plane_closed) \
  X(KeyMade, key_made) \
  X(TokenMade, token_made) \
  X(TokenWithdrawn, token_withdrawn) \
  X(NodeRequested, node_requested) \
  X(RequestDecided, request_decided) \
  X(EnrolmentRefused, enrolment_refused) \
  X(NodeEnrolled, node_enrolled) \
  X(CertificateIssued, certificate_issued) \
  X(NodeReported, node_reported) \
  X(CredentialEnded, credential_ended) \
  X(NodeForgotten, node_forgotten) \
  X(StoreReplaced, store_replaced) \
  X(PushBegun, push_begun) \
  X(DeclarationReleased, declaration_released) \
  X(DeclarationAnswered, declaration_answered) \
  X(StatusChanged, status_changed) \
  X(OrderIssued, order_issued) \
  X(PushStaged, push_staged) \
  X(ReleasePlanned, release_planned) \
  X(StageBegun, stage_begun) \
  X(PushPaused, push_paused) \
  X(PushResumed, push_resumed) \
  X(PushAborted, push_aborted) \
  X(OrderAnswered, order_answered) \
  X(PushGuarded, push_guarded) \
  X(PlaneRestored, plane_restored) \
  X(NewerSeen, newer_seen) \
  X(NewerAccepted, newer_accepted)
// clang-format on
