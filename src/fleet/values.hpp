// Whether a text may be the value of a field: asked once while reading, and again after
// substitution, since a label can hold anything. Private to the module; pure.
#pragma once

#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/model/descriptor.hpp"

namespace datum::fleet {

struct ValueFault {
  std::string message;
  std::string hint;
};

// The normalised value of a field that holds one text.
[[nodiscard]] tl::expected<std::string, ValueFault> check_value(const model::FieldDescriptor& field,
                                                                std::string value);
// What any single-line text must be, in words; nothing if it is.
[[nodiscard]] tl::expected<void, ValueFault> check_line(std::string_view key,
                                                        std::string_view value,
                                                        std::size_t max_length);

}  // namespace datum::fleet
