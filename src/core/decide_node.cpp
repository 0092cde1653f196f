// Decisions about enrolment, declarations and the link. The generation only grows, whatever a peer
// says.
#include "bounds.hpp"
#include "decisions.hpp"

namespace datum::core {
namespace {

std::string generation_text(const DeclarationId& id) {
  return std::to_string(id.epoch) + "." + std::to_string(id.number);
}

Status check_open(const State& state) {
  if (state.open) return {};
  return fail(ErrorCode::conflict, "the store is not open");
}

// A store that was lost or put back to an older copy may have forgotten what was newer.
Status check_not_before_loss(const State& state, const DeclarationId& id) {
  const auto& lost = state.lost_declaration;
  if (!lost || lost->mesh != id.mesh || is_above(id, *lost)) return {};
  const bool is_same = lost->epoch == id.epoch && lost->number == id.number;
  if (is_same && lost->manifest == id.manifest) return {};
  return fail(
      ErrorCode::refused,
      "generation " + generation_text(id) +
          (is_same ? " was another declaration in the store that was lost"
                   : " is below what the store that was lost had, " + generation_text(*lost)));
}

Status check_newer(const State& state, const DeclarationId& id) {
  DATUM_TRY(check_open(state));
  DATUM_TRY(check_not_before_loss(state, id));
  if (state.accepted && !is_above(id, *state.accepted))
    return fail(ErrorCode::refused, "generation " + generation_text(id) +
                                        " is not above the accepted one, " +
                                        generation_text(*state.accepted));
  if (!state.stored || *state.stored == id) return {};
  if (is_above(id, *state.stored)) return {};
  return fail(ErrorCode::refused, "generation " + generation_text(id) +
                                      " is not above the stored one, " +
                                      generation_text(*state.stored));
}

}  // namespace

Result<Events> Decider::operator()(const RecordKeyCreated& command) const {
  DATUM_TRY(check_open(state_));
  return Events{KeyCreated{command.fingerprint}};
}

Result<Events> Decider::operator()(const RequestEnrolment& command) const {
  DATUM_TRY(check_open(state_));
  return Events{
      EnrolmentRequested{command.address, command.token_id, command.profile, command.actor}};
}

Result<Events> Decider::operator()(const RecordEnrolment& command) const {
  DATUM_TRY(check_open(state_));
  Events events{EnrolmentGranted{command.mesh, command.node, command.serial, command.not_after,
                                 command.labels}};
  if (state_.lifecycle != NodeLifecycle::enrolled)
    events.push_back(LifecycleChanged{state_.lifecycle, NodeLifecycle::enrolled,
                                      "enrolled in " + command.mesh_name + " as " + command.node,
                                      command.actor});
  // Whoever set it may not be of this mesh, and knows nothing of it any more: it cannot be lifted.
  if (state_.link_hold) events.push_back(HoldLifted{HoldOrigin::link, command.actor});
  return events;
}

Result<Events> Decider::operator()(const RefuseEnrolment& command) const {
  DATUM_TRY(check_open(state_));
  return Events{EnrolmentRefused{bounded(command.reason), bounded(command.remedy)}};
}

Result<Events> Decider::operator()(const RecordCertificate& command) const {
  DATUM_TRY(check_open(state_));
  return Events{CertificateRenewed{command.serial, command.not_after}};
}

Result<Events> Decider::operator()(const ReceiveDeclaration& command) const {
  DATUM_TRY(check_newer(state_, command.declaration));
  return Events{DeclarationReceived{command.declaration}};
}

Result<Events> Decider::operator()(const StoreDeclaration& command) const {
  DATUM_TRY(check_newer(state_, command.declaration));
  if (state_.stored == command.declaration) return Events{};
  Events events;
  const bool was_waiting = state_.stored && state_.stored != state_.accepted;
  if (was_waiting) events.push_back(DeclarationSuperseded{*state_.stored, command.declaration});
  events.push_back(DeclarationStored{command.declaration, command.provenance});
  return events;
}

Result<Events> Decider::operator()(const AcceptDeclaration& command) const {
  DATUM_TRY(check_newer(state_, command.declaration));
  if (state_.stored != command.declaration)
    return fail(ErrorCode::conflict,
                "declaration " + generation_text(command.declaration) + " is not stored whole");
  if (state_.pass)
    return fail(ErrorCode::conflict, "a pass is running: it must finish or be interrupted first");
  Events events{DeclarationAccepted{command.declaration, command.provenance, command.actor}};
  if (state_.accepted)
    events.push_back(DeclarationSuperseded{*state_.accepted, command.declaration});
  return events;
}

Result<Events> Decider::operator()(const RejectDeclaration& command) const {
  DATUM_TRY(check_open(state_));
  return Events{DeclarationRejected{command.declaration, bounded(command.reason)}};
}

Result<Events> Decider::operator()(const RecordLinkUp& command) const {
  DATUM_TRY(check_open(state_));
  return Events{LinkUp{command.address}};
}

Result<Events> Decider::operator()(const RecordLinkDown& command) const {
  DATUM_TRY(check_open(state_));
  return Events{LinkDown{bounded(command.reason)}};
}

Result<Events> Decider::operator()(const RecordLinkPairs& command) const {
  DATUM_TRY(check_open(state_));
  if (command.pairs == 0) return Events{};
  return Events{LinkCoalesced{command.pairs}};
}

}  // namespace datum::core
