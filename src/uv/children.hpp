// Child processes of a loop: started, read, limited in time, reaped.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <set>

#include "call_queue.hpp"
#include "datum/loop/loop.hpp"
#include "timers.hpp"

namespace datum::uv {

class Children {
 public:
  Children(uv_loop_t* loop, CallQueue& calls, std::shared_ptr<TimerTable> timers);
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  [[nodiscard]] Status spawn(const loop::ChildOptions& options,
                             std::function<void(loop::ChildResult)> done);
  // Children with a time limit are killed and waited for, at most 2 s (one that hangs in the kernel
  // does not die); the others go on. No `done` is called. All handles are closing afterwards.
  void close();

 private:
  struct Child;
  [[nodiscard]] Status start(Child& child, const loop::ChildOptions& options);
  void read_output(Child& child, std::size_t at_most);
  void ended(Child& child, std::int64_t exit_status, int signal);
  void release(Child& child);

  uv_loop_t* loop_;
  CallQueue& calls_;
  std::shared_ptr<TimerTable> timers_;
  bool closing_ = false;
  std::set<Child*> running_;
};

}  // namespace datum::uv
