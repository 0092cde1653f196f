// Tables of fields told to people: each member goes to a sink in the form that it is known by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datum/codec/describe.hpp"
#include "datum/core/status.hpp"
#include "enumerations.hpp"
#include "shapes.hpp"

namespace datum::codec {

// Walks a table of fields and hands each member to the sink in the form that people know it by.
class Describer {
 public:
  explicit Describer(FieldSink& sink) : sink_(sink) {}

  template <class T, class At>
  void field(std::string_view name, const T& value, At) {
    show(name, value);
  }
  template <class At>
  void flags(std::string_view name, const std::uint32_t& value, At) {
    const auto set = core::flags_in(value);
    sink_.begin_list(name, set.size());
    for (const auto flag : set) sink_.text({}, core::to_string(flag));
    sink_.end_list();
  }

 private:
  void show(std::string_view name, const std::string& value) { sink_.text(name, value); }
  void show(std::string_view name, const Digest& value) { sink_.digest(name, value); }
  void show(std::string_view name, const Bytes& value) { sink_.text(name, to_hex(value)); }
  void show(std::string_view name, std::uint16_t value) { sink_.number(name, value); }
  void show(std::string_view name, WallNs value) { sink_.time(name, value); }
  void show(std::string_view name, bool value) { sink_.boolean(name, value); }
  void show(std::string_view name, std::uint32_t value) { sink_.number(name, value); }
  void show(std::string_view name, std::uint64_t value) { sink_.number(name, value); }
  void show(std::string_view name, std::int32_t value) { sink_.signed_number(name, value); }
  // Every signed number of that width is a duration; points in time have types of their own.
  void show(std::string_view name, std::int64_t value) { sink_.duration_ns(name, value); }
  void show(std::string_view name, const Id128& value) {
    sink_.text(name, value.empty() ? std::string() : value.hex());
  }
  // Where nothing is named, "File[]" would look like a name.
  void show(std::string_view name, const model::Reference& value) {
    sink_.text(name, value.name.empty() ? std::string() : value.text());
  }
  void show(std::string_view name, const model::Target& value) {
    sink_.text(name, value.name.empty() ? std::string() : value.text());
  }
  template <IsEnumeration T>
  void show(std::string_view name, T value) {
    sink_.text(name, word_of(value));
  }
  template <class T>
  void show(std::string_view name, const std::vector<T>& values) {
    sink_.begin_list(name, values.size());
    for (const auto& each : values) show({}, each);
    sink_.end_list();
  }
  // What was not recorded is not named.
  template <class T>
  void show(std::string_view name, const std::optional<T>& value) {
    if (value) show(name, *value);
  }
  template <IsStruct T>
  void show(std::string_view name, const T& value) {
    sink_.begin_group(name);
    Fields<T>::visit(*this, value);
    sink_.end_group();
  }

  FieldSink& sink_;
};

}  // namespace datum::codec
