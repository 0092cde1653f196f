// Golden bytes as text: hexadecimal, 32 bytes a line.
#pragma once

#include <string>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::test {

[[nodiscard]] std::string to_golden(ByteView bytes);
[[nodiscard]] Result<Bytes> from_golden(const std::string& text);
// `not_found` if there is none.
[[nodiscard]] Result<Bytes> read_golden(const std::string& path);

}  // namespace datum::test
