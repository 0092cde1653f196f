// One attempt to connect: name, addresses, limit.
#pragma once

#include <functional>
#include <memory>

#include "datum/loop/network.hpp"
#include "loop_parts.hpp"

namespace datum::uv {

[[nodiscard]] std::unique_ptr<loop::Connecting> begin_connecting(
    loop::Loop& loop, const loop::Address& address, std::int64_t timeout_ns,
    std::function<void(Result<std::unique_ptr<loop::Stream>>)> done);

}  // namespace datum::uv
