// Looks, for as long as it lives, whether a wave that runs may go on. Internal to engine.
#pragma once

#include <functional>
#include <memory>

#include "datum/loop/loop.hpp"

namespace datum::engine {

// Stops `stop` once `is_held_now` says so, within a quarter of a second of being asked to. Null
// where there is nothing to ask.
[[nodiscard]] std::unique_ptr<loop::Timer> watch_hold(loop::Loop& loop,
                                                      std::function<bool()> is_held_now,
                                                      loop::StopFlag stop);

}  // namespace datum::engine
