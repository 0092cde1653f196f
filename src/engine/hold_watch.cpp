#include "hold_watch.hpp"

#include <utility>

namespace datum::engine {

std::unique_ptr<loop::Timer> watch_hold(loop::Loop& loop, std::function<bool()> is_held_now,
                                        loop::StopFlag stop) {
  // A person does not notice it, and a look reads one small file.
  constexpr std::int64_t kLookNs = kNsPerSecond / 4;
  if (!is_held_now) return nullptr;
  auto timer = loop.make_timer();
  timer->start(kLookNs, kLookNs, [is_held_now = std::move(is_held_now), stop = std::move(stop)] {
    if (!stop.stopped() && is_held_now()) stop.stop();
  });
  return timer;
}

}  // namespace datum::engine
