// A loop without threads and without waiting: virtual time, one seed. Everything that would happen
// at an uncertain moment (a job's start and end, the turn of its `done`) happens at a seeded one,
// so a seed reproduces a run. It can be stopped after any step, and dropped there: that is a crash.
//
// Jobs run whole, at the moment they end, on the caller's thread; two of them never interleave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "datum/loop/loop.hpp"

namespace datum::support {

// How a child of the script behaves.
struct ScriptedChild {
  int exit_status = 0;
  int signal = 0;
  std::string output;
  std::int64_t duration_ns = 10 * kNsPerMs;
  std::function<void()> effect;  // what it did to the machine, at its end unless it was killed
  int start_errno = 0;           // not 0: it cannot be started
};

class SimLoop final : public loop::Loop {
 public:
  explicit SimLoop(std::uint64_t seed, std::size_t pool_width = 4);
  ~SimLoop() override;

  // --- the scene
  using ChildScript = std::function<ScriptedChild(const loop::ChildOptions&)>;
  // For children whose argv[0] is `program`; one that has no script is `not_found`.
  void script_child(const std::string& program, ChildScript script);
  void deliver_signal(int number, std::int64_t after_ns);
  void jump_wall(std::int64_t by_ns) { wall_offset_ns_ += by_ns; }
  void set_boot_id(Id128 id) { boot_id_ = id; }
  // The next job that starts on the pool hangs, as on a dead disk, until `release_stalled`.
  void stall_next_job() { ++jobs_to_stall_; }
  void release_stalled();

  // --- time
  // Runs the next callback (or the end of the next job); false if nothing is left.
  bool step();
  // Runs all that is due within `ns`, then the clock stands exactly that much later.
  void run_for(std::int64_t ns);
  // For loops that share one time, each a process of its own: when the next callback is due, and a
  // clock that goes on to a moment at which nothing was due before.
  [[nodiscard]] std::optional<BootNs> next_due() const;
  void advance_to(BootNs now) { now_ns_ = std::max(now_ns_, now.ns); }
  // The machine sleeps: its clock goes on, nothing runs.
  void suspend(std::int64_t ns) { now_ns_ += ns; }
  // `run` ends after that many further steps, as if by `stop`.
  void stop_after_steps(std::uint64_t steps) { last_step_ = steps_ + steps; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::size_t running_children() const { return running_children_; }
  // The process is dead: nothing calls back any more, nothing new starts.
  void kill();

  loop::Clock& clock() override;
  std::unique_ptr<loop::Timer> make_timer() override;
  void post(std::function<void()> call) override;
  loop::Worker& pool() override;
  std::unique_ptr<loop::Worker> make_serial_worker() override;
  [[nodiscard]] Status spawn(const loop::ChildOptions& options,
                             std::function<void(loop::ChildResult)> done) override;
  // Jobs run whole: the child ends within the call, and the clock stands that much later.
  [[nodiscard]] Result<loop::ChildResult> run_child_in_job(
      const loop::ChildOptions& options) override;
  [[nodiscard]] Result<std::unique_ptr<loop::Signals>> watch_signals(
      const std::vector<int>& numbers, std::function<void(int)> on_signal) override;
  void run() override;
  void stop() override { stopped_ = true; }

 private:
  class SimClock;
  class SimTimer;
  class SimWorker;
  class SimSignals;
  using EventKey = std::pair<std::int64_t, std::uint64_t>;  // time, then order of arrival
  struct Watch {
    std::vector<int> numbers;
    std::shared_ptr<std::function<void(int)>> on_signal;
  };

  // A child of the script, how long it takes and what it then does (not when it is killed).
  struct Played {
    loop::ChildResult result;
    std::int64_t duration_ns = 0;
    std::function<void()> effect;
  };
  [[nodiscard]] Result<Played> play_child(const loop::ChildOptions& options);
  EventKey add_event(std::int64_t at_ns, std::function<void()> call);
  void remove_event(EventKey key) { events_.erase(key); }
  std::int64_t random_up_to(std::int64_t limit_ns);
  void signal_arrived(int number);

  std::mt19937_64 random_;
  std::int64_t now_ns_ = 60 * kNsPerSecond;  // since boot
  std::int64_t wall_offset_ns_ = 1'700'000'000 * kNsPerSecond;
  Id128 boot_id_;
  std::map<EventKey, std::function<void()>> events_;
  std::uint64_t next_event_ = 0;
  std::uint64_t steps_ = 0;
  std::optional<std::uint64_t> last_step_;
  bool stopped_ = false;
  bool killed_ = false;
  std::size_t running_children_ = 0;
  std::size_t jobs_to_stall_ = 0;
  std::vector<std::function<void()>> stalled_;
  std::map<std::string, ChildScript> scripts_;
  std::map<std::uint64_t, Watch> watches_;
  std::uint64_t next_watch_ = 0;
  std::unique_ptr<SimClock> clock_;
  std::unique_ptr<SimWorker> pool_;
};

}  // namespace datum::support
