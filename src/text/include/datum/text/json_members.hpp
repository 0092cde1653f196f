// The members of one JSON object as values, each taken at most once and none left over: for
// messages in which what one end does not understand must not be as if it were not there. Pure.
#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "datum/text/json_reader.hpp"

namespace datum::text {

// A member that is missing leaves `into` as it is. The first thing that is wrong stays, and `end`
// says it.
class JsonMembers {
 public:
  // Borrowed; anything but an object has no members, and `end` is an error.
  explicit JsonMembers(const JsonValue& object) : object_(object) {}

  void take(std::string_view name, std::string& into);
  void take(std::string_view name, bool& into);
  template <class T>
  requires(std::integral<T> && !std::same_as<T, bool>) void take(std::string_view name, T& into) {
    const auto* value = take(name, JsonKind::integer);
    if (value == nullptr) return;
    if (std::cmp_less(value->integer, std::numeric_limits<T>::min()) ||
        std::cmp_greater(value->integer, std::numeric_limits<T>::max()))
      return add_fault(name, "is out of its range");
    into = static_cast<T>(value->integer);
  }
  // For members that are more than one value; borrowed as the object is. nullptr: there is none, or
  // of another kind.
  [[nodiscard]] const JsonValue* take(std::string_view name, JsonKind kind);
  // What only the caller can see of a value.
  void add_fault(std::string_view name, std::string_view words);
  // `invalid_argument` for the first fault, for no object, and for members that nobody took.
  [[nodiscard]] Status end() const;

 private:
  const JsonValue& object_;
  std::size_t taken_ = 0;
  std::string fault_;
};

}  // namespace datum::text
