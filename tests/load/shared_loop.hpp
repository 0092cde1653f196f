// One loop of libuv for thousands of nodes in one process: timers, sockets and clocks are real, and
// jobs run on the loop's own thread, one after the other, since what they touch is in memory. It
// starts no child and watches no signal.
#pragma once

#include <memory>

#include "datum/loop/loop.hpp"

namespace datum::load {

class SharedLoop final : public loop::Loop {
 public:
  // `under` is borrowed.
  explicit SharedLoop(loop::Loop& under) : under_(under), pool_(under) {}

  [[nodiscard]] loop::Clock& clock() override { return under_.clock(); }
  [[nodiscard]] std::unique_ptr<loop::Timer> make_timer() override { return under_.make_timer(); }
  void post(std::function<void()> call) override { under_.post(std::move(call)); }
  [[nodiscard]] loop::Worker& pool() override { return pool_; }
  [[nodiscard]] std::unique_ptr<loop::Worker> make_serial_worker() override {
    return std::make_unique<Inline>(under_);
  }
  [[nodiscard]] Status spawn(const loop::ChildOptions&,
                             std::function<void(loop::ChildResult)>) override {
    return fail(ErrorCode::unsupported, "no children here");
  }
  [[nodiscard]] Result<loop::ChildResult> run_child_in_job(const loop::ChildOptions&) override {
    return fail(ErrorCode::unsupported, "no children here");
  }
  [[nodiscard]] Result<std::unique_ptr<loop::Signals>> watch_signals(
      const std::vector<int>&, std::function<void(int)>) override {
    return fail(ErrorCode::unsupported, "no signals here");
  }
  void run() override { under_.run(); }
  void stop() override { under_.stop(); }

 private:
  class Inline final : public loop::Worker {
   public:
    explicit Inline(loop::Loop& under) : under_(under) {}
    void submit(std::function<void()> work, std::function<void()> done) override {
      under_.post([work = std::move(work), done = std::move(done)] {
        work();
        done();
      });
    }
    [[nodiscard]] std::size_t width() const override { return 1; }

   private:
    loop::Loop& under_;
  };
  loop::Loop& under_;
  Inline pool_;
};

}  // namespace datum::load
