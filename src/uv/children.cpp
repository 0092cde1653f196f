// uv_spawn with everything that a child must not get taken away. A process handle is closed only
// after its exit callback, which is when the child has been reaped: no zombie stays behind.
#include "children.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "datum/base/assert.hpp"
#include "datum/loop/output.hpp"

namespace datum::uv {

namespace {

constexpr std::size_t kPipeBytes = 64 * 1024;  // what a pipe holds
constexpr std::size_t kLastReadBytes =
    1024 * 1024;                             // the largest pipe; more is not the child's own
constexpr std::uint64_t kLastWaitMs = 2000;  // for killed children, at the loop's end

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  void reset(int value = -1) {
    if (value_ >= 0) ::close(value_);
    value_ = value;
  }
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_ = -1;
};

// Whoever started this process may have left it descriptors that are not close-on-exec.
void close_all_on_exec() {
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  DIR* listing = ::opendir("/proc/self/fd");  // before Linux 5.11
  if (listing == nullptr) return;
  while (const auto* entry = ::readdir(listing)) {
    const int descriptor = std::atoi(entry->d_name);
    if (descriptor > 2) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  ::closedir(listing);
}

// The session of a process, or 0: field 6 of /proc/PID/stat, counted behind the name in brackets.
int session_of(const char* pid) {
  std::array<char, 512> text{};
  const Descriptor file(
      ::open(("/proc/" + std::string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::read(file.get(), text.data(), text.size() - 1) <= 0) return 0;
  const char* behind_name = std::strrchr(text.data(), ')');
  int session = 0;
  if (behind_name == nullptr || std::sscanf(behind_name, ") %*c %*d %*d %d", &session) != 1)
    return 0;
  return session;
}

// The leader is not reaped yet, so its number is still its own and names no other session.
void kill_session(int leader) {
  ::kill(-leader, SIGKILL);
  DIR* listing = ::opendir("/proc");
  if (listing == nullptr) return;
  while (const auto* entry = ::readdir(listing)) {
    const int pid = std::atoi(entry->d_name);
    if (pid > 1 && session_of(entry->d_name) == leader) ::kill(pid, SIGKILL);
  }
  ::closedir(listing);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void inherit(uv_stdio_container_t& slot, int descriptor) {
  slot.flags = UV_INHERIT_FD;
  slot.data.fd = descriptor;
}

}  // namespace

namespace {

// The end to read from, with all of the input in it.
Status open_input(const std::string& input, Descriptor& read_end) {
  if (input.empty()) {
    read_end.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return read_end.get() < 0 ? fail(error_from_errno(errno, "/dev/null")) : Status{};
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return fail(error_from_errno(errno, "pipe"));
  read_end.reset(ends[0]);
  const Descriptor write_end(ends[1]);
  const auto written = ::write(write_end.get(), input.data(), input.size());
  if (written < 0) return fail(error_from_errno(errno, "pipe"));
  DATUM_ASSERT(static_cast<std::size_t>(written) == input.size());
  return {};
}

}  // namespace

struct Children::Child {
  Children& owner;
  std::function<void(loop::ChildResult)> done;
  loop::BoundedOutput output;
  bool limited;
  std::unique_ptr<loop::Timer> limit;
  bool timed_out = false;
  Descriptor output_end;
  uv_process_t process{};
  uv_poll_t poll{};
  bool polled = false;
  int open_handles = 0;
};

Children::Children(uv_loop_t* loop, CallQueue& calls, std::shared_ptr<TimerTable> timers)
    : loop_(loop), calls_(calls), timers_(std::move(timers)) {}

Children::~Children() {
  DATUM_ASSERT(closing_);
}

Status Children::spawn(const loop::ChildOptions& options,
                       std::function<void(loop::ChildResult)> done) {
  DATUM_TRY(loop::check_child_options(options));
  auto* child = new Child{*this, std::move(done), loop::BoundedOutput(options.output_limit),
                          options.timeout_ns > 0, nullptr};
  child->process.data = child;
  child->poll.data = child;
  auto started = start(*child, options);
  if (!started) {
    release(*child);
    return fail(std::move(started).error().context("start " + options.argv[0]));
  }
  running_.insert(child);
  if (!child->limited) return {};
  child->limit = make_timer(timers_);
  child->limit->start(options.timeout_ns, 0, [child] {
    child->timed_out = true;
    kill_session(child->process.pid);
  });
  return {};
}

// On success the child runs and its output is polled; `release` cleans up after either end.
Status Children::start(Child& child, const loop::ChildOptions& options) {
  Descriptor input;
  DATUM_TRY(open_input(options.input, input));
  Descriptor write_end;
  if (options.output_descriptor < 0) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) return fail(error_from_errno(errno, "pipe"));
    child.output_end.reset(ends[0]);
    write_end.reset(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  const int output = options.output_descriptor < 0 ? write_end.get() : options.output_descriptor;
  std::array<uv_stdio_container_t, 4> stdio{};
  inherit(stdio[0], input.get());
  inherit(stdio[1], output);
  inherit(stdio[2], output);
  if (options.lock_descriptor >= 0) inherit(stdio[3], options.lock_descriptor);

  auto argv = options.argv;
  auto environment = options.environment;
  auto argv_pointers = pointers_to(argv);
  auto environment_pointers = pointers_to(environment);
  uv_process_options_t raw{};
  raw.file = argv[0].c_str();
  raw.args = argv_pointers.data();
  raw.env = environment_pointers.data();
  raw.cwd = options.working_directory.c_str();
  raw.flags = UV_PROCESS_DETACHED;
  raw.stdio = stdio.data();
  raw.stdio_count = options.lock_descriptor >= 0 ? 4 : 3;
  raw.exit_cb = [](uv_process_t* process, std::int64_t exit_status, int signal) noexcept {
    auto* ended = static_cast<Child*>(process->data);
    ended->owner.ended(*ended, exit_status, signal);
  };
  close_all_on_exec();
  // libuv cannot set a child's umask. The process's own changes for this moment only; files that
  // other threads make meanwhile are given their modes explicitly.
  const auto umask_before = ::umask(022);
  const int spawned = uv_spawn(loop_, &child.process, &raw);
  ::umask(umask_before);
  ++child.open_handles;
  if (spawned < 0) return fail(error_from_errno(-spawned, options.working_directory));
  if (child.output_end.get() < 0) return {};
  DATUM_ASSERT(uv_poll_init(loop_, &child.poll, child.output_end.get()) == 0);
  ++child.open_handles;
  child.polled = true;
  uv_poll_start(&child.poll, UV_READABLE, [](uv_poll_t* poll, int, int) noexcept {
    auto* reading = static_cast<Child*>(poll->data);
    reading->owner.read_output(*reading, kPipeBytes);
  });
  return {};
}

void Children::read_output(Child& child, std::size_t at_most) {
  std::vector<char> buffer(kPipeBytes);
  while (at_most > 0) {
    const auto count =
        ::read(child.output_end.get(), buffer.data(), std::min(buffer.size(), at_most));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // nothing more for now
    if (count == 0) {       // all writers are gone
      uv_poll_stop(&child.poll);
      return;
    }
    child.output.add({buffer.data(), static_cast<std::size_t>(count)});
    at_most -= static_cast<std::size_t>(count);
  }
}

void Children::ended(Child& child, std::int64_t exit_status, int signal) {
  if (child.polled) read_output(child, kLastReadBytes);
  loop::ChildResult result;
  result.exit_status = signal != 0 ? -1 : static_cast<int>(exit_status);
  result.signal = signal;
  result.timed_out = child.timed_out;
  result.output = child.output.text();
  result.output_left_out = child.output.left_out();
  auto done = std::move(child.done);
  running_.erase(&child);
  release(child);
  if (closing_) return;
  calls_.dispatch([done = std::move(done), result = std::move(result)] { done(result); });
}

// Closes what is open of the child; the last closed handle frees it.
void Children::release(Child& child) {
  child.limit.reset();
  const auto closed = [](uv_handle_t* handle) noexcept {
    auto* gone = static_cast<Child*>(handle->data);
    if (--gone->open_handles == 0) delete gone;
  };
  if (child.open_handles == 0) {
    delete &child;
    return;
  }
  const bool polled = child.polled;
  if (polled) uv_close(reinterpret_cast<uv_handle_t*>(&child.poll), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&child.process), closed);
}

void Children::close() {
  closing_ = true;
  const auto running = running_;
  std::size_t killed = 0;
  for (auto* child : running) {
    if (!child->limited) continue;
    kill_session(child->process.pid);
    ++killed;
  }
  if (killed > 0) {
    uv_timer_t last_wait;
    bool waited = false;
    last_wait.data = &waited;
    uv_timer_init(loop_, &last_wait);
    uv_timer_start(
        &last_wait, [](uv_timer_t* timer) noexcept { *static_cast<bool*>(timer->data) = true; },
        kLastWaitMs, 0);
    const auto limited_left = [&] {
      return std::any_of(running_.begin(), running_.end(), [](auto* c) { return c->limited; });
    };
    while (!waited && limited_left()) uv_run(loop_, UV_RUN_ONCE);
    uv_close(reinterpret_cast<uv_handle_t*>(&last_wait), nullptr);
    uv_run(loop_, UV_RUN_NOWAIT);
  }
  const auto left = std::exchange(running_, {});
  for (auto* child : left) release(*child);
}

}  // namespace datum::uv
