// One async handle wakes the loop; it counts as a reason to go on only while a call is owed.
#include "call_queue.hpp"

#include <utility>

#include "datum/base/assert.hpp"

namespace datum::uv {

CallQueue::CallQueue(uv_loop_t* loop) {
  const int done = uv_async_init(loop, &wake_, [](uv_async_t* handle) noexcept {
    static_cast<CallQueue*>(handle->data)->run_all();
  });
  DATUM_ASSERT(done == 0);  // needs two descriptors; without them there is no loop at all
  wake_.data = this;
  uv_unref(reinterpret_cast<uv_handle_t*>(&wake_));
}

void CallQueue::set_owed(std::size_t owed) {
  auto* handle = reinterpret_cast<uv_handle_t*>(&wake_);
  if (owed_ == 0 && owed > 0) uv_ref(handle);
  if (owed_ > 0 && owed == 0) uv_unref(handle);
  owed_ = owed;
}

void CallQueue::post(std::function<void()> call) {
  set_owed(owed_ + 1);
  add({std::move(call), true});
}

void CallQueue::promise() {
  set_owed(owed_ + 1);
}

void CallQueue::add_promised(std::function<void()> call) {
  add({std::move(call), true});
}

void CallQueue::add_unpromised(std::function<void()> call) {
  add({std::move(call), false});
}

void CallQueue::dispatch(std::function<void()> call) {
  if (stop_requested_) return post(std::move(call));
  call();
}

void CallQueue::add(Waiting call) {
  const std::lock_guard guard(mutex_);
  if (closed_) return;
  waiting_.push_back(std::move(call));
  uv_async_send(&wake_);
}

void CallQueue::run_all() {
  std::deque<Waiting> batch;
  {
    const std::lock_guard guard(mutex_);
    batch.swap(waiting_);
  }
  while (!batch.empty() && !stop_requested_) {
    const auto next = std::move(batch.front());
    batch.pop_front();
    if (next.owed) set_owed(owed_ - 1);
    next.call();
  }
  if (batch.empty()) return;
  const std::lock_guard guard(mutex_);
  if (closed_) return;
  waiting_.insert(waiting_.begin(), std::make_move_iterator(batch.begin()),
                  std::make_move_iterator(batch.end()));
  uv_async_send(&wake_);
}

void CallQueue::request_stop() {
  stop_requested_ = true;
  uv_stop(wake_.loop);
}

void CallQueue::close() {
  std::deque<Waiting> dropped;  // destroyed without the lock: they own anything
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    dropped.swap(waiting_);
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
}

}  // namespace datum::uv
