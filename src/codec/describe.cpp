#include "datum/codec/describe.hpp"

#include "describer.hpp"
#include "events.hpp"
#include "host_event_fields.hpp"
#include "pass_event_fields.hpp"
#include "value_fields.hpp"

namespace datum::codec {

void describe_event(const core::Event& event, FieldSink& sink) {
  Describer describer(sink);
  std::visit([&describer]<class T>(const T& value) { Fields<T>::visit(describer, value); }, event);
}

}  // namespace datum::codec
