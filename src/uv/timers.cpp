// The earliest timer decides when the descriptor becomes readable; everything due then is fired in
// order.
#include "timers.hpp"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "datum/base/assert.hpp"

namespace datum::uv {

namespace {

uv_handle_t* as_handle(uv_poll_t* poll) {
  return reinterpret_cast<uv_handle_t*>(poll);
}

class BootTimer final : public loop::Timer {
 public:
  explicit BootTimer(std::weak_ptr<TimerTable> table) : table_(std::move(table)) {}
  ~BootTimer() override { stop(); }

  void start(std::int64_t delay_ns, std::int64_t repeat_ns, std::function<void()> fire) override {
    stop();
    repeat_ns_ = loop::clamp_delay(repeat_ns);
    fire_ = std::make_shared<std::function<void()>>(std::move(fire));
    arm(boot_now_ns() + loop::clamp_delay(delay_ns));
  }
  void stop() override {
    if (const auto table = table_.lock(); table && key_) table->remove(*key_);
    key_.reset();
    fire_.reset();
  }

 private:
  void arm(std::int64_t due_ns) {
    if (const auto table = table_.lock())
      key_ = table->add(due_ns, [this](std::int64_t due) { fired(due); });
  }
  void fired(std::int64_t due_ns) {
    key_.reset();
    const auto fire = fire_;  // this timer may be gone after the call
    if (repeat_ns_ > 0) {
      const auto missed = (boot_now_ns() - due_ns) / repeat_ns_;
      arm(due_ns + (missed + 1) * repeat_ns_);
    } else {
      fire_.reset();
    }
    (*fire)();
  }

  std::weak_ptr<TimerTable> table_;
  std::int64_t repeat_ns_ = 0;
  std::optional<TimerTable::Key> key_;
  std::shared_ptr<std::function<void()>> fire_;
};

}  // namespace

std::int64_t boot_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

TimerTable::TimerTable(uv_loop_t* loop, CallQueue& calls)
    : calls_(calls), descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  DATUM_ASSERT(descriptor_ >= 0);
  DATUM_ASSERT(uv_poll_init(loop, &poll_, descriptor_) == 0);
  poll_.data = this;
  uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) noexcept {
    static_cast<TimerTable*>(poll->data)->fire_due();
  });
  uv_unref(as_handle(&poll_));
}

TimerTable::~TimerTable() {
  DATUM_ASSERT(closed_);
}

TimerTable::Key TimerTable::add(std::int64_t due_ns, std::function<void(std::int64_t)> fire) {
  const Key key{std::max<std::int64_t>(due_ns, 1), next_++};
  if (closed_) return key;
  timers_.emplace(key, std::move(fire));
  arm();
  return key;
}

void TimerTable::remove(Key key) {
  if (timers_.erase(key) > 0) arm();
}

void TimerTable::arm() {
  const auto earliest = timers_.empty() ? 0 : timers_.begin()->first.first;
  if (closed_ || earliest == armed_ns_) return;
  if (armed_ns_ == 0) uv_ref(as_handle(&poll_));
  if (earliest == 0) uv_unref(as_handle(&poll_));
  armed_ns_ = earliest;
  itimerspec when{};
  when.it_value.tv_sec = earliest / kNsPerSecond;
  when.it_value.tv_nsec = earliest % kNsPerSecond;
  DATUM_ASSERT(::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &when, nullptr) == 0);
}

void TimerTable::fire_due() {
  std::uint64_t expirations = 0;
  static_cast<void>(::read(descriptor_, &expirations, sizeof expirations));
  // What a callback starts meanwhile is due later than `now` and so gets a turn of its own.
  const auto now = boot_now_ns();
  while (!timers_.empty() && timers_.begin()->first.first <= now && !calls_.stop_requested()) {
    const auto first = timers_.begin();
    const auto due = first->first.first;
    const auto fire = std::move(first->second);
    timers_.erase(first);
    fire(due);
    if (closed_) return;
  }
  armed_ns_ = armed_ns_ == 0 ? 0 : -1;  // it has fired: whatever is earliest now is set again
  arm();
}

void TimerTable::close() {
  closed_ = true;
  timers_.clear();
  uv_close(as_handle(&poll_), nullptr);
  ::close(descriptor_);
}

std::unique_ptr<loop::Timer> make_timer(const std::shared_ptr<TimerTable>& table) {
  return std::make_unique<BootTimer>(table);
}

}  // namespace datum::uv
