// The parts put together over one uv_loop_t, and taken apart in the order that leaves nothing
// behind.
#include "datum/uv/uv_loop.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <utility>

#include "call_queue.hpp"
#include "children.hpp"
#include "datum/base/assert.hpp"
#include "job_children.hpp"
#include "loop_parts.hpp"
#include "timers.hpp"
#include "workers.hpp"

namespace datum::uv {

namespace {

Id128 read_boot_id() {
  std::array<char, 36> text{};  // a UUID
  const int descriptor = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const auto count = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  if (count != static_cast<ssize_t>(text.size())) return {};
  return Id128::find_hex({text.data(), text.size()}).value_or(Id128{});
}

class SystemClock final : public loop::Clock {
 public:
  WallNs wall_now() override {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return {now.tv_sec * kNsPerSecond + now.tv_nsec};
  }
  BootNs boot_now() override { return {boot_now_ns()}; }
  Id128 boot_id() override { return boot_id_; }

 private:
  const Id128 boot_id_ = read_boot_id();
};

// Handles live on their own until they are closed; the watch only cuts the connection.
class SignalWatch final : public loop::Signals {
 public:
  struct Handle {
    uv_signal_t raw{};
    std::shared_ptr<std::function<void(int)>> on_signal;  // empty once the watch has ended
    CallQueue* calls = nullptr;
  };

  explicit SignalWatch(std::weak_ptr<bool> loop_alive) : alive_(std::move(loop_alive)) {}
  ~SignalWatch() override {
    if (alive_.expired()) return;
    for (auto* handle : handles_) {
      handle->on_signal.reset();
      uv_close(reinterpret_cast<uv_handle_t*>(&handle->raw), free_handle);
    }
  }

  Status add(uv_loop_t* loop, CallQueue& calls, int number,
             const std::shared_ptr<std::function<void(int)>>& on_signal) {
    auto* handle = new Handle;
    uv_signal_init(loop, &handle->raw);
    handle->raw.data = handle;
    handle->on_signal = on_signal;
    handle->calls = &calls;
    handles_.push_back(handle);
    const int started = uv_signal_start(&handle->raw, arrived, number);
    if (started < 0) return fail(error_from_errno(-started, "watch signal"));
    return {};
  }

  static void free_handle(uv_handle_t* handle) noexcept {
    delete static_cast<Handle*>(handle->data);
  }

 private:
  static void arrived(uv_signal_t* raw, int number) noexcept {
    const auto* handle = static_cast<Handle*>(raw->data);
    // Held weakly: a call that waits for its turn is void once the watch has ended.
    const std::weak_ptr<std::function<void(int)>> on_signal = handle->on_signal;
    handle->calls->dispatch([on_signal, number] {
      if (const auto call = on_signal.lock()) (*call)(number);
    });
  }

  std::weak_ptr<bool> alive_;
  std::vector<Handle*> handles_;
};

class UvLoop final : public loop::Loop {
 public:
  // What the other constructor made is taken apart by the destructor where no thread can be made.
  explicit UvLoop(std::size_t pool_width) : UvLoop() {
    pool_ = std::make_unique<ThreadWorker>(calls_, pool_width, "datum-pool", AtEnd::drop);
  }
  UvLoop() {
    DATUM_ASSERT(uv_loop_init(&loop_) == 0);
    calls_ = std::make_shared<CallQueue>(&loop_);
    timers_ = std::make_shared<TimerTable>(&loop_, *calls_);
    children_ = std::make_unique<Children>(&loop_, *calls_, timers_);
    job_children_ = std::make_unique<JobChildren>(calls_, *children_);
  }

  ~UvLoop() override {
    job_children_->end();
    pool_.reset();
    alive_.reset();
    // Everything that could call the owner first, so that waiting for children calls nobody.
    calls_->close();
    timers_->close();
    uv_walk(
        &loop_,
        [](uv_handle_t* handle, void*) noexcept {
          if (handle->type == UV_SIGNAL && uv_is_closing(handle) == 0)
            uv_close(handle, SignalWatch::free_handle);
        },
        nullptr);
    children_->close();
    uv_run(&loop_, UV_RUN_DEFAULT);
    children_.reset();
    timers_.reset();
    calls_.reset();
    DATUM_ASSERT(uv_loop_close(&loop_) == 0);
  }

  loop::Clock& clock() override { return clock_; }
  std::unique_ptr<loop::Timer> make_timer() override { return uv::make_timer(timers_); }
  void post(std::function<void()> call) override { calls_->post(std::move(call)); }
  loop::Worker& pool() override { return *pool_; }
  std::unique_ptr<loop::Worker> make_serial_worker() override {
    return std::make_unique<ThreadWorker>(calls_, 1, "datum-serial", AtEnd::run);
  }
  Status spawn(const loop::ChildOptions& options,
               std::function<void(loop::ChildResult)> done) override {
    return children_->spawn(options, std::move(done));
  }
  Result<loop::ChildResult> run_child_in_job(const loop::ChildOptions& options) override {
    return job_children_->run(options);
  }

  Result<std::unique_ptr<loop::Signals>> watch_signals(
      const std::vector<int>& numbers, std::function<void(int)> on_signal) override {
    if (!std::all_of(numbers.begin(), numbers.end(), loop::is_watchable_signal))
      return fail(ErrorCode::invalid_argument, "a signal that cannot be watched");
    const auto shared = std::make_shared<std::function<void(int)>>(std::move(on_signal));
    auto watch = std::make_unique<SignalWatch>(alive_);
    for (const int number : numbers) DATUM_TRY(watch->add(&loop_, *calls_, number, shared));
    return std::unique_ptr<loop::Signals>(std::move(watch));
  }

  void run() override {
    uv_run(&loop_, UV_RUN_DEFAULT);  // returns at once after a stop
    calls_->clear_stop();
  }
  void stop() override { calls_->request_stop(); }

  LoopParts parts() { return {&loop_, calls_}; }

 private:
  uv_loop_t loop_{};
  SystemClock clock_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::shared_ptr<CallQueue> calls_;  // others hold it too: a thread may hand over after the end
  std::shared_ptr<TimerTable> timers_;
  std::unique_ptr<Children> children_;
  std::unique_ptr<JobChildren> job_children_;
  std::unique_ptr<ThreadWorker> pool_;
};

}  // namespace

LoopParts parts_of(loop::Loop& loop) {
  auto* ours = dynamic_cast<UvLoop*>(&loop);
  DATUM_ASSERT(ours != nullptr);
  return ours->parts();
}

std::unique_ptr<loop::Loop> make_loop(std::size_t pool_width) {
  return std::make_unique<UvLoop>(pool_width);
}

std::unique_ptr<loop::Clock> make_clock() {
  return std::make_unique<SystemClock>();
}

}  // namespace datum::uv
