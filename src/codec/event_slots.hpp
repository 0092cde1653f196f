// For each event, its member of the union in schema/event.capnp.
#pragma once

#include "events.hpp"
#include "fields.hpp"
#include "host_event_fields.hpp"
#include "pass_event_fields.hpp"
#include "value_fields.hpp"

namespace datum::codec {

template <class T>
struct Slot;

#define DATUM_SLOT(Type, kind)                       \
  template <>                                        \
  struct Slot<core::Type> {                          \
    static constexpr auto kAt = DATUM_ACCESS(Type);  \
    static constexpr std::string_view kName = #kind; \
  };
DATUM_EVENTS(DATUM_SLOT)
#undef DATUM_SLOT

}  // namespace datum::codec
