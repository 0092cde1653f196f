// What the simulated loop has beyond the contract of every loop: seeds, virtual time, and ends
// anywhere.
#include "support/sim_loop.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

using namespace datum;
using support::ScriptedChild;
using support::SimLoop;

namespace {

// The order in which eight jobs of a pool of four end.
std::vector<int> order_of_ends(std::uint64_t seed) {
  SimLoop loop(seed, 4);
  std::vector<int> order;
  for (int i = 0; i < 8; ++i) loop.pool().submit([] {}, [&order, i] { order.push_back(i); });
  loop.run();
  return order;
}

}  // namespace

TEST_CASE("sim: a seed reproduces an order, and seeds differ") {
  CHECK(order_of_ends(11) == order_of_ends(11));
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) orders.insert(order_of_ends(seed));
  CHECK(orders.size() > 10);
}

TEST_CASE("sim: virtual time passes only to the next event, and as far as it is asked to") {
  SimLoop loop(1);
  const auto begin = loop.clock().boot_now().ns;
  const auto timer = loop.make_timer();
  int fired = 0;
  timer->start(kNsPerSecond, kNsPerSecond, [&] { ++fired; });
  loop.run_for(3600 * kNsPerSecond);
  CHECK(fired == 3600);
  CHECK(loop.clock().boot_now().ns == begin + 3600 * kNsPerSecond);
}

TEST_CASE(
    "sim: after a sleep of the machine a repeating timer fires once and keeps its beat [K02]") {
  SimLoop loop(1);
  const auto timer = loop.make_timer();
  std::vector<std::int64_t> times;
  const auto begin = loop.clock().boot_now().ns;
  timer->start(kNsPerSecond, kNsPerSecond,
               [&] { times.push_back(loop.clock().boot_now().ns - begin); });
  loop.suspend(10 * kNsPerSecond + kNsPerSecond / 2);
  loop.run_for(kNsPerSecond);
  REQUIRE(times.size() == 2);
  CHECK(times[0] == 10 * kNsPerSecond + kNsPerSecond / 2);
  CHECK(times[1] == 11 * kNsPerSecond);
}

TEST_CASE("sim: the wall clock jumps without moving a timer") {
  SimLoop loop(1);
  const auto timer = loop.make_timer();
  const auto boot = loop.clock().boot_now().ns;
  const auto wall = loop.clock().wall_now().ns;
  timer->start(kNsPerSecond, 0, [] {});
  loop.jump_wall(-86'400 * kNsPerSecond);
  loop.run();
  CHECK(loop.clock().boot_now().ns == boot + kNsPerSecond);
  CHECK(loop.clock().wall_now().ns == wall + kNsPerSecond - 86'400 * kNsPerSecond);
}

TEST_CASE("sim: stopped after any number of steps it goes on as if it had not been") {
  const auto whole = order_of_ends(5);
  for (std::uint64_t stop = 0; stop < 16; ++stop) {
    SimLoop loop(5, 4);
    std::vector<int> order;
    for (int i = 0; i < 8; ++i) loop.pool().submit([] {}, [&order, i] { order.push_back(i); });
    loop.stop_after_steps(stop);
    loop.run();
    CHECK(loop.steps() == stop);
    CHECK(order.size() <= stop);
    loop.stop_after_steps(1'000);
    loop.run();
    CHECK(order == whole);
  }
}

TEST_CASE("sim: after a kill nothing runs, nothing calls back and nothing new starts") {
  SimLoop loop(1);
  int calls = 0;
  const auto count = [&](auto&&...) { ++calls; };
  loop.script_child("/bin/x", [](const loop::ChildOptions&) { return ScriptedChild(); });
  loop::ChildOptions options;
  options.argv = {"/bin/x"};
  auto worker = loop.make_serial_worker();
  const auto timer = loop.make_timer();
  timer->start(0, 0, count);
  loop.post(count);
  loop.pool().submit([&] { ++calls; }, count);
  worker->submit([&] { ++calls; }, count);
  REQUIRE(loop.spawn(options, count));
  loop.kill();
  loop.post(count);
  loop.pool().submit([&] { ++calls; }, count);
  timer->start(0, 0, count);
  worker.reset();
  loop.run();
  CHECK(calls == 0);
}

TEST_CASE("sim: a stalled job holds its thread until it is released") {
  SimLoop loop(1, 2);
  std::vector<int> order;
  loop.stall_next_job();
  for (int i = 0; i < 4; ++i) loop.pool().submit([] {}, [&order, i] { order.push_back(i); });
  loop.run();
  CHECK(order == std::vector<int>{1, 2, 3});
  loop.release_stalled();
  loop.run();
  CHECK(order == std::vector<int>{1, 2, 3, 0});
}

TEST_CASE("sim: a child's effect happens when it ends, and not if it was killed") {
  SimLoop loop(1);
  int effects = 0;
  ScriptedChild script;
  script.duration_ns = 5 * kNsPerSecond;
  script.effect = [&] { ++effects; };
  loop.script_child("/bin/x", [&](const loop::ChildOptions&) { return script; });
  loop::ChildOptions options;
  options.argv = {"/bin/x"};
  std::vector<bool> timed_out;
  const auto keep = [&](loop::ChildResult result) { timed_out.push_back(result.timed_out); };
  options.timeout_ns = 4 * kNsPerSecond;
  REQUIRE(loop.spawn(options, keep));
  CHECK(loop.running_children() == 1);
  loop.run();
  CHECK(effects == 0);
  options.timeout_ns = 0;
  REQUIRE(loop.spawn(options, keep));
  loop.run();
  CHECK(effects == 1);
  CHECK(loop.running_children() == 0);
  CHECK(timed_out == std::vector<bool>{true, false});
}

TEST_CASE("sim: a signal that nobody watches is lost, and one that somebody watches is not") {
  SimLoop loop(1);
  loop.deliver_signal(SIGHUP, 5);
  loop.run();
  std::vector<int> seen;
  const auto watch =
      loop.watch_signals({SIGTERM, SIGHUP}, [&](int number) { seen.push_back(number); });
  REQUIRE(watch);
  loop.deliver_signal(SIGTERM, 10);
  loop.deliver_signal(SIGHUP, 5);
  loop.run();
  CHECK(seen == std::vector<int>{SIGHUP, SIGTERM});
}
