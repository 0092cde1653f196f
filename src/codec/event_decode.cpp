// Payloads of journal records into events; the layout is described in docs/formats/events.md.
#include "datum/codec/event.hpp"
#include "decoder.hpp"
#include "event.capnp.h"
#include "event_slots.hpp"
#include "message.hpp"

namespace datum::codec {
namespace {

template <class T>
Status read_as(ByteView payload, core::Event& out) {
  return read_message<schema::Event>(
      payload, Slot<T>::kName, [&out](schema::Event::Reader root, std::size_t words) -> Status {
        if (!Slot<T>::kAt(Do<Access::is>{}, root))
          return fail(ErrorCode::corrupt, std::string(Slot<T>::kName) + ": another event inside");
        auto* event = std::get_if<T>(&out);
        if (event == nullptr) event = &out.emplace<T>();
        return decode_fields_into(Slot<T>::kAt(Do<Access::get>{}, root), words, Slot<T>::kName,
                                  *event);
      });
}

}  // namespace

Result<core::Event> decode_event(std::uint16_t kind, ByteView payload) {
  core::Event event;
  DATUM_TRY(decode_event_into(kind, payload, event));
  return event;
}

Status decode_event_into(std::uint16_t kind, ByteView payload, core::Event& out) {
  // No default: an event without a line in events.hpp is a warning here.
  switch (static_cast<core::EventKind>(kind)) {
#define DATUM_READ(Type, name) \
  case core::EventKind::name:  \
    return read_as<core::Type>(payload, out);
    DATUM_EVENTS(DATUM_READ)
#undef DATUM_READ
  }
  if (kind == 0) return fail(ErrorCode::corrupt, "event kind 0 names nothing");
  return fail(ErrorCode::unsupported_version,
              "event kind " + std::to_string(kind) + " is of a newer version");
}

}  // namespace datum::codec
