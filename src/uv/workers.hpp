// Threads that run jobs and hand their ends to the loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "call_queue.hpp"
#include "datum/loop/loop.hpp"

namespace datum::uv {

// What happens at the end to jobs that have not begun.
enum class AtEnd : bool { drop, run };

class ThreadWorker final : public loop::Worker {
 public:
  // `width` threads, named `name` (at most 15 bytes) in the process list. All signals but those of
  // a fault are blocked in them: the loop's thread gets the others. Where there is room for some
  // of them only, these serve; where there is none, this throws std::system_error, which ends in
  // `main`: without a thread the process can do nothing.
  ThreadWorker(std::shared_ptr<CallQueue> calls, std::size_t width, const char* name, AtEnd at_end);
  ~ThreadWorker() override;

  void submit(std::function<void()> work, std::function<void()> done) override;
  std::size_t width() const override { return width_; }

 private:
  struct Job {
    std::function<void()> work;
    std::function<void()> done;
  };
  void run_jobs();

  const std::shared_ptr<CallQueue> calls_;
  const std::size_t width_;
  const AtEnd at_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;      // under mutex_
  std::deque<Job> waiting_;  // under mutex_
  std::vector<std::thread> threads_;
};

}  // namespace datum::uv
