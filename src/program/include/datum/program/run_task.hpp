// A task to its end on a session's loop.
#pragma once

#include <optional>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/loop/loop.hpp"
#include "datum/loop/task.hpp"

namespace datum::program {

template <class T>
loop::Task<bool> stop_after(loop::Loop& loop, loop::Task<T>& task, std::optional<T>& result) {
  result.emplace(co_await task);
  loop.stop();
  co_return true;
}

template <class T>
T run_task(loop::Loop& loop, loop::Task<T> task) {
  std::optional<T> result;
  auto outer = stop_after(loop, task, result);
  loop.post([&outer] { outer.start(); });
  loop.run();
  DATUM_ASSERT(result.has_value());
  return std::move(*result);
}

}  // namespace datum::program
