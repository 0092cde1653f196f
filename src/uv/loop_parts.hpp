// What other parts of `uv` need of a loop that they are given by its interface.
#pragma once

#include <uv.h>

#include <memory>

#include "call_queue.hpp"
#include "datum/loop/loop.hpp"

namespace datum::uv {

struct LoopParts {
  uv_loop_t* raw = nullptr;
  std::shared_ptr<CallQueue> calls;
};

// Of a loop that `make_loop` made; no other may be given.
[[nodiscard]] LoopParts parts_of(loop::Loop& loop);

}  // namespace datum::uv
