// Events of the control plane to bytes and back: the payload of a record of its journal. The schema
// is schema/control.capnp, the numbers stand in docs/formats/control-journal.md. Pure, any thread.
#pragma once

#include <cstdint>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/codec/describe.hpp"
#include "datum/core/control_event.hpp"

namespace datum::codec {

// As encode_event: flat, one segment, equal events give equal bytes. The number for the envelope is
// `core::control::kind_of(event)`. Keeping a payload within the journal's limit is up to whoever
// fills the event.
[[nodiscard]] Bytes encode_control_event(const core::control::Event& event);
// `unsupported_version` for a kind that this program does not know, `corrupt` for bytes that are
// not exactly one event of that kind. Nothing of the payload is borrowed.
[[nodiscard]] Result<core::control::Event> decode_control_event(std::uint16_t kind,
                                                                ByteView payload);
// "nodeEnrolled" and so on, as the schema calls it.
[[nodiscard]] std::string_view control_event_name(const core::control::Event& event);
// The fields of an event by name, for people and JSON.
void describe_control_event(const core::control::Event& event, FieldSink& sink);

}  // namespace datum::codec
