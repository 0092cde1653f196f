// What every loop::Loop must do: the contract of loop.hpp, sentence by sentence. Nothing here waits
// for a time to pass; what is asserted of time is only that nothing happens too early.
#include <catch2/catch.hpp>
#include <csignal>
#include <numeric>
#include <thread>
#include <vector>

#include "loop_fixtures.hpp"

using namespace datum;
using datum::conformance::PlannedChild;
using datum::conformance::SimFixture;
using datum::conformance::UvFixture;

#define LOOP_TEST(name) TEMPLATE_TEST_CASE("loop: " name, "[loop]", UvFixture, SimFixture)

using Ints = std::vector<int>;

LOOP_TEST("run ends at once when nothing is left to call") {
  TestType t;
  int calls = 0;
  t.loop().run();
  t.loop().post([&] { ++calls; });
  t.loop().run();
  t.loop().run();
  CHECK(calls == 1);
}

LOOP_TEST("posted calls run in order, after the callback that posted them") {
  TestType t;
  Ints order;
  t.loop().post([&] {
    t.loop().post([&] { order.push_back(3); });
    order.push_back(1);
  });
  t.loop().post([&] { order.push_back(2); });
  CHECK(order.empty());
  t.loop().run();
  CHECK(order == Ints{1, 2, 3});
}

LOOP_TEST("stop ends run after the current callback and keeps the rest for the next run") {
  TestType t;
  Ints order;
  t.loop().post([&] {
    t.loop().stop();
    order.push_back(1);
  });
  t.loop().post([&] { order.push_back(2); });
  const auto timer = t.loop().make_timer();
  timer->start(0, 0, [&] { order.push_back(3); });
  t.loop().run();
  CHECK(order == Ints{1});
  t.loop().run();
  CHECK(order.size() == 3);
}

LOOP_TEST("a stop outside of run ends the next run at once, and only that one") {
  TestType t;
  int calls = 0;
  t.loop().post([&] { ++calls; });
  t.loop().stop();
  t.loop().run();
  CHECK(calls == 0);
  t.loop().run();
  CHECK(calls == 1);
}

LOOP_TEST("timers fire in the order of their times and never early") {
  TestType t;
  Ints order;
  const auto begin = t.loop().clock().boot_now();
  std::vector<std::unique_ptr<loop::Timer>> timers;
  for (const int ms : {8, 2, 5, 0, 2}) {
    timers.push_back(t.loop().make_timer());
    timers.back()->start(ms * kNsPerMs, 0, [&, ms] {
      CHECK(t.loop().clock().boot_now().ns >= begin.ns + ms * kNsPerMs);
      order.push_back(ms);
    });
  }
  t.loop().run();
  CHECK(order == Ints{0, 2, 2, 5, 8});
}

LOOP_TEST("a negative delay is none, a stopped timer is silent, a destroyed one too") {
  TestType t;
  Ints order;
  const auto negative = t.loop().make_timer();
  negative->start(-5 * kNsPerSecond, 0, [&] { order.push_back(1); });
  const auto endless = t.loop().make_timer();
  endless->start(INT64_MAX, INT64_MAX, [&] { order.push_back(4); });
  endless->stop();
  const auto stopped = t.loop().make_timer();
  stopped->start(0, 0, [&] { order.push_back(2); });
  stopped->stop();
  auto destroyed = t.loop().make_timer();
  destroyed->start(0, 0, [&] { order.push_back(3); });
  destroyed.reset();
  t.loop().run();
  CHECK(order == Ints{1});
}

LOOP_TEST("a callback may stop a timer that is due at the same moment") {
  TestType t;
  Ints order;
  const auto first = t.loop().make_timer();
  auto second = t.loop().make_timer();
  auto third = t.loop().make_timer();
  first->start(0, 0, [&] {
    order.push_back(1);
    second->stop();
    third.reset();
  });
  second->start(0, 0, [&] { order.push_back(2); });
  third->start(0, 0, [&] { order.push_back(3); });
  t.loop().run();
  CHECK(order == Ints{1});
}

LOOP_TEST("a repeating timer keeps its beat until it is stopped from inside") {
  TestType t;
  const auto timer = t.loop().make_timer();
  const auto begin = t.loop().clock().boot_now();
  int fired = 0;
  timer->start(kNsPerMs, 2 * kNsPerMs, [&] {
    CHECK(t.loop().clock().boot_now().ns >= begin.ns + kNsPerMs + fired * 2 * kNsPerMs);
    if (++fired == 4) timer->stop();
  });
  t.loop().run();
  CHECK(fired == 4);
}

LOOP_TEST("a timer may restart or destroy itself while it fires") {
  TestType t;
  Ints order;
  auto timer = t.loop().make_timer();
  timer->start(0, kNsPerMs, [&] {
    order.push_back(1);
    timer->start(0, 0, [&] {
      order.push_back(2);
      timer.reset();
    });
  });
  t.loop().run();
  CHECK(order == Ints{1, 2});
  CHECK_FALSE(timer);
}

LOOP_TEST("every job of the pool runs and is reported once, on the loop's thread") {
  TestType t;
  CHECK(t.loop().pool().width() == TestType::kWidth);
  const auto here = std::this_thread::get_id();
  Ints done(50, 0);
  std::vector<std::atomic<int>> worked(50);
  for (std::size_t i = 0; i < done.size(); ++i)
    t.loop().pool().submit([&worked, i] { ++worked[i]; },
                           [&, i] {
                             CHECK(std::this_thread::get_id() == here);
                             CHECK(worked[i] == 1);
                             ++done[i];
                           });
  CHECK(std::accumulate(done.begin(), done.end(), 0) == 0);
  t.loop().run();
  CHECK(done == Ints(50, 1));
}

LOOP_TEST("what a job owns is gone before its end is reported") {
  // So large that destroying it takes longer than waking a loop.
  struct Owned {
    std::atomic<bool>& gone;
    std::vector<std::unique_ptr<int>> parts;
    explicit Owned(std::atomic<bool>& flag) : gone(flag), parts(200'000) {
      for (auto& part : parts) part = std::make_unique<int>(1);
    }
    ~Owned() {
      parts.clear();
      gone = true;
    }
  };
  TestType t;
  std::atomic<bool> gone{false};
  bool gone_at_end = false;
  auto owned = std::make_shared<Owned>(gone);
  t.loop().pool().submit([owned] { static_cast<void>(owned->parts.size()); },
                         [&] { gone_at_end = gone; });
  owned.reset();
  t.loop().run();
  CHECK(gone_at_end);
}

LOOP_TEST("a serial worker runs its jobs one after the other and reports in that order") {
  TestType t;
  const auto worker = t.loop().make_serial_worker();
  CHECK(worker->width() == 1);
  Ints worked;
  Ints done;
  for (int i = 0; i < 30; ++i)
    worker->submit([&worked, i] { worked.push_back(i); }, [&done, i] { done.push_back(i); });
  t.loop().run();
  Ints expected(30);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(worked == expected);
  CHECK(done == expected);
}

LOOP_TEST("destroying a serial worker waits for its jobs, whose ends are still reported") {
  TestType t;
  auto worker = t.loop().make_serial_worker();
  Ints worked;
  int done = 0;
  for (int i = 0; i < 10; ++i)
    worker->submit([&worked, i] { worked.push_back(i); }, [&done] { ++done; });
  worker.reset();
  CHECK(worked.size() == 10);
  CHECK(done == 0);
  t.loop().run();
  CHECK(done == 10);
}

LOOP_TEST("work goes on across several threads and turns: jobs that submit jobs") {
  TestType t;
  int left = 20;
  std::function<void()> next = [&] {
    if (--left > 0) t.loop().pool().submit([] {}, next);
  };
  t.loop().pool().submit([] {}, next);
  t.loop().run();
  CHECK(left == 0);
}

LOOP_TEST("a child's output and exit status arrive when it has ended") {
  TestType t;
  std::vector<loop::ChildResult> results;
  const auto keep = [&](loop::ChildResult result) { results.push_back(std::move(result)); };
  REQUIRE(t.loop().spawn(t.child({.out = "out ", .err = "err", .exit_status = 7}), keep));
  CHECK(results.empty());
  t.loop().run();
  REQUIRE(results.size() == 1);
  CHECK(results[0].output == "out err");
  CHECK(results[0].exit_status == 7);
  CHECK(results[0].signal == 0);
  CHECK_FALSE(results[0].timed_out);
  CHECK(results[0].output_left_out == 0);
}

LOOP_TEST("a child that a signal ends has no exit status") {
  TestType t;
  loop::ChildResult result;
  REQUIRE(t.loop().spawn(t.child({.signal = SIGTERM}), [&](auto r) { result = std::move(r); }));
  t.loop().run();
  CHECK(result.exit_status == -1);
  CHECK(result.signal == SIGTERM);
  CHECK_FALSE(result.timed_out);
}

LOOP_TEST("a child past its limit is killed, and what it wrote until then is kept") {
  TestType t;
  loop::ChildResult result;
  auto options = t.child({.out = "before", .endless = true});
  options.timeout_ns = 3 * kNsPerSecond / 2;  // ample for a shell to print a word
  REQUIRE(t.loop().spawn(options, [&](auto r) { result = std::move(r); }));
  t.loop().run();
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.exit_status == -1);
  CHECK(result.output == "before");
}

LOOP_TEST("of too much output the first and the last half are kept, and the gap is counted") {
  TestType t;
  loop::ChildResult result;
  const std::string text = "abcdefghij" + std::string(5000, '-') + "0123456789";
  auto options = t.child({.out = text});
  options.output_limit = 20;
  REQUIRE(t.loop().spawn(options, [&](auto r) { result = std::move(r); }));
  t.loop().run();
  CHECK(result.output == "abcdefghij0123456789");
  CHECK(result.output_left_out == 5000);
}

LOOP_TEST("a child that cannot be started is an error and never reported") {
  TestType t;
  bool called = false;
  const auto never = [&](loop::ChildResult) { called = true; };
  loop::ChildOptions options;
  const auto code = [&] { return t.loop().spawn(options, never).error().code(); };
  CHECK(code() == ErrorCode::invalid_argument);
  options.argv = {"sh", "-c", "true"};
  CHECK(code() == ErrorCode::invalid_argument);
  options.argv = {"/nonexistent/program"};
  CHECK(code() == ErrorCode::not_found);
  options.argv = {t.program_that_may_not_run()};
  CHECK(code() == ErrorCode::permission_denied);
  options.argv = {"/bin/sh", std::string("a\0b", 3)};
  CHECK(code() == ErrorCode::invalid_argument);
  options.argv = {"/bin/sh"};
  options.working_directory = "relative";
  CHECK(code() == ErrorCode::invalid_argument);
  t.loop().run();
  CHECK_FALSE(called);
}

LOOP_TEST("many children at once are all reported") {
  TestType t;
  Ints statuses;
  for (int i = 0; i < 12; ++i)
    REQUIRE(t.loop().spawn(t.child({.exit_status = i}),
                           [&](auto result) { statuses.push_back(result.exit_status); }));
  t.loop().run();
  std::sort(statuses.begin(), statuses.end());
  Ints expected(12);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(statuses == expected);
}

LOOP_TEST("a watched signal reaches every watch that names it, until the watch ends") {
  TestType t;
  Ints seen;
  auto first = t.loop().watch_signals({SIGUSR1, SIGUSR2}, [&](int number) {
    seen.push_back(number);
    t.loop().stop();
  });
  REQUIRE(first);
  t.raise_signal(SIGUSR2);
  t.loop().run();
  t.raise_signal(SIGUSR1);
  t.loop().run();
  CHECK(seen == Ints{SIGUSR2, SIGUSR1});
  int others = 0;
  auto second = t.loop().watch_signals({SIGUSR1}, [&](int) {
    ++others;
    t.loop().stop();
  });
  REQUIRE(second);
  first->reset();
  t.raise_signal(SIGUSR1);
  t.loop().run();
  CHECK(seen.size() == 2);
  CHECK(others == 1);
}

LOOP_TEST("signals that belong to the loop or to nobody cannot be watched") {
  TestType t;
  for (const int number : {SIGCHLD, SIGKILL, SIGSTOP, 0, -1, 4096}) {
    const auto watch = t.loop().watch_signals({SIGUSR1, number}, [](int) {});
    REQUIRE_FALSE(watch);
    CHECK(watch.error().code() == ErrorCode::invalid_argument);
  }
  t.loop().run();  // nothing of the refused watches holds it
}

LOOP_TEST("the clocks go forward and the boot has an identity") {
  TestType t;
  auto& clock = t.loop().clock();
  const auto before = clock.boot_now();
  const auto timer = t.loop().make_timer();
  timer->start(kNsPerMs, 0, [] {});
  t.loop().run();
  CHECK(clock.boot_now().ns >= before.ns + kNsPerMs);
  CHECK(clock.wall_now().ns > 1'600'000'000 * kNsPerSecond);
  CHECK_FALSE(clock.boot_id().empty());
  CHECK(clock.boot_id() == clock.boot_id());
}

LOOP_TEST("a loop with everything pending is destroyed without calling anybody") {
  TestType t;
  int calls = 0;
  const auto count = [&calls](auto&&...) { ++calls; };
  t.loop().post(count);
  for (int i = 0; i < 20; ++i) t.loop().pool().submit([] {}, count);
  {
    auto timer = t.loop().make_timer();
    timer->start(0, 1, count);
    auto watch = t.loop().watch_signals({SIGUSR1}, count);
    REQUIRE(watch);
    auto worker = t.loop().make_serial_worker();
    worker->submit([] {}, count);
    REQUIRE(t.loop().spawn(t.child({.endless = true}), count));
    REQUIRE(t.loop().spawn(t.child({.out = "x"}), count));
  }
  t.destroy_loop();
  CHECK(calls == 0);
}

LOOP_TEST("after a stop in the middle everything that was started still ends") {
  TestType t;
  int ends = 0;
  const auto count = [&ends](auto&&...) { ++ends; };
  for (int i = 0; i < 5; ++i)
    t.loop().pool().submit([] {},
                           [&, i] {
                             ++ends;
                             if (i % 2 == 0) t.loop().stop();
                           });
  REQUIRE(t.loop().spawn(t.child({.out = "x"}), count));
  t.loop().post([&] { t.loop().stop(); });
  for (int i = 0; i < 6; ++i) t.loop().run();
  CHECK(ends == 6);
}

LOOP_TEST("a job gets the end of its child as its own result, also when several wait") {
  TestType t;
  Ints statuses(6, -2);
  std::string output;
  int done = 0;
  for (int i = 0; i < 6; ++i) {
    const auto options = t.child({.out = "x", .exit_status = i});
    t.loop().pool().submit(
        [&t, &statuses, options, i] {
          const auto ran = t.loop().run_child_in_job(options);
          if (ran && ran->output == "x") statuses[static_cast<std::size_t>(i)] = ran->exit_status;
        },
        [&done] { ++done; });
  }
  t.loop().run();
  CHECK(done == 6);
  CHECK(statuses == Ints{0, 1, 2, 3, 4, 5});
}

LOOP_TEST("a job's child past its limit is killed, and one that cannot start is an error") {
  TestType t;
  auto endless = t.child({.endless = true});
  endless.timeout_ns = 50 * kNsPerMs;
  auto unlimited = t.child({.out = "x"});
  unlimited.timeout_ns = 0;
  loop::ChildOptions missing;
  missing.argv = {"/nonexistent/program"};
  loop::ChildResult killed;
  std::vector<ErrorCode> errors;
  t.loop().pool().submit(
      [&] {
        killed = t.loop().run_child_in_job(endless).value_or(loop::ChildResult{});
        for (const auto& options : {unlimited, missing})
          errors.push_back(t.loop().run_child_in_job(options).error().code());
      },
      [] {});
  t.loop().run();
  CHECK(killed.timed_out);
  CHECK(killed.signal == SIGKILL);
  CHECK(errors == std::vector{ErrorCode::invalid_argument, ErrorCode::not_found});
}

LOOP_TEST("the loop's callbacks go on while a job waits for its child") {
  TestType t;
  Ints order;
  const auto options = t.child({.out = "x"});
  t.loop().pool().submit([&] { static_cast<void>(t.loop().run_child_in_job(options)); },
                         [&] { order.push_back(2); });
  t.loop().post([&] { order.push_back(1); });
  t.loop().run();
  CHECK(order == Ints{1, 2});
}
