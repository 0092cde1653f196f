// Enumerations that are stored: which numbers exist, and their words. Every switch here names every
// value and has no default, so the compiler asks for a new one; so must schema/value.capnp then.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "datum/core/control_event.hpp"
#include "datum/core/event.hpp"
#include "datum/core/link_message.hpp"

namespace datum::codec {

// Whether the number is one of the enumeration's. The parameter may hold any number that fits.
[[nodiscard]] bool is_known(model::ResourceType value);
[[nodiscard]] bool is_known(model::TargetFamily value);
[[nodiscard]] bool is_known(core::Mode value);
[[nodiscard]] bool is_known(core::ModeTerm value);
[[nodiscard]] bool is_known(core::Condition value);
[[nodiscard]] bool is_known(core::Found value);
[[nodiscard]] bool is_known(core::Obstacle value);
[[nodiscard]] bool is_known(core::ActionKind value);
[[nodiscard]] bool is_known(core::Phase value);
[[nodiscard]] bool is_known(core::ActorKind value);
[[nodiscard]] bool is_known(core::LastEnd value);
[[nodiscard]] bool is_known(core::Trigger value);
[[nodiscard]] bool is_known(core::Interruption value);
[[nodiscard]] bool is_known(core::RecoveredOutcome value);
[[nodiscard]] bool is_known(core::LossKind value);
[[nodiscard]] bool is_known(core::HoldOrigin value);
[[nodiscard]] bool is_known(core::NodeLifecycle value);
[[nodiscard]] bool is_known(core::LinkCause value);
[[nodiscard]] bool is_known(core::DeclarationStep value);
[[nodiscard]] bool is_known(core::OrderKind value);
[[nodiscard]] bool is_known(core::control::KeyUse value);
[[nodiscard]] bool is_known(core::control::Standing value);

// For people. Only known values.
template <class Enumeration>
[[nodiscard]] std::string_view word_of(Enumeration value) {
  return to_string(value);
}
[[nodiscard]] std::string_view word_of(core::ActorKind value);

// The C++ numbers of ErrorCode are free to change, the schema's are not.
[[nodiscard]] std::uint16_t stored_number(ErrorCode code);
[[nodiscard]] std::optional<ErrorCode> find_error_code(std::uint16_t stored);

}  // namespace datum::codec
