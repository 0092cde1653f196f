// Values into Cap'n Proto builders, by the tables of fields. What is empty stays a null pointer, so
// it costs nothing and equal values give equal bytes.
#pragma once

#include <capnp/list.h>

#include <utility>

#include "datum/base/assert.hpp"
#include "enumerations.hpp"
#include "shapes.hpp"

namespace datum::codec {

[[nodiscard]] inline capnp::Text::Reader stored_text(const SharedText& text) {
  return {text.c_str(), text.size()};
}
[[nodiscard]] inline capnp::Text::Reader stored_text(const std::string& text) {
  return {text.c_str(), text.size()};
}
template <IsFixed T>
[[nodiscard]] capnp::Data::Reader stored_data(const T& fixed) {
  return {fixed.bytes.data(), fixed.bytes.size()};
}
[[nodiscard]] inline capnp::Data::Reader stored_data(const Bytes& bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}
template <class Stored, IsEnumeration T>
[[nodiscard]] Stored stored_enumeration(T value) {
  if constexpr (std::same_as<T, ErrorCode>) {
    return static_cast<Stored>(stored_number(value));
  } else {
    DATUM_ASSERT(is_known(value));
    return static_cast<Stored>(value);
  }
}

// Writes the members of one value into the builder of its struct.
template <class Builder>
class Encoder {
 public:
  explicit Encoder(Builder at) : at_(at) {}

  template <class T, class At>
  void field(std::string_view, const T& value, At at) {
    if constexpr (IsText<T>) {
      if (!value.empty()) at(Do<Access::set>{}, at_, stored_text(value));
    } else if constexpr (IsFixed<T> || IsBytes<T>) {
      if (!value.empty()) at(Do<Access::set>{}, at_, stored_data(value));
    } else if constexpr (IsTime<T>) {
      at(Do<Access::set>{}, at_, value.ns);
    } else if constexpr (IsNumber<T>) {
      at(Do<Access::set>{}, at_, value);
    } else if constexpr (IsEnumeration<T>) {
      using Stored = decltype(at(Do<Access::get>{}, at_));
      at(Do<Access::set>{}, at_, stored_enumeration<Stored>(value));
    } else if constexpr (IsOptional<T>) {
      if (value) field({}, *value, at);
    } else if constexpr (IsList<T> || IsMap<T>) {
      if (value.empty()) return;
      auto list = at(Do<Access::init>{}, at_, static_cast<unsigned>(value.size()));
      unsigned index = 0;
      for (const auto& each : value) element(list, index++, each);
    } else {
      structure(at(Do<Access::init>{}, at_), value);
    }
  }
  template <class At>
  void flags(std::string_view name, const std::uint32_t& value, At at) {
    field(name, value, at);
  }

 private:
  template <class Into, class T>
  static void structure(Into into, const T& value) {
    Encoder<Into> inner(into);
    Fields<T>::visit(inner, value);
  }
  template <class List, class T>
  static void element(List& list, unsigned index, const T& value) {
    if constexpr (IsText<T>)
      list.set(index, stored_text(value));
    else if constexpr (IsFixed<T> || IsBytes<T>)
      list.set(index, stored_data(value));
    else if constexpr (IsTime<T>)
      list.set(index, value.ns);
    else if constexpr (IsNumber<T>)
      list.set(index, value);
    else if constexpr (IsEnumeration<T>)
      list.set(index, stored_enumeration<decltype(list[index])>(value));
    else
      structure(list[index], value);
  }
  template <class List, class K, class V>
  static void element(List& list, unsigned index, const std::pair<const K, V>& entry) {
    Encoder<decltype(list[index])> inner(list[index]);
    inner.field({}, entry.first, DATUM_ACCESS(Key));
    inner.field({}, entry.second, DATUM_ACCESS(Value));
  }

  Builder at_;
};

template <class Builder, class T>
void encode_fields(Builder at, const T& value) {
  Encoder<Builder> encoder(at);
  Fields<T>::visit(encoder, value);
}

}  // namespace datum::codec
