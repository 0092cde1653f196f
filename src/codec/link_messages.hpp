// The list of all messages of a link, by type and by the name of their number, in the order of
// core::LinkMessage.
#pragma once

#include "datum/core/link_message.hpp"

// clang-format off
#define DATUM_LINK_MESSAGES(X) \
  X(Hello, hello) \
  X(Welcome, welcome) \
  X(Goodbye, goodbye) \
  X(EnrolmentRequest, enrolment_request) \
  X(EnrolmentPending, enrolment_pending) \
  X(EnrolmentGrant, enrolment_grant) \
  X(EnrolmentRefusal, enrolment_refusal) \
  X(PushedDeclaration, declaration) \
  X(BlobRequest, blob_request) \
  X(BlobPart, blob_part) \
  X(DeclarationAnswer, declaration_answer) \
  X(Heartbeat, heartbeat) \
  X(JournalPart, journal_part) \
  X(JournalKept, journal_kept) \
  X(PushedOrder, order) \
  X(OrderAnswer, order_answer)
// clang-format on
