// Children of jobs: the job's thread waits, the loop's thread starts the child and reaps it. What
// the two share outlives both, so that whichever comes late finds nobody and nothing happens.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "call_queue.hpp"
#include "children.hpp"

namespace datum::uv {

class JobChildren {
 public:
  JobChildren(std::shared_ptr<CallQueue> calls, Children& children);

  // A job's thread; see loop::Loop::run_child_in_job.
  [[nodiscard]] Result<loop::ChildResult> run(const loop::ChildOptions& options);
  // Loop thread: everybody who waits gets `cancelled`, and whoever comes later too. Before the
  // threads are joined: they wait for this one.
  void end();

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
  };
  struct Run {  // under the mutex
    std::optional<Result<loop::ChildResult>> result;
    bool abandoned = false;
  };

  std::shared_ptr<CallQueue> calls_;
  Children& children_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace datum::uv
