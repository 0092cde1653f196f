// Connections over TCP. Named by programs and tests only.
#pragma once

#include <memory>

#include "datum/loop/network.hpp"
#include "datum/uv/uv_loop.hpp"

namespace datum::uv {
// Over a loop of `make_loop`, which must outlive it and all that it gave out. Names are looked up
// on libuv's own pool of threads.
[[nodiscard]] std::unique_ptr<loop::Network> make_network(loop::Loop& loop);
}  // namespace datum::uv
