// What can be said of an event of the control plane without knowing its state.
#include "datum/core/control_event.hpp"

#include <array>

namespace datum::core::control {
namespace {

// In the order of the alternatives of Event.
constexpr std::array kControlKinds{
    EventKind::plane_created,    EventKind::plane_opened,         EventKind::plane_closed,
    EventKind::key_made,         EventKind::token_made,           EventKind::token_withdrawn,
    EventKind::node_requested,   EventKind::request_decided,      EventKind::enrolment_refused,
    EventKind::node_enrolled,    EventKind::certificate_issued,   EventKind::node_reported,
    EventKind::credential_ended, EventKind::node_forgotten,       EventKind::store_replaced,
    EventKind::push_begun,       EventKind::declaration_released, EventKind::declaration_answered,
    EventKind::status_changed,   EventKind::order_issued,         EventKind::push_staged,
    EventKind::release_planned,  EventKind::stage_begun,          EventKind::push_paused,
    EventKind::push_resumed,     EventKind::push_aborted,         EventKind::order_answered,
    EventKind::push_guarded,     EventKind::plane_restored,       EventKind::newer_seen,
    EventKind::newer_accepted,
};
static_assert(kControlKinds.size() == std::variant_size_v<Event>);

}  // namespace

EventKind kind_of(const Event& event) {
  return kControlKinds[event.index()];
}

std::string_view node_of(const Event& event) {
  return std::visit(
      []<class T>(const T& each) -> std::string_view {
        if constexpr (requires { each.node; })
          return each.node;
        else if constexpr (requires { each.applicant; })
          return each.applicant.node;
        else
          return {};
      },
      event);
}

std::string_view to_string(KeyUse use) {
  switch (use) {
    case KeyUse::authority:
      return "authority";
    case KeyUse::signer:
      return "signer";
  }
  return "?";
}

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::enrolled:
      return "enrolled";
    case Standing::retired:
      return "retired";
    case Standing::revoked:
      return "revoked";
  }
  return "?";
}

}  // namespace datum::core::control
