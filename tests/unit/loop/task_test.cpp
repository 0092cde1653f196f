// Tasks over the simulated loop: their values, their ends, and what is left of them when they are
// dropped.
#include "datum/loop/task.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <stdexcept>
#include <string>

#include "datum/base/error.hpp"
#include "support/sim_loop.hpp"

using namespace datum;
using namespace datum::loop;
using support::SimLoop;

namespace {

// Counts its living copies: every frame that is destroyed once and only once brings it back to
// none.
class Counted {
 public:
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }

 private:
  int* alive_;
};

using Resumes = std::vector<std::function<void(int)>>;

Task<int> constant(int value) {
  co_return value;
}

Task<int> await_number(Resumes& resumes, int& alive) {
  const Counted counted(alive);
  auto wait = wait_for<int>([&resumes, counted](std::function<void(int)> resume) {
    resumes.push_back(std::move(resume));
  });
  const int number = co_await wait;
  co_return number;
}

Task<int> sum_of_two(Resumes& resumes, int& alive) {
  const Counted counted(alive);
  const int first = co_await await_number(resumes, alive);
  const int second = co_await await_number(resumes, alive);
  co_return first * 10 + second;
}

Task<std::string> describe(Resumes& resumes, int& alive) {
  const int sum = co_await sum_of_two(resumes, alive);
  co_return "sum " + std::to_string(sum);
}

}  // namespace

TEST_CASE("task: nothing runs before start, and a task without waits ends inside start") {
  int steps = 0;
  const auto make = [](int& count) -> Task<int> {
    ++count;
    co_return 7;
  };
  auto task = make(steps);
  CHECK(steps == 0);
  CHECK_FALSE(task.done());
  task.start();
  CHECK(steps == 1);
  REQUIRE(task.done());
  CHECK(task.take() == 7);
}

TEST_CASE("task: three nested tasks wait for two callbacks and hand the value up") {
  int alive = 0;
  Resumes resumes;
  {
    auto task = describe(resumes, alive);
    task.start();
    REQUIRE(resumes.size() == 1);
    CHECK_FALSE(task.done());
    resumes[0](4);
    REQUIRE(resumes.size() == 2);
    CHECK_FALSE(task.done());
    resumes[1](2);
    REQUIRE(task.done());
    CHECK(task.take() == "sum 42");
  }
  resumes.clear();
  CHECK(alive == 0);
}

TEST_CASE(
    "task: dropped at any wait, every frame is destroyed once and late callbacks do nothing") {
  for (const int answered : {0, 1}) {
    int alive = 0;
    Resumes resumes;
    {
      auto task = describe(resumes, alive);
      task.start();
      for (int i = 0; i < answered; ++i) resumes[static_cast<std::size_t>(i)](1);
      CHECK(alive > 0);
    }
    const auto waiting = resumes.size();
    resumes.back()(9);
    CHECK(resumes.size() == waiting);
    resumes.clear();
    CHECK(alive == 0);
  }
}

TEST_CASE("task: one that was never started and one that was moved are destroyed once") {
  int alive = 0;
  Resumes resumes;
  {
    auto never = sum_of_two(resumes, alive);
    auto first = sum_of_two(resumes, alive);
    auto second = std::move(first);
    second.start();
    CHECK_FALSE(first.done());
    CHECK(resumes.size() == 1);
  }
  resumes.clear();
  CHECK(alive == 0);
}

TEST_CASE("task: a million steps that end at once need no more stack than one") {
  const auto count = []() -> Task<long> {
    long sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await constant(1);
    co_return sum;
  };
  auto task = count();
  task.start();
  REQUIRE(task.done());
  CHECK(task.take() == 1'000'000);
}

TEST_CASE("task: a hundred thousand waits answered by the loop need no more stack than one") {
  SimLoop loop(1);
  const auto count = [](SimLoop& on) -> Task<long> {
    long sum = 0;
    for (int i = 0; i < 100'000; ++i) {
      auto turn = wait_for<int>([&on](std::function<void(int)> resume) {
        on.post([resume = std::move(resume)] { resume(1); });
      });
      sum += co_await turn;
    }
    co_return sum;
  };
  auto task = count(loop);
  task.start();
  loop.run();
  REQUIRE(task.done());
  CHECK(task.take() == 100'000);
}

TEST_CASE("task: a wait that is answered while it begins does not suspend") {
  const auto make = []() -> Task<int> {
    auto wait = wait_for<int>([](std::function<void(int)> resume) { resume(5); });
    co_return co_await wait;
  };
  auto task = make();
  task.start();
  REQUIRE(task.done());
  CHECK(task.take() == 5);
}

TEST_CASE("task: values that only move, and statuses, pass through") {
  const auto make = []() -> Task<std::unique_ptr<int>> {
    auto wait = wait_for<std::shared_ptr<int>>(
        [](std::function<void(std::shared_ptr<int>)> resume) { resume(std::make_shared<int>(3)); });
    const auto shared = co_await wait;
    co_return std::make_unique<int>(*shared);
  };
  auto task = make();
  task.start();
  CHECK(*task.take() == 3);
  const auto failing = []() -> Task<Status> { co_return fail(ErrorCode::busy, "no"); };
  auto status = failing();
  status.start();
  CHECK(status.take().error().code() == ErrorCode::busy);
}

TEST_CASE("task: run_on yields what the job returned, and the job may own what cannot be copied") {
  SimLoop loop(2);
  const auto make = [](SimLoop& on) -> Task<int> {
    auto owned = std::make_unique<int>(20);
    auto job = run_on<int>(on.pool(), [owned = std::move(owned)] { return *owned + 1; });
    co_return co_await job;
  };
  auto task = make(loop);
  task.start();
  CHECK_FALSE(task.done());
  loop.run();
  REQUIRE(task.done());
  CHECK(task.take() == 21);
}

TEST_CASE("task: a job whose task is gone still runs, and its result is dropped") {
  SimLoop loop(3);
  int alive = 0;
  int ran = 0;
  {
    const auto make = [](SimLoop& on, int& living, int& runs) -> Task<int> {
      auto job = run_on<Counted>(on.pool(), [&living, &runs] {
        ++runs;
        return Counted(living);
      });
      const auto result = co_await job;
      static_cast<void>(result);
      co_return 1;
    };
    auto task = make(loop, alive, ran);
    task.start();
  }
  loop.run();
  CHECK(ran == 1);
  CHECK(alive == 0);
}

TEST_CASE(
    "task: run_all keeps the order of its jobs, runs all, and never more at once than asked") {
  SimLoop loop(4, 8);
  const auto make = [](SimLoop& on) -> Task<std::vector<int>> {
    std::vector<std::function<int()>> jobs;
    for (int i = 0; i < 20; ++i) jobs.emplace_back([i] { return i * i; });
    auto all = run_all<int>(on.pool(), std::move(jobs), 3);
    co_return co_await all;
  };
  auto task = make(loop);
  task.start();
  loop.run();
  REQUIRE(task.done());
  const auto squares = task.take();
  REQUIRE(squares.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(squares[static_cast<std::size_t>(i)] == i * i);
}

TEST_CASE("task: run_all of nothing is nothing, at once") {
  SimLoop loop(5);
  const auto make = [](SimLoop& on) -> Task<std::size_t> {
    auto all = run_all<int>(on.pool(), std::vector<std::function<int()>>(), 1);
    const auto results = co_await all;
    co_return results.size();
  };
  auto task = make(loop);
  task.start();
  REQUIRE(task.done());
  CHECK(task.take() == 0);
}

TEST_CASE("task: run_all submits no more than it may while its first jobs hang") {
  SimLoop loop(6, 8);
  for (int i = 0; i < 3; ++i) loop.stall_next_job();
  int ran = 0;
  const auto make = [](SimLoop& on, int& runs) -> Task<int> {
    std::vector<std::function<int()>> jobs(10, [&runs] { return ++runs; });
    auto all = run_all<int>(on.pool(), std::move(jobs), 3);
    static_cast<void>(co_await all);
    co_return 0;
  };
  auto task = make(loop, ran);
  task.start();
  loop.run();
  CHECK(ran == 0);
  loop.release_stalled();
  loop.run();
  CHECK(ran == 10);
  CHECK(task.done());
}

TEST_CASE("task: sleep_for ends on the loop's clock, and a dropped sleeper leaves nothing to run") {
  SimLoop loop(7);
  const auto make = [](SimLoop& on) -> Task<std::int64_t> {
    auto sleep = sleep_for(on, 90 * kNsPerSecond);
    co_await sleep;
    co_return on.clock().boot_now().ns;
  };
  const auto begin = loop.clock().boot_now().ns;
  auto task = make(loop);
  task.start();
  loop.run();
  CHECK(task.take() == begin + 90 * kNsPerSecond);
}

TEST_CASE("task: run_child yields the child's end or the error of its start") {
  SimLoop loop(8);
  loop.script_child("/bin/tool", [](const ChildOptions& options) {
    support::ScriptedChild child;
    child.exit_status = static_cast<int>(options.argv.size());
    return child;
  });
  const auto make = [](SimLoop& on, std::string program) -> Task<Result<ChildResult>> {
    ChildOptions options;
    options.argv = {std::move(program), "x", "y"};
    auto child = run_child(on, std::move(options));
    co_return co_await child;
  };
  auto good = make(loop, "/bin/tool");
  auto bad = make(loop, "/bin/none");
  good.start();
  bad.start();
  REQUIRE(bad.done());
  CHECK(bad.take().error().code() == ErrorCode::not_found);
  loop.run();
  REQUIRE(good.done());
  CHECK(good.take()->exit_status == 3);
}

TEST_CASE("task: an exception that reaches its edge ends the process") {
  const auto child = ::fork();
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);
    const auto make = []() -> Task<int> {
      throw std::runtime_error("edge");
      co_return 1;
    };
    auto task = make();
    try {
      task.start();
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(4);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("task: dropping the outermost task at every step of a conductor leaves nothing alive") {
  const auto conduct = [](SimLoop& on, Resumes& resumes, int& alive) -> Task<int> {
    const Counted counted(alive);
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
      auto job = run_on<int>(on.pool(), [counted, i] { return i; });
      sum += co_await job;
      auto sleep = sleep_for(on, kNsPerMs);
      co_await sleep;
      sum += co_await constant(1);
    }
    static_cast<void>(resumes);
    co_return sum;
  };
  std::uint64_t steps = 0;
  {
    SimLoop loop(9);
    Resumes resumes;
    int alive = 0;
    auto task = conduct(loop, resumes, alive);
    task.start();
    loop.run();
    REQUIRE(task.done());
    CHECK(task.take() == 6);
    steps = loop.steps();
  }
  for (std::uint64_t stop = 0; stop < steps; ++stop) {
    int alive = 0;
    {
      SimLoop loop(9);
      Resumes resumes;
      auto task = conduct(loop, resumes, alive);
      task.start();
      loop.stop_after_steps(stop);
      loop.run();
      CHECK_FALSE(task.done());
    }
    CHECK(alive == 0);
  }
}
