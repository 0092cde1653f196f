// What only the real loop has: descriptors, sessions, zombies, the clock of its timers.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "datum/uv/uv_loop.hpp"

using namespace datum;

namespace {

loop::ChildOptions shell(const std::string& script) {
  loop::ChildOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {"PATH=/usr/bin:/bin"};
  return options;
}

loop::ChildResult run_child(const loop::ChildOptions& options) {
  const auto loop = uv::make_loop(1);
  loop::ChildResult result;
  const auto started = loop->spawn(options, [&](auto ended) { result = std::move(ended); });
  if (!started) FAIL(started.error().message());
  loop->run();
  return result;
}

bool has_no_children() {
  return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends[0]);
    close_writer();
  }
  void close_writer() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  // Blocks until every holder of the writing end is gone.
  bool all_writers_end() {
    close_writer();
    char byte = 0;
    return ::read(ends[0], &byte, 1) == 0;
  }
};

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("uv: a child has descriptors 0, 1 and 2 and no other, whatever this process was left") {
  const int stray = ::fcntl(STDERR_FILENO, F_DUPFD, 57);  // not close-on-exec
  REQUIRE(stray >= 57);
  // 3 is the listing's own.
  CHECK(run_child(shell("exec ls -1 /proc/self/fd")).output == "0\n1\n2\n3\n");
  ::close(stray);
}

TEST_CASE("uv: a child's lock descriptor is its 3, and nothing else came along") {
  Pipe pipe;
  auto options = shell("exec ls -1 /proc/self/fd");
  options.lock_descriptor = pipe.ends[1];
  CHECK(run_child(options).output == "0\n1\n2\n3\n4\n");
}

TEST_CASE("uv: a child's environment, input, working directory and umask are the given ones") {
  auto options = shell("x");
  options.argv = {"/usr/bin/env"};
  options.environment = {"B=2", "A=1 with space"};
  CHECK(run_child(options).output == "B=2\nA=1 with space\n");
  options.environment.clear();
  CHECK(run_child(options).output.empty());
  options = shell("cat; pwd; umask");
  options.working_directory = "/usr";
  const auto before = ::umask(077);
  CHECK(run_child(options).output == "/usr\n0022\n");
  CHECK(::umask(before) == 077);
}

TEST_CASE("uv: a missing working directory is an error, and no zombie stays of the attempt [B01]") {
  const auto loop = uv::make_loop(1);
  auto options = shell("true");
  options.working_directory = "/nonexistent";
  const auto started = loop->spawn(options, [](auto) {});
  REQUIRE_FALSE(started);
  CHECK(started.error().code() == ErrorCode::not_found);
  loop->run();
  CHECK(has_no_children());
}

TEST_CASE("uv: a child leads a session of its own") {
  // Fields 1 and 6 of its stat: process and session.
  const auto result =
      run_child(shell("read pid name state parent group session rest "
                      "< /proc/self/stat; echo $pid $group $session"));
  std::istringstream fields(result.output);
  int pid = 0;
  int group = 0;
  int session = 0;
  fields >> pid >> group >> session;
  CHECK(pid > 0);
  CHECK(group == pid);
  CHECK(session == pid);
}

TEST_CASE(
    "uv: past its limit a child is killed with all of its session, other process groups too") {
  Pipe pipe;
  auto options = shell("set -m; sleep 100000 & echo started; wait");
  options.argv[0] =
      "/bin/bash";  // gives background jobs groups of their own without a terminal, too
  options.lock_descriptor = pipe.ends[1];
  options.timeout_ns = kNsPerSecond;
  const auto result = run_child(options);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.output == "started\n");
  CHECK(pipe.all_writers_end());
  CHECK(has_no_children());
}

TEST_CASE("uv: a background child that keeps the output open does not delay the end") {
  Pipe pipe;
  auto options = shell("sleep 100000 & echo $!");
  const auto result = run_child(options);
  CHECK_FALSE(result.timed_out);
  CHECK(result.exit_status == 0);
  const int background = std::stoi(result.output);
  CHECK(::kill(background, SIGKILL) == 0);
}

TEST_CASE("uv: output to a descriptor is not captured") {
  Pipe pipe;
  auto options = shell("printf out; printf err >&2");
  options.output_descriptor = pipe.ends[1];
  CHECK(run_child(options).output.empty());
  pipe.close_writer();
  std::array<char, 16> text{};
  CHECK(::read(pipe.ends[0], text.data(), text.size()) == 6);
  CHECK(std::string(text.data(), 6) == "outerr");
}

TEST_CASE("uv: a megabyte of output neither blocks the child nor is kept") {
  auto options = shell("head -c 1048576 /dev/zero | tr '\\0' x");
  options.output_limit = 1000;
  const auto result = run_child(options);
  CHECK(result.output == std::string(1000, 'x'));
  CHECK(result.output_left_out == 1048576 - 1000);
  CHECK(result.exit_status == 0);
}

TEST_CASE(
    "uv: destroying a loop kills and reaps limited children and leaves the others alone [B01]") {
  Pipe limited_pipe;
  Pipe unlimited_pipe;
  auto loop = uv::make_loop(1);
  auto limited = shell("sleep 100000");
  limited.lock_descriptor = limited_pipe.ends[1];
  REQUIRE(loop->spawn(limited, [](auto) { FAIL("called"); }));
  auto unlimited = shell("echo $$ >&3; exec sleep 100000");
  unlimited.lock_descriptor = unlimited_pipe.ends[1];
  unlimited.timeout_ns = 0;
  REQUIRE(loop->spawn(unlimited, [](auto) { FAIL("called"); }));
  loop.reset();
  CHECK(limited_pipe.all_writers_end());
  std::array<char, 16> text{};
  REQUIRE(::read(unlimited_pipe.ends[0], text.data(), text.size() - 1) > 0);
  const int pid = std::stoi(text.data());
  CHECK(::kill(pid, 0) == 0);
  CHECK(::kill(pid, SIGKILL) == 0);
  CHECK(::waitpid(pid, nullptr, 0) == pid);
  CHECK(has_no_children());
}

TEST_CASE("uv: timers stand on the clock that counts suspend") {
  const auto loop = uv::make_loop(1);
  const auto timer = loop->make_timer();
  timer->start(kNsPerSecond, 0, [] {});
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (text.str().find("clockid: " + std::to_string(CLOCK_BOOTTIME)) != std::string::npos)
      found = true;
  }
  CHECK(found);
}

TEST_CASE("uv: loops leave no descriptor and no thread behind") {
  const auto threads = [] {
    int count = 0;
    for ([[maybe_unused]] const auto& t : std::filesystem::directory_iterator("/proc/self/task"))
      ++count;
    return count;
  };
  // libuv keeps a pipe for signals per process, made with the first loop.
  { const auto first = uv::make_loop(1); }
  const int descriptors_before = open_descriptors();
  const int threads_before = threads();
  for (int i = 0; i < 5; ++i) {
    const auto loop = uv::make_loop(4);
    const auto watch = loop->watch_signals({SIGUSR1}, [](int) {});
    REQUIRE(watch);
    loop->pool().submit([] {}, [&] { loop->stop(); });
    REQUIRE(loop->spawn(shell("true"), [](auto) {}));
    CHECK(threads() == threads_before + 4);
    loop->run();
  }
  CHECK(open_descriptors() == descriptors_before);
  CHECK(threads() == threads_before);
  CHECK(has_no_children());
}

TEST_CASE("uv: ten thousand jobs on four threads all end while timers and posts go on") {
  const auto loop = uv::make_loop(4);
  int done = 0;
  int ticks = 0;
  const auto timer = loop->make_timer();
  timer->start(0, kNsPerMs / 10, [&] { ++ticks; });
  for (int i = 0; i < 10'000; ++i)
    loop->pool().submit([] {},
                        [&] {
                          if (++done == 10'000) timer->stop();
                        });
  loop->run();
  CHECK(done == 10'000);
}

TEST_CASE(
    "uv: a loop that is destroyed releases the job that waits for a child, and kills the child") {
  Pipe pipe;
  auto loop = uv::make_loop(1);
  auto options = shell("echo started >&3; exec sleep 100000");
  options.lock_descriptor = pipe.ends[1];
  std::optional<ErrorCode> code;
  loop->pool().submit(
      [&] {
        const auto ran = loop->run_child_in_job(options);
        if (!ran) code = ran.error().code();
      },
      [] {});
  // The loop turns until the child has said a word, and is then stopped with the job in its wait.
  const auto timer = loop->make_timer();
  timer->start(0, kNsPerMs, [&] {
    std::array<char, 8> word{};
    ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
    if (::read(pipe.ends[0], word.data(), word.size()) > 0) loop->stop();
  });
  loop->run();
  timer->stop();
  loop.reset();
  CHECK(code == ErrorCode::cancelled);
  CHECK(has_no_children());
}

TEST_CASE("uv: a job that asks for a child of a loop that does not run is released by its end") {
  auto loop = uv::make_loop(1);
  std::optional<ErrorCode> code;
  loop->pool().submit(
      [&] {
        const auto ran = loop->run_child_in_job(shell("true"));
        if (!ran) code = ran.error().code();
      },
      [] {});
  loop.reset();
  // Either the job had begun and was released, or it was dropped like all that wait.
  CHECK((!code || code == ErrorCode::cancelled));
  CHECK(has_no_children());
}

TEST_CASE(
    "uv: a child reads its input to the end, and one that does not read it ends all the same") {
  auto options = shell("cat; echo end");
  options.input = std::string(loop::kMaxChildInput - 1, 'x') + "\n";
  CHECK(run_child(options).output == options.input + "end\n");
  options = shell("exit 3");
  options.input = "nobody reads this\n";
  CHECK(run_child(options).exit_status == 3);
  options.input.assign(loop::kMaxChildInput + 1, 'x');
  const auto loop = uv::make_loop(1);
  CHECK(loop->spawn(options, [](auto) {}).error().code() == ErrorCode::invalid_argument);
}
