// The pass over the raw bytes of a slice, before libyaml sees them: what no document may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/yaml/yaml.hpp"

namespace datum::yaml {

struct ByteFault {
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

// The first byte sequence that is not allowed: not UTF-8, a control character other than tab and
// newline, U+0085, U+2028, U+2029, a carriage return, a byte-order mark, U+FFFE or U+FFFF.
[[nodiscard]] std::optional<ByteFault> find_byte_fault(std::string_view bytes);

[[nodiscard]] std::string code_point_name(std::uint32_t value);  // "U+200E"

// Where the byte at `offset` stands; `first_line` is the line of the first byte.
[[nodiscard]] Position position_of(std::string_view bytes, std::size_t offset,
                                   std::uint32_t first_line);

}  // namespace datum::yaml
