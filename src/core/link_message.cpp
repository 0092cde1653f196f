// What can be said of a message without knowing the conversation.
#include "datum/core/link_message.hpp"

#include <array>

namespace datum::core {
namespace {

// In the order of the alternatives of LinkMessage.
constexpr std::array kLinkKinds{
    LinkKind::hello,
    LinkKind::welcome,
    LinkKind::goodbye,
    LinkKind::enrolment_request,
    LinkKind::enrolment_pending,
    LinkKind::enrolment_grant,
    LinkKind::enrolment_refusal,
    LinkKind::declaration,
    LinkKind::blob_request,
    LinkKind::blob_part,
    LinkKind::declaration_answer,
    LinkKind::heartbeat,
    LinkKind::journal_part,
    LinkKind::journal_kept,
    LinkKind::order,
    LinkKind::order_answer,
};
static_assert(kLinkKinds.size() == std::variant_size_v<LinkMessage>);

}  // namespace

LinkKind kind_of(const LinkMessage& message) {
  return kLinkKinds[message.index()];
}

std::string_view to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::hello:
      return "hello";
    case LinkKind::welcome:
      return "welcome";
    case LinkKind::goodbye:
      return "goodbye";
    case LinkKind::enrolment_request:
      return "enrolment request";
    case LinkKind::enrolment_pending:
      return "enrolment pending";
    case LinkKind::enrolment_grant:
      return "enrolment grant";
    case LinkKind::enrolment_refusal:
      return "enrolment refusal";
    case LinkKind::declaration:
      return "declaration";
    case LinkKind::blob_request:
      return "blob request";
    case LinkKind::blob_part:
      return "blob part";
    case LinkKind::declaration_answer:
      return "declaration answer";
    case LinkKind::heartbeat:
      return "heartbeat";
    case LinkKind::journal_part:
      return "journal part";
    case LinkKind::journal_kept:
      return "journal kept";
    case LinkKind::order:
      return "order";
    case LinkKind::order_answer:
      return "orderAnswer";
  }
  return "?";
}

std::string_view to_string(LinkCause value) {
  switch (value) {
    case LinkCause::stopping:
      return "stopping";
    case LinkCause::busy:
      return "busy";
    case LinkCause::protocol:
      return "protocol";
    case LinkCause::too_slow:
      return "too slow";
    case LinkCause::version:
      return "version";
    case LinkCause::token_unknown:
      return "token unknown";
    case LinkCause::token_expired:
      return "token expired";
    case LinkCause::token_used:
      return "token used";
    case LinkCause::name_taken:
      return "name taken";
    case LinkCause::name_refused:
      return "name refused";
    case LinkCause::profile_refused:
      return "profile refused";
    case LinkCause::key_unproved:
      return "key unproved";
    case LinkCause::revoked:
      return "revoked";
    case LinkCause::retired:
      return "retired";
    case LinkCause::clone:
      return "clone";
    case LinkCause::replaced:
      return "replaced";
    case LinkCause::clock:
      return "clock";
    case LinkCause::by_person:
      return "by person";
  }
  return "?";
}

std::string_view to_string(DeclarationStep value) {
  switch (value) {
    case DeclarationStep::stored:
      return "stored";
    case DeclarationStep::accepted:
      return "accepted";
    case DeclarationStep::rejected:
      return "rejected";
    case DeclarationStep::applied:
      return "applied";
  }
  return "?";
}

std::string_view to_string(OrderKind value) {
  switch (value) {
    case OrderKind::hold:
      return "hold";
    case OrderKind::lift:
      return "lift";
    case OrderKind::revoke:
      return "revoke";
    case OrderKind::retire:
      return "retire";
  }
  return "?";
}

}  // namespace datum::core
