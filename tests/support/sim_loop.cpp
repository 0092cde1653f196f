// One ordered table of events is the whole loop; random numbers decide only when an event is due.
#include "support/sim_loop.hpp"

#include <algorithm>
#include <csignal>

#include "datum/base/assert.hpp"
#include "datum/loop/output.hpp"

namespace datum::support {

namespace {

// Jobs and hand-overs take up to this long: enough for any two of a pass to overtake each other.
constexpr std::int64_t kMaxJobNs = 5 * kNsPerMs;
constexpr std::int64_t kMaxHandOverNs = kNsPerMs / 2;

}  // namespace

class SimLoop::SimClock final : public loop::Clock {
 public:
  explicit SimClock(SimLoop& loop) : loop_(loop) {}
  WallNs wall_now() override { return {loop_.now_ns_ + loop_.wall_offset_ns_}; }
  BootNs boot_now() override { return {loop_.now_ns_}; }
  Id128 boot_id() override { return loop_.boot_id_; }

 private:
  SimLoop& loop_;
};

class SimLoop::SimTimer final : public loop::Timer {
 public:
  explicit SimTimer(SimLoop& loop) : loop_(loop) {}
  ~SimTimer() override { stop(); }

  void start(std::int64_t delay_ns, std::int64_t repeat_ns, std::function<void()> fire) override {
    stop();
    repeat_ns_ = loop::clamp_delay(repeat_ns);
    fire_ = std::make_shared<std::function<void()>>(std::move(fire));
    arm(loop_.now_ns_ + loop::clamp_delay(delay_ns));
  }
  void stop() override {
    if (key_) loop_.remove_event(*key_);
    key_.reset();
    fire_.reset();
  }

 private:
  void arm(std::int64_t due_ns) {
    key_ = loop_.add_event(due_ns, [this, due_ns] {
      key_.reset();
      const auto fire = fire_;  // the timer may be gone after the call
      if (repeat_ns_ > 0) {
        const auto missed = (loop_.now_ns_ - due_ns) / repeat_ns_;
        arm(due_ns + (missed + 1) * repeat_ns_);
      } else {
        fire_.reset();
      }
      (*fire)();
    });
  }

  SimLoop& loop_;
  std::int64_t repeat_ns_ = 0;
  std::optional<EventKey> key_;
  std::shared_ptr<std::function<void()>> fire_;
};

// `width` jobs at a time start in order and end at random moments.
class SimLoop::SimWorker final : public loop::Worker {
 public:
  SimWorker(SimLoop& loop, std::size_t width, bool is_pool)
      : state_(std::make_shared<State>(State{loop, width, is_pool})) {}
  ~SimWorker() override {
    if (state_->loop.killed_) drop_all();
    for (auto& [number, job] : std::exchange(state_->running, {})) finish(state_, std::move(job));
    while (!state_->waiting.empty()) {
      auto job = std::move(state_->waiting.front());
      state_->waiting.pop_front();
      finish(state_, std::move(job));
    }
  }

  void submit(std::function<void()> work, std::function<void()> done) override {
    if (state_->loop.killed_) return;
    state_->waiting.push_back({std::move(work), std::move(done)});
    start_next(state_);
  }
  std::size_t width() const override { return state_->width; }
  // The loop ends: what has not run never will.
  void drop_all() {
    state_->waiting.clear();
    state_->running.clear();
  }

 private:
  struct Job {
    std::function<void()> work;
    std::function<void()> done;
  };
  struct State {
    SimLoop& loop;
    std::size_t width;
    bool is_pool;
    std::uint64_t next = 0;
    std::int64_t last_done_ns = 0;
    std::deque<Job> waiting;
    std::map<std::uint64_t, Job> running;
  };

  static void start_next(const std::shared_ptr<State>& state) {
    while (state->running.size() < state->width && !state->waiting.empty()) {
      const auto number = state->next++;
      state->running.emplace(number, std::move(state->waiting.front()));
      state->waiting.pop_front();
      auto& loop = state->loop;
      auto end = [state, number] {
        const auto found = state->running.find(number);
        if (found == state->running.end()) return;
        auto job = std::move(found->second);
        state->running.erase(found);
        finish(state, std::move(job));
        start_next(state);
      };
      if (state->is_pool && loop.jobs_to_stall_ > 0) {
        --loop.jobs_to_stall_;
        loop.stalled_.push_back(std::move(end));
        continue;
      }
      loop.add_event(loop.now_ns_ + loop.random_up_to(kMaxJobNs), std::move(end));
    }
  }

  static void finish(const std::shared_ptr<State>& state, Job job) {
    job.work();
    job.work = nullptr;
    auto& loop = state->loop;
    const auto at = loop.now_ns_ + loop.random_up_to(kMaxHandOverNs);
    state->last_done_ns = std::max(state->last_done_ns, at);
    loop.add_event(state->last_done_ns, std::move(job.done));
  }

  std::shared_ptr<State> state_;
};

class SimLoop::SimSignals final : public loop::Signals {
 public:
  SimSignals(SimLoop& loop, std::uint64_t watch) : loop_(loop), watch_(watch) {}
  ~SimSignals() override { loop_.watches_.erase(watch_); }

 private:
  SimLoop& loop_;
  std::uint64_t watch_;
};

SimLoop::SimLoop(std::uint64_t seed, std::size_t pool_width) : random_(seed) {
  DATUM_ASSERT(pool_width > 0);
  for (auto& byte : boot_id_.bytes) byte = static_cast<std::uint8_t>(random_());
  clock_ = std::make_unique<SimClock>(*this);
  pool_ = std::make_unique<SimWorker>(*this, pool_width, true);
}

SimLoop::~SimLoop() {
  kill();
}

void SimLoop::kill() {
  killed_ = true;
  pool_->drop_all();
  stalled_.clear();
  const auto dropped = std::exchange(events_, {});  // their destructors may still remove events
  running_children_ = 0;
}

SimLoop::EventKey SimLoop::add_event(std::int64_t at_ns, std::function<void()> call) {
  const EventKey key{at_ns, next_event_++};
  if (!killed_) events_.emplace(key, std::move(call));
  return key;
}

std::int64_t SimLoop::random_up_to(std::int64_t limit_ns) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit_ns)) + 1;
}

bool SimLoop::step() {
  if (events_.empty()) return false;
  const auto first = events_.begin();
  now_ns_ = std::max(now_ns_, first->first.first);
  const auto call = std::move(first->second);
  events_.erase(first);
  ++steps_;
  call();
  return true;
}

std::optional<BootNs> SimLoop::next_due() const {
  if (events_.empty()) return std::nullopt;
  return BootNs{events_.begin()->first.first};
}

void SimLoop::run_for(std::int64_t ns) {
  const auto end = now_ns_ + ns;
  while (!events_.empty() && events_.begin()->first.first <= end) step();
  now_ns_ = std::max(now_ns_, end);
}

void SimLoop::run() {
  while (!stopped_ && (!last_step_ || steps_ < *last_step_) && step()) {
  }
  stopped_ = false;
}

loop::Clock& SimLoop::clock() {
  return *clock_;
}
loop::Worker& SimLoop::pool() {
  return *pool_;
}

std::unique_ptr<loop::Timer> SimLoop::make_timer() {
  return std::make_unique<SimTimer>(*this);
}

void SimLoop::post(std::function<void()> call) {
  add_event(now_ns_, std::move(call));
}

std::unique_ptr<loop::Worker> SimLoop::make_serial_worker() {
  return std::make_unique<SimWorker>(*this, 1, false);
}

void SimLoop::release_stalled() {
  for (auto& end : std::exchange(stalled_, {}))
    add_event(now_ns_ + random_up_to(kMaxJobNs), std::move(end));
}

void SimLoop::script_child(const std::string& program, ChildScript script) {
  scripts_[program] = std::move(script);
}

Result<SimLoop::Played> SimLoop::play_child(const loop::ChildOptions& options) {
  const auto script = scripts_.find(options.argv[0]);
  if (script == scripts_.end()) return fail(error_from_errno(ENOENT, "start " + options.argv[0]));
  auto child = script->second(options);
  if (child.start_errno != 0)
    return fail(error_from_errno(child.start_errno, "start " + options.argv[0]));
  Played played;
  auto& result = played.result;
  loop::BoundedOutput output(options.output_limit);
  if (options.output_descriptor < 0) output.add(child.output);
  result.output = output.text();
  result.output_left_out = output.left_out();
  result.timed_out = options.timeout_ns > 0 && child.duration_ns >= options.timeout_ns;
  result.signal = result.timed_out ? SIGKILL : child.signal;
  result.exit_status = result.signal != 0 ? -1 : child.exit_status;
  const auto duration = result.timed_out ? options.timeout_ns : child.duration_ns;
  played.duration_ns = std::max<std::int64_t>(duration, 1);
  if (!result.timed_out) played.effect = std::move(child.effect);
  return played;
}

Status SimLoop::spawn(const loop::ChildOptions& options,
                      std::function<void(loop::ChildResult)> done) {
  DATUM_TRY(loop::check_child_options(options));
  DATUM_ASSIGN(auto played, play_child(options));
  ++running_children_;
  add_event(now_ns_ + played.duration_ns, [this, done = std::move(done), played] {
    --running_children_;
    if (played.effect) played.effect();
    done(played.result);
  });
  return {};
}

Result<loop::ChildResult> SimLoop::run_child_in_job(const loop::ChildOptions& options) {
  DATUM_TRY(loop::check_job_child_options(options));
  if (killed_) return fail(ErrorCode::cancelled, "the loop has ended");
  DATUM_ASSIGN(auto played, play_child(options));
  now_ns_ += played.duration_ns;
  if (played.effect) played.effect();
  return std::move(played.result);
}

Result<std::unique_ptr<loop::Signals>> SimLoop::watch_signals(const std::vector<int>& numbers,
                                                              std::function<void(int)> on_signal) {
  if (!std::all_of(numbers.begin(), numbers.end(), loop::is_watchable_signal))
    return fail(ErrorCode::invalid_argument, "a signal that cannot be watched");
  const auto watch = next_watch_++;
  watches_[watch] = {numbers, std::make_shared<std::function<void(int)>>(std::move(on_signal))};
  return std::unique_ptr<loop::Signals>(std::make_unique<SimSignals>(*this, watch));
}

void SimLoop::deliver_signal(int number, std::int64_t after_ns) {
  add_event(now_ns_ + after_ns, [this, number] { signal_arrived(number); });
}

void SimLoop::signal_arrived(int number) {
  const auto watches = watches_;  // a callback may end its own watch or another
  for (const auto& [id, watch] : watches) {
    const bool wanted =
        std::find(watch.numbers.begin(), watch.numbers.end(), number) != watch.numbers.end();
    if (wanted && watches_.contains(id)) (*watch.on_signal)(number);
  }
}

}  // namespace datum::support
