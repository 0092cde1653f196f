// The loop over libuv. Named by programs and tests only.
#pragma once

#include <memory>

#include "datum/loop/loop.hpp"

namespace datum::uv {
// `pool_width` threads of its own (libuv's global pool is not used, so nothing else can fill it).
// Throws std::system_error where not one can be made.
[[nodiscard]] std::unique_ptr<loop::Loop> make_loop(std::size_t pool_width);
// The clocks alone, for a command that waits for nothing.
[[nodiscard]] std::unique_ptr<loop::Clock> make_clock();
}  // namespace datum::uv
