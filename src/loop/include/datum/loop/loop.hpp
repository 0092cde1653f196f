// What an event loop gives to everything above it: time, timers, threads, children, signals. `uv`
// implements it over libuv; a seeded simulation implements it for tests; one conformance suite runs
// over both. All functions and callbacks belong to the loop's thread unless said otherwise. A
// callback never runs inside the call that registered it. If a call returns an error, its callback
// never runs. An exception that leaves a callback or a job ends the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"

namespace datum::loop {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual WallNs wall_now() = 0;  // any thread
  [[nodiscard]] virtual BootNs boot_now() = 0;  // any thread
  [[nodiscard]] virtual Id128 boot_id() = 0;    // of the running kernel; zero where there is none
};

// Negative delays count as 0, those above 2^60 ns (36 years) as that: no sum of a delay and a clock
// leaves the range of either.
[[nodiscard]] constexpr std::int64_t clamp_delay(std::int64_t delay_ns) {
  constexpr std::int64_t kMaxDelayNs = std::int64_t{1} << 60;
  return delay_ns < 0 ? 0 : delay_ns > kMaxDelayNs ? kMaxDelayNs : delay_ns;
}

// One timer on the clock that counts suspend. Destroying it stops it; the callback then never runs.
class Timer {
 public:
  virtual ~Timer() = default;
  // Runs `fire` once after `delay_ns`, then every `repeat_ns` (0: once). Restarts if it was
  // started. Turns that were missed (a suspended machine, a busy loop) fire once, not once each;
  // the next ones keep the original beat. `fire` may restart, stop or destroy its timer. Negative
  // delays count as 0.
  virtual void start(std::int64_t delay_ns, std::int64_t repeat_ns, std::function<void()> fire) = 0;
  virtual void stop() = 0;
};

// Polled by long jobs: set when nobody waits for the result any more.
class StopFlag {
 public:
  [[nodiscard]] bool stopped() const { return flag_->load(std::memory_order_relaxed); }
  void stop() const { flag_->store(true, std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

// Runs work off the loop. A job must own everything it touches (values and descriptors, or shared
// constants); it runs on another thread. Its `done` runs on the loop, once, always, in the order in
// which jobs of one Worker finished.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual void submit(std::function<void()> work, std::function<void()> done) = 0;
  // How many jobs can run at the same time, at least 1.
  [[nodiscard]] virtual std::size_t width() const = 0;
};

// What a pipe takes in one write, whatever else is in it (PIPE_BUF): nobody waits for a reader.
inline constexpr std::size_t kMaxChildInput = 4096;

struct ChildOptions {
  std::vector<std::string> argv;         // argv[0] is an absolute path; no shell, no PATH search
  std::vector<std::string> environment;  // whole, "KEY=value"
  std::string working_directory = "/";
  // What its standard input gives before it ends; at most kMaxChildInput bytes, not of the result.
  // For what must not stand in an argument vector. Empty: /dev/null.
  std::string input = {};
  std::size_t output_limit = 16 * 1024;         // first and last half are kept beyond it
  std::int64_t timeout_ns = 60 * kNsPerSecond;  // then SIGKILL to the child's session; 0: none
  // Borrowed until `spawn` returns. Output goes to this descriptor and not to the result: for a
  // child whose life must not depend on its reader. -1: it is captured.
  int output_descriptor = -1;
  // Borrowed until `spawn` returns. Becomes descriptor 3 of the child: a lock that lives as long as
  // it does. -1: none.
  int lock_descriptor = -1;
};

struct ChildResult {
  int exit_status = -1;  // -1 when ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string output;                 // standard output and error, in the order they were written
  std::uint64_t output_left_out = 0;  // bytes cut out at offset output_limit / 2 of `output`
};

// How long a job waits for a loop that is busy, beyond its child's own limit: any callback is
// shorter than a second, and a machine under load may need ten times as long.
inline constexpr std::int64_t kChildGraceNs = 10 * kNsPerSecond;

// What every loop asks of options before it starts anything: argv[0] absolute, an absolute working
// directory, no NUL byte in a string, no more input than fits. `invalid_argument`.
[[nodiscard]] Status check_child_options(const ChildOptions& options);
// That, and a limit: for `run_child_in_job`.
[[nodiscard]] Status check_job_child_options(const ChildOptions& options);
// Whether a loop may watch `number`: a signal that can be caught and is not its own (SIGCHLD).
[[nodiscard]] bool is_watchable_signal(int number);

class Signals {
 public:
  virtual ~Signals() = default;  // stops watching
};

class Loop {
 public:
  // Jobs that run are waited for, those that wait are dropped with their `done`; no callback runs
  // any more. Children with a time limit are killed and reaped; those without one go on.
  virtual ~Loop() = default;

  [[nodiscard]] virtual Clock& clock() = 0;
  [[nodiscard]] virtual std::unique_ptr<Timer> make_timer() = 0;
  // Runs `call` on the loop, after the current callback. Loop thread only.
  virtual void post(std::function<void()> call) = 0;
  // The shared pool. Its size is fixed when the loop is made.
  [[nodiscard]] virtual Worker& pool() = 0;
  // A thread of its own that runs its jobs one after the other. Destroying it waits for all jobs;
  // their `done` callbacks still run. It must not outlive the loop.
  [[nodiscard]] virtual std::unique_ptr<Worker> make_serial_worker() = 0;
  // Starts a child with standard input from /dev/null (or `input`), umask 022, a session of its own
  // and no other descriptor than 0, 1 and 2 (and 3, see above). `not_found`, `permission_denied`:
  // `done` never runs. `done` runs when the child itself has ended, with all it wrote until then;
  // what its own background children write later is not waited for.
  [[nodiscard]] virtual Status spawn(const ChildOptions& options,
                                     std::function<void(ChildResult)> done) = 0;
  // The same from a job of the pool, which waits for the child's end and gets it as its own result:
  // for work whose steps are not callbacks. Never on the loop's thread, which starts the child and
  // reaps it. `options.timeout_ns` must be positive (`invalid_argument`): a job without an end
  // would take a thread of the pool for good. `timed_out` when the loop did not get to it within
  // kChildGraceNs beyond that; the child is then killed at its limit, or never started. `cancelled`
  // when the loop is destroyed meanwhile.
  [[nodiscard]] virtual Result<ChildResult> run_child_in_job(const ChildOptions& options) = 0;
  // Calls `on_signal` on the loop for each delivery of one of `numbers`. A watch counts as
  // something that can call back. SIGCHLD, SIGKILL and SIGSTOP are `invalid_argument`: children
  // belong to the loop.
  [[nodiscard]] virtual Result<std::unique_ptr<Signals>> watch_signals(
      const std::vector<int>& numbers, std::function<void(int)> on_signal) = 0;
  // Until `stop`, or until nothing is left that could call back. May be called again: what a stop
  // left waiting is called then.
  virtual void run() = 0;
  // Ends `run` after the current callback; outside of `run`, the next one returns at once.
  virtual void stop() = 0;
};

}  // namespace datum::loop
