// Events into the payloads of journal records; the layout is described in docs/formats/events.md.
#include "datum/codec/event.hpp"
#include "encoder.hpp"
#include "event.capnp.h"
#include "event_slots.hpp"
#include "message.hpp"

namespace datum::codec {

void encode_event_into(const core::Event& event, Bytes& out) {
  std::visit(
      [&out]<class T>(const T& value) {
        build_message<schema::Event>(out, [&value](schema::Event::Builder root) {
          encode_fields(Slot<T>::kAt(Do<Access::init>{}, root), value);
        });
      },
      event);
}

Bytes encode_event(const core::Event& event) {
  Bytes bytes;
  encode_event_into(event, bytes);
  return bytes;
}

}  // namespace datum::codec
