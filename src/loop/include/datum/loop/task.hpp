// Coroutines over the loop: a `Task<T>` is lazy, single-owner and resumed on the loop's thread
// only. It makes a conductor's steps readable in order; every wait is a `co_await`, which is also
// every place where a simulated process may die. Destroying a Task that has not finished destroys
// its frame and those of the tasks it waits for; callbacks that would resume it find it gone and do
// nothing (`Wait` sees to it). A task never destroys itself: whoever owns the outermost one does so
// from the loop, not from inside it. An exception that reaches a task's edge ends the process.
//
// g++ 12 destroys a temporary of a lambda's or an aggregate's type twice when it stands inside a
// co_await expression. So a Wait, which nearly always takes a lambda, can be awaited only by its
// name: `auto hashing = run_on<Digest>(pool, [..] { .. }); co_await hashing;`, and an aggregate
// argument of an awaited task is a named variable. The compiler also makes no tail call between
// frames: a task that ends without waiting hands its value over by returning, so the stack grows
// with the depth of tasks in tasks and never with the number of steps.
#pragma once

#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "datum/base/assert.hpp"
#include "datum/loop/loop.hpp"

namespace datum::loop {

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> waiter;  // set once the awaiting frame is suspended

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Final {
        bool await_ready() noexcept { return false; }
        // The waiter may destroy this frame: nothing of it is touched afterwards.
        void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          if (const auto next = self.promise().waiter) next.resume();
        }
        void await_resume() noexcept {}
      };
      return Final{};
    }
    template <class U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    [[noreturn]] void unhandled_exception() noexcept { std::abort(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    start();
    if (handle_.done()) return false;
    handle_.promise().waiter = waiter;
    return true;
  }
  T await_resume() { return take(); }

  // For the outermost task, once: runs to the first wait.
  void start() {
    DATUM_ASSERT(handle_ && !started_);
    started_ = true;
    handle_.resume();
  }
  [[nodiscard]] bool done() const { return handle_ && handle_.done(); }
  // The value of a finished task, once.
  T take() {
    DATUM_ASSERT(done() && handle_.promise().value.has_value());
    T value = std::move(*handle_.promise().value);
    handle_.promise().value.reset();
    return value;
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
  bool started_ = false;
};

// Waits for a callback: `auto w = wait_for<R>(begin); co_await w;` calls `begin(resume)` and yields
// the value that `resume(value)` was given. `resume` is called on the loop, at most once; inside
// `begin` it is allowed (a call that failed at once). After the waiting task was destroyed it does
// nothing.
template <class R>
class [[nodiscard]] Wait {
 public:
  using Resume = std::function<void(R)>;
  explicit Wait(std::function<void(Resume)> begin) : begin_(std::move(begin)) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() {
    if (shared_) shared_->abandoned = true;
  }

  // g++ 12 copies an awaiter that an operator returns by reference, so it returns a small one.
  struct Awaiter {
    Wait* wait;
    bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle) { return wait->suspend(handle); }
    R await_resume() { return std::move(*wait->shared_->value); }
  };
  Awaiter operator co_await() & { return {this}; }
  template <class Never = void>
  Awaiter operator co_await() && {
    static_assert(!std::is_void_v<Never>, "name the wait first: auto w = ...; co_await w;");
    return {this};
  }

 private:
  bool suspend(std::coroutine_handle<> handle) {
    DATUM_ASSERT(!shared_);
    shared_ = std::make_shared<Shared>();
    const auto shared = shared_;
    begin_([shared](R value) {
      if (shared->abandoned) return;
      DATUM_ASSERT(!shared->value);
      shared->value.emplace(std::move(value));
      if (shared->handle) shared->handle.resume();
    });
    if (shared->value) return false;
    shared->handle = handle;
    return true;
  }

  struct Shared {
    std::coroutine_handle<> handle;  // set once the awaiting frame is suspended
    std::optional<R> value;
    bool abandoned = false;
  };
  std::function<void(Resume)> begin_;
  std::shared_ptr<Shared> shared_;
};

template <class R>
Wait<R> wait_for(std::function<void(typename Wait<R>::Resume)> begin) {
  return Wait<R>(std::move(begin));
}

// Runs `work` on `worker` and yields what it returned. `work` may own what cannot be copied
// (handles); it is destroyed on the worker's thread as soon as it returned, the result on the loop.
template <class R, class Work>
Wait<R> run_on(Worker& worker, Work work) {
  auto shared = std::make_shared<std::optional<Work>>(std::move(work));
  return Wait<R>([&worker, shared](typename Wait<R>::Resume resume) {
    auto result = std::make_shared<std::optional<R>>();
    worker.submit(
        [shared, result] {
          result->emplace((**shared)());
          shared->reset();
        },
        [result, resume = std::move(resume)] { resume(std::move(**result)); });
  });
}

// Yields after `delay_ns` on the loop's clock, never at once.
inline Wait<bool> sleep_for(Loop& loop, std::int64_t delay_ns) {
  auto timer = std::shared_ptr<Timer>(loop.make_timer());
  return Wait<bool>([timer, delay_ns](Wait<bool>::Resume resume) {
    timer->start(delay_ns, 0, [resume = std::move(resume)] { resume(true); });
  });
}

// Runs a child and yields its end, or the error of its start. A child outlives the task that waits
// for it.
inline Wait<Result<ChildResult>> run_child(Loop& loop, ChildOptions options) {
  return Wait<Result<ChildResult>>([&loop, options = std::move(options)](
                                       Wait<Result<ChildResult>>::Resume resume) {
    auto started = loop.spawn(options, [resume](ChildResult result) { resume(std::move(result)); });
    if (!started) resume(fail(std::move(started).error()));
  });
}

// Runs all of `jobs` on `worker`, at most `at_once` (at least 1) at a time so that others find a
// free thread, and yields their results in the order of `jobs`.
template <class R, class Work>
Wait<std::vector<R>> run_all(Worker& worker, std::vector<Work> jobs, std::size_t at_once) {
  struct Batch {
    std::vector<std::optional<Work>> jobs;
    std::vector<std::optional<R>> results;
    std::size_t next = 0;
    std::size_t finished = 0;
    typename Wait<std::vector<R>>::Resume resume;

    static void submit_next(const std::shared_ptr<Batch>& self, Worker& worker) {
      if (self->next == self->jobs.size()) return;
      const auto index = self->next++;
      worker.submit(
          [self, index] {
            self->results[index].emplace((*self->jobs[index])());
            self->jobs[index].reset();
          },
          [self, &worker] {
            submit_next(self, worker);
            if (++self->finished == self->jobs.size()) self->finish();
          });
    }
    void finish() {
      std::vector<R> values;
      values.reserve(results.size());
      for (auto& result : results) values.push_back(std::move(*result));
      std::exchange(resume, {})(std::move(values));
    }
  };
  DATUM_ASSERT(at_once > 0);
  auto batch = std::make_shared<Batch>();
  for (auto& job : jobs) batch->jobs.emplace_back(std::move(job));
  batch->results.resize(batch->jobs.size());
  return Wait<std::vector<R>>(
      [batch, &worker, at_once](typename Wait<std::vector<R>>::Resume resume) {
        if (batch->jobs.empty()) return resume({});
        batch->resume = std::move(resume);
        for (std::size_t i = 0; i < at_once; ++i) Batch::submit_next(batch, worker);
      });
}

}  // namespace datum::loop
