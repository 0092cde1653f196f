// A queue under a lock. A job is destroyed on its thread before its `done` is handed over, so that
// what it owned (descriptors) is closed there and not on the loop.
#include "workers.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "datum/base/assert.hpp"

namespace datum::uv {

namespace {

// Blocks signals for as long as it lives; threads inherit the mask of their maker.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

ThreadWorker::ThreadWorker(std::shared_ptr<CallQueue> calls, std::size_t width, const char* name,
                           AtEnd at_end)
    : calls_(std::move(calls)), width_(width), at_end_(at_end) {
  DATUM_ASSERT(width > 0);
  const BlockedSignals blocked;
  for (std::size_t i = 0; i < width; ++i) {
    try {
      threads_.emplace_back([this] { run_jobs(); });
    } catch (const std::system_error& error) {
      if (threads_.empty()) throw std::system_error(error.code(), "no thread can be made");
      break;  // no room for another thread: fewer serve
    }
    pthread_setname_np(threads_.back().native_handle(), name);
  }
}

ThreadWorker::~ThreadWorker() {
  std::deque<Job> dropped;
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
    if (at_end_ == AtEnd::drop) dropped.swap(waiting_);
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadWorker::submit(std::function<void()> work, std::function<void()> done) {
  calls_->promise();
  {
    const std::lock_guard guard(mutex_);
    waiting_.push_back({std::move(work), std::move(done)});
  }
  changed_.notify_one();
}

void ThreadWorker::run_jobs() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job.work();
    job.work = nullptr;
    calls_->add_promised(std::move(job.done));
    lock.lock();
  }
}

}  // namespace datum::uv
