#include "datum/codec/link.hpp"

#include "decoder.hpp"
#include "encoder.hpp"
#include "link.capnp.h"
#include "link_fields.hpp"
#include "link_messages.hpp"
#include "message.hpp"

namespace datum::codec {
namespace {

// For each message, its root in schema/link.capnp.
template <class T>
struct Root;

#define DATUM_ROOT(Type)                             \
  template <>                                        \
  struct Root<core::Type> {                          \
    using Schema = schema::Type;                     \
    static constexpr std::string_view kName = #Type; \
  };
#define DATUM_MESSAGE_ROOT(Type, kind) DATUM_ROOT(Type)
DATUM_LINK_MESSAGES(DATUM_MESSAGE_ROOT)
DATUM_ROOT(DeclarationBody)
DATUM_ROOT(OrderBody)
#undef DATUM_MESSAGE_ROOT
#undef DATUM_ROOT

template <class T>
Bytes encode(const T& value) {
  Bytes bytes;
  build_message<typename Root<T>::Schema>(bytes,
                                          [&value](auto root) { encode_fields(root, value); });
  return bytes;
}

template <class T>
Result<T> decode(ByteView bytes) {
  return read_message<typename Root<T>::Schema>(
      bytes, Root<T>::kName, [](auto root, std::size_t words) -> Result<T> {
        return decode_fields<T>(root, words, Root<T>::kName);
      });
}

template <class T>
Result<std::optional<core::LinkMessage>> decode_message(ByteView bytes) {
  DATUM_ASSIGN(auto message, decode<T>(bytes));
  return std::optional<core::LinkMessage>(std::move(message));
}

}  // namespace

Bytes encode_link(const core::LinkMessage& message) {
  return std::visit([](const auto& value) { return encode(value); }, message);
}

Result<std::optional<core::LinkMessage>> decode_link(std::uint8_t kind, ByteView message) {
  switch (static_cast<core::LinkKind>(kind)) {
#define DATUM_READ(Type, name) \
  case core::LinkKind::name:   \
    return decode_message<core::Type>(message);
    DATUM_LINK_MESSAGES(DATUM_READ)
#undef DATUM_READ
  }
  return std::nullopt;
}

Bytes encode_declaration_body(const core::DeclarationBody& body) {
  return encode(body);
}
Result<core::DeclarationBody> decode_declaration_body(ByteView bytes) {
  return decode<core::DeclarationBody>(bytes);
}
Bytes encode_order_body(const core::OrderBody& body) {
  return encode(body);
}
Result<core::OrderBody> decode_order_body(ByteView bytes) {
  return decode<core::OrderBody>(bytes);
}

}  // namespace datum::codec
