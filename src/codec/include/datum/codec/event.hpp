// Events to bytes and back: the payload of a journal record. The schema is schema/event.capnp, the
// rules stand in docs/formats/events.md. Knows no journal: number, time and chain of a record are
// the journal's. No exception of the Cap'n Proto library leaves this module.
#pragma once

#include <cstdint>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/event.hpp"

namespace datum::codec {

// The payload of `event`: one flat Cap'n Proto message in one segment, not packed, a multiple of 8
// bytes. Equal events give equal bytes. The number for the envelope is `core::kind_of(event)`.
// Keeping a payload within the journal's limit (64 KiB) is up to whoever fills the event. Any
// thread.
[[nodiscard]] Bytes encode_event(const core::Event& event);
// The same; `out` loses its content and keeps its capacity, so a loop over many events allocates
// nothing.
void encode_event_into(const core::Event& event, Bytes& out);

// Reads a payload completely; nothing of it is borrowed. Bytes at an address that is a multiple of
// 8 are read in place, others are copied first. Memory is bounded by a small multiple of the
// payload.
//   unsupported_version: `kind` is none that this program knows, so a newer one wrote it
//   corrupt: anything else that is not exactly one event of that kind: damaged pointers, another
//            event inside, bytes before or behind, an enumeration out of range, a digest of another
//            length
// Any thread.
[[nodiscard]] Result<core::Event> decode_event(std::uint16_t kind, ByteView payload);
// The same; where `out` holds an event of that kind, its memory is used again, so a loop over many
// events allocates little. After an error `out` is worthless.
[[nodiscard]] Status decode_event_into(std::uint16_t kind, ByteView payload, core::Event& out);

}  // namespace datum::codec
