// All timers of a loop on one timerfd of CLOCK_BOOTTIME. libuv's own timers stand on
// CLOCK_MONOTONIC, which stands still while a machine sleeps: a drift timer of 30 minutes would be
// due 30 minutes after the lid was opened. This descriptor is readable at once after the machine
// woke.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "call_queue.hpp"
#include "datum/loop/loop.hpp"

namespace datum::uv {

// CLOCK_BOOTTIME in nanoseconds.
[[nodiscard]] std::int64_t boot_now_ns();

class TimerTable {
 public:
  TimerTable(uv_loop_t* loop, CallQueue& calls);
  TimerTable(const TimerTable&) = delete;
  TimerTable& operator=(const TimerTable&) = delete;
  ~TimerTable();

  using Key = std::pair<std::int64_t, std::uint64_t>;  // due, then order of arrival
  Key add(std::int64_t due_ns, std::function<void(std::int64_t due_ns)> fire);
  void remove(Key key);
  // Nothing fires any more. The handle closes when the loop runs once more.
  void close();

 private:
  void arm();
  void fire_due();

  CallQueue& calls_;
  int descriptor_;
  uv_poll_t poll_{};
  bool closed_ = false;
  std::int64_t armed_ns_ = 0;  // 0: not armed
  std::uint64_t next_ = 0;
  std::map<Key, std::function<void(std::int64_t)>> timers_;
};

// The table outlives nothing: a timer whose loop is gone does nothing.
[[nodiscard]] std::unique_ptr<loop::Timer> make_timer(const std::shared_ptr<TimerTable>& table);

}  // namespace datum::uv
