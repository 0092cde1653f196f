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

#include "datum/crypto/digest.hpp"
#include "file_io.hpp"
#include "store_walk.hpp"

namespace datum::journal {
namespace {

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

[[noreturn]] void run_child(int data_fd, int pipe_fd) {
  // Nobody waits for the answer of a dead opener.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // The lock above all: if the opener is killed, the next one must not wait for this walk.
  const int data_copy = ::fcntl(data_fd, F_DUPFD, 3);
  const int pipe_copy = ::fcntl(pipe_fd, F_DUPFD, 3);
  if (::dup2(data_copy, 0) != 0 || ::dup2(pipe_copy, 1) != 1) ::_exit(1);
  ::close_range(2, ~0U, 0);
  auto walked = walk_store(0);
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
  ::_exit(is_written ? 0 : 1);
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

// Text about a dead child, empty for an orderly exit. A child in an uninterruptible read cannot be
// waited for; it is left to its end.
std::string reap(pid_t pid, bool is_late) {
  int status = 0;
  for (int tries = 0;; ++tries) {
    const auto got = ::waitpid(pid, &status, is_late ? WNOHANG : 0);
    if (got == pid) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || tries >= 100) return {};
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  if (WIFSIGNALED(status)) return "the walk died of signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return "the walk ended with status " + std::to_string(WEXITSTATUS(status));
  return {};
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

}  // namespace

Result<Verification> walk_in_child(int data_fd, std::int64_t limit_ms) {
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
  if (pid == 0) run_child(data_fd, writing.get());
  writing = Fd();
  Answer answer;
  const auto heard = hear(reading.get(), deadline_ms, answer);
  if (heard == Heard::too_late) ::kill(pid, SIGKILL);
  const auto death = reap(pid, heard == Heard::too_late);
  if (heard == Heard::too_late)
    return fail(ErrorCode::timed_out,
                "the walk of the store did not finish in " + std::to_string(limit_ms) + " ms");
  if (heard == Heard::answer && death.empty()) return judge(answer);
  Verification finding;
  finding.problem = death.empty() ? "the walk ended without an answer" : death;
  return finding;
}

}  // namespace datum::journal
