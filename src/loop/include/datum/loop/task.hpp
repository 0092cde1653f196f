// Coroutines over the loop: a `Task<T>` is lazy, single-owner and resumed on the loop's thread only.
// It makes a conductor's steps readable in order; every wait is a `co_await`, which is also every
// place where a simulated process may die. Destroying a Task that has not finished destroys its frame;
// callbacks that would resume it must be disarmed by whoever registered them (`wait_for` does).
//
// g++ 12 destroys temporaries of a co_await expression wrongly in some cases: arguments of a call
// that is awaited are named variables, never temporaries with destructors.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/loop/loop.hpp"

namespace datum::loop {

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> waiter;

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Final {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          const auto next = self.promise().waiter;
          return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Final{};
    }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { std::abort(); }  // exceptions end at the edges, never here
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    handle_.promise().waiter = waiter;
    return handle_;
  }
  T await_resume() {
    DATUM_ASSERT(handle_.promise().value.has_value());
    return std::move(*handle_.promise().value);
  }

  // For the outermost task: runs to the first wait; `done()` and `take()` afterwards.
  void start() { handle_.resume(); }
  [[nodiscard]] bool done() const { return handle_.done(); }
  T take() { return std::move(*handle_.promise().value); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

// Waits for a callback: `co_await wait_for<R>(begin)` calls `begin(resume)` and yields the value that
// `resume(value)` was given. `resume` may be called once, on the loop, not inside `begin`; after the
// waiting task was destroyed it does nothing.
template <class R>
class [[nodiscard]] Wait {
 public:
  using Resume = std::function<void(R)>;
  explicit Wait(std::function<void(Resume)> begin) : begin_(std::move(begin)) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() {
    if (shared_) shared_->handle = {};
  }

  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    shared_ = std::make_shared<Shared>();
    shared_->handle = handle;
    begin_([shared = shared_](R value) {
      if (!shared->handle) return;
      shared->value = std::move(value);
      std::exchange(shared->handle, {}).resume();
    });
  }
  R await_resume() { return std::move(*shared_->value); }

 private:
  struct Shared {
    std::coroutine_handle<> handle;
    std::optional<R> value;
  };
  std::function<void(Resume)> begin_;
  std::shared_ptr<Shared> shared_;
};

template <class R>
Wait<R> wait_for(std::function<void(typename Wait<R>::Resume)> begin) {
  return Wait<R>(std::move(begin));
}

// Runs `work` on `worker` and yields what it returned.
template <class R>
Wait<R> run_on(Worker& worker, std::function<R()> work) {
  return Wait<R>([&worker, work = std::move(work)](typename Wait<R>::Resume resume) {
    auto result = std::make_shared<std::optional<R>>();
    worker.submit([work, result] { result->emplace(work()); },
                  [result, resume = std::move(resume)] { resume(std::move(**result)); });
  });
}

}  // namespace datum::loop
