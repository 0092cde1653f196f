// Events of the control plane into the payloads of its journal, and back.
#include "datum/codec/control_event.hpp"

#include "control.capnp.h"
#include "control_events.hpp"
#include "control_fields.hpp"
#include "decoder.hpp"
#include "describer.hpp"
#include "encoder.hpp"
#include "message.hpp"

namespace datum::codec {
namespace {

// For each event, its member of the union in schema/control.capnp.
template <class T>
struct ControlSlot;

#define DATUM_CONTROL_SLOT(Type, kind)              \
  template <>                                       \
  struct ControlSlot<core::control::Type> {         \
    static constexpr auto kAt = DATUM_ACCESS(Type); \
    static constexpr auto kName = FieldName(#Type); \
  };
DATUM_CONTROL_EVENTS(DATUM_CONTROL_SLOT)
#undef DATUM_CONTROL_SLOT

template <class T>
inline constexpr std::string_view kControlName = kNameOf<ControlSlot<T>::kName>;

template <class T>
Result<core::control::Event> read_control_event(ByteView payload) {
  using Root = schema::control::Event;
  return read_message<Root>(
      payload, kControlName<T>,
      [](Root::Reader root, std::size_t words) -> Result<core::control::Event> {
        if (!ControlSlot<T>::kAt(Do<Access::is>{}, root))
          return fail(ErrorCode::corrupt, std::string(kControlName<T>) + ": another event inside");
        DATUM_ASSIGN(auto event, decode_fields<T>(ControlSlot<T>::kAt(Do<Access::get>{}, root),
                                                  words, kControlName<T>));
        return core::control::Event(std::move(event));
      });
}

}  // namespace

Bytes encode_control_event(const core::control::Event& event) {
  Bytes bytes;
  std::visit(
      [&bytes]<class T>(const T& value) {
        build_message<schema::control::Event>(
            bytes, [&value](schema::control::Event::Builder root) {
              encode_fields(ControlSlot<T>::kAt(Do<Access::init>{}, root), value);
            });
      },
      event);
  return bytes;
}

Result<core::control::Event> decode_control_event(std::uint16_t kind, ByteView payload) {
  switch (static_cast<core::control::EventKind>(kind)) {
#define DATUM_READ(Type, name)         \
  case core::control::EventKind::name: \
    return read_control_event<core::control::Type>(payload);
    DATUM_CONTROL_EVENTS(DATUM_READ)
#undef DATUM_READ
  }
  if (kind == 0) return fail(ErrorCode::corrupt, "event kind 0 names nothing");
  return fail(ErrorCode::unsupported_version,
              "event kind " + std::to_string(kind) + " is of a newer version");
}

std::string_view control_event_name(const core::control::Event& event) {
  return std::visit([]<class T>(const T&) { return kControlName<T>; }, event);
}

void describe_control_event(const core::control::Event& event, FieldSink& sink) {
  Describer describer(sink);
  std::visit([&describer]<class T>(const T& value) { Fields<T>::visit(describer, value); }, event);
}

}  // namespace datum::codec
