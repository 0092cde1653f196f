// The last frame of an answer over a local socket: how the command is to end. The service's socket
// and the control plane's have the same (docs/formats/local-socket.md, control-socket.md). Pure.
#pragma once

#include <string>
#include <string_view>

#include "datum/base/error.hpp"

namespace datum::host {

[[nodiscard]] std::string encode_end(int exit_code);
// 0 to 255. `invalid_argument` for anything that encode_end does not write.
[[nodiscard]] Result<int> parse_end(std::string_view text);

}  // namespace datum::host
