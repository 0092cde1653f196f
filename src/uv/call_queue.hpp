// Calls that wait for their turn on the loop, from the loop itself and from other threads. While
// one is promised or waiting, the loop does not end. Every callback of the product passes through
// here or through `dispatch`, so that `stop` means: after the current one.
#pragma once

#include <uv.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace datum::uv {

class CallQueue {
 public:
  explicit CallQueue(uv_loop_t* loop);
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Loop thread: runs `call` after the current callback.
  void post(std::function<void()> call);
  // Loop thread: one call will be added later, from another thread.
  void promise();
  // Any thread: what was promised. After `close` it is dropped.
  void add_promised(std::function<void()> call);
  // Any thread: a call that nobody promised. It does not keep the loop going by itself; after
  // `close` it is dropped.
  void add_unpromised(std::function<void()> call);
  // Loop thread: runs `call` now, or later if the loop was stopped meanwhile.
  void dispatch(std::function<void()> call);

  void request_stop();
  [[nodiscard]] bool stop_requested() const { return stop_requested_; }
  void clear_stop() { stop_requested_ = false; }

  // Loop thread: nothing is called any more. The handle closes when the loop runs once more.
  void close();

 private:
  struct Waiting {
    std::function<void()> call;
    bool owed = true;
  };
  void add(Waiting call);
  void run_all();
  void set_owed(std::size_t owed);

  uv_async_t wake_{};
  std::size_t owed_ = 0;  // promised and waiting calls; loop thread only
  bool stop_requested_ = false;
  std::mutex mutex_;
  bool closed_ = false;          // under mutex_
  std::deque<Waiting> waiting_;  // under mutex_
};

}  // namespace datum::uv
