// The walk in a process of its own: whatever bytes do to it, the caller gets an answer in time.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <new>

#include "datum/crypto/digest.hpp"
#include "file_io.hpp"
#include "store_walk.hpp"

namespace datum::journal {
namespace {

// Exit status of a child that has no descriptors to work with.
constexpr int kNotStarted = 75;

// What the child says, in one write that a pipe takes whole.
struct Answer {
  std::uint8_t has_finding = 0;
  std::uint8_t sound = 0;
  std::uint8_t code = 0;
  std::int32_t sys_errno = 0;
  Seq records = 0;
  Seq bad_seq = 0;
  Head head;
  std::array<char, 256> text{};
};
static_assert(sizeof(Answer) <= 512, "an atomic write to any pipe");

void keep_text(Answer& answer, const std::string& text) {
  std::copy_n(text.data(), std::min(text.size(), answer.text.size() - 1), answer.text.data());
}

// Too little memory is no finding about the store.
Result<Verification> walk_or_fail(int data_fd, WalkScope scope) {
  try {
    return walk_store(data_fd, scope);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::limit_exceeded, "too little memory to walk the store");
  }
}

[[noreturn]] void run_child(int data_fd, int pipe_fd, WalkScope scope) {
  // Nobody waits for the answer of a dead opener.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // The lock above all: if the opener is killed, the next one must not wait for this walk.
  const int data_copy = ::fcntl(data_fd, F_DUPFD, 3);
  const int pipe_copy = ::fcntl(pipe_fd, F_DUPFD, 3);
  if (::dup2(data_copy, 0) != 0 || ::dup2(pipe_copy, 1) != 1) ::_exit(kNotStarted);
  ::close_range(2, ~0U, 0);
  auto walked = walk_or_fail(0, scope);
  Answer answer;
  if (walked) {
    answer.has_finding = 1;
    answer.sound = walked->sound ? 1 : 0;
    answer.records = walked->records;
    answer.bad_seq = walked->bad_seq;
    answer.head = walked->head;
    keep_text(answer, walked->problem);
  } else {
    answer.code = static_cast<std::uint8_t>(walked.error().code());
    answer.sys_errno = walked.error().sys_errno();
    keep_text(answer, walked.error().message());
  }
  const bool is_written = ::write(1, &answer, sizeof answer) == sizeof answer;
  ::_exit(is_written ? 0 : kNotStarted);
}

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

enum class Heard : std::uint8_t { answer, nothing, too_late };

Heard hear(int fd, std::int64_t deadline_ms, Answer& answer) {
  for (;;) {
    const auto left = deadline_ms - now_ms();
    if (left <= 0) return Heard::too_late;
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready <= 0) continue;
    const auto got = ::read(fd, &answer, sizeof answer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return got == sizeof answer ? Heard::answer : Heard::nothing;
  }
}

// How the child ended.
struct Death {
  bool is_known = true;  // false: it could not be waited for and is left to its end
  int signal = 0;
  int status = 0;
};

// A child in an uninterruptible read does not even die of SIGKILL; it is not waited for long.
Death reap(pid_t pid, bool is_late) {
  int status = 0;
  for (int tries = 0;; ++tries) {
    const auto got = ::waitpid(pid, &status, is_late ? WNOHANG : 0);
    if (got == pid) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || tries >= 100) return {false, 0, 0};
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status), 0};
  return {true, 0, WEXITSTATUS(status)};
}

// Signals that bad bytes can cause. Any other was sent from outside (a service manager, the kernel
// short of memory) and says nothing about the store.
bool is_own_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGFPE ||
         signal == SIGILL;
}

Result<Verification> judge(const Answer& answer) {
  const std::string text(answer.text.data());
  if (answer.has_finding == 0)
    return fail(Error(static_cast<ErrorCode>(answer.code), text, answer.sys_errno));
  Verification finding;
  finding.sound = answer.sound != 0;
  finding.records = answer.records;
  finding.bad_seq = answer.bad_seq;
  finding.head = answer.head;
  finding.problem = text;
  return finding;
}

// Of a child that said nothing.
Result<Verification> judge_death(const Death& death) {
  if (!death.is_known || (death.signal != 0 && !is_own_fault(death.signal)))
    return fail(ErrorCode::timed_out, "the walk of the store was ended from outside, by signal " +
                                          std::to_string(death.signal));
  if (death.status == kNotStarted)
    return fail(ErrorCode::unavailable, "the walk of the store could not begin");
  Verification finding;
  finding.problem = death.signal != 0
                        ? "the walk died of signal " + std::to_string(death.signal)
                        : "the walk ended with status " + std::to_string(death.status);
  return finding;
}

}  // namespace

Result<Verification> walk_in_child(int data_fd, std::int64_t limit_ms, WalkScope scope) {
  if (limit_ms <= 0) return fail(ErrorCode::timed_out, "the walk of the store got no time");
  // Fetched here so that the child finds the algorithm ready: libcrypto's locks may be held by
  // another thread at the moment of the fork.
  [[maybe_unused]] const auto warm = crypto::sha256({});
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(error_from_errno(errno, "pipe"));
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const auto deadline_ms = now_ms() + limit_ms;
  const pid_t pid = ::fork();
  if (pid < 0) return fail(error_from_errno(errno, "fork"));
  if (pid == 0) run_child(data_fd, writing.get(), scope);
  writing = Fd();
  Answer answer;
  const auto heard = hear(reading.get(), deadline_ms, answer);
  if (heard == Heard::too_late) ::kill(pid, SIGKILL);
  const auto death = reap(pid, heard == Heard::too_late);
  if (heard == Heard::too_late)
    return fail(ErrorCode::timed_out,
                "the walk of the store did not finish in " + std::to_string(limit_ms) + " ms");
  if (heard == Heard::answer) return judge(answer);
  return judge_death(death);
}

}  // namespace datum::journal
