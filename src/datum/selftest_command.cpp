// selftest crash-recovery: makes the scratch folder, runs the test, tells what came of it, and
// removes the folder unless it holds evidence.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "commands.hpp"
#include "datum/config/trust.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/session.hpp"
#include "datum/selftest/crash_recovery.hpp"
#include "datum/uv/uv_loop.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "selftest_report.hpp"

namespace datum::program {
namespace {

constexpr std::uint32_t kDefaultRounds = 150;
constexpr std::uint32_t kMaxRounds = 1'000'000;  // weeks

// Below --dir, $TMPDIR or /tmp; 0700.
Result<std::string> make_scratch(const Arguments& arguments) {
  const char* const variable = std::getenv("TMPDIR");
  std::string parent = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  if (!arguments.folder.empty()) parent = arguments.folder;
  std::string path = absolute_path(parent) + "/datum-selftest-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail(error_from_errno(errno, parent));
  return path;
}

Result<std::string> own_program() {
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return fail(error_from_errno(errno, "/proc/self/exe"));
  return std::string(path.data(), static_cast<std::size_t>(length));
}

std::uint64_t random_seed() {
  // Short enough to be typed.
  constexpr std::uint64_t kSeeds = 1'000'000'000;
  std::uint64_t seed = 0;
  crypto::fill_random({reinterpret_cast<std::byte*>(&seed), sizeof seed});
  return 1 + seed % kSeeds;
}

// A line of its own on a terminal, written over and over.
void show_progress(std::uint32_t done, std::uint32_t of, std::size_t violations) {
  std::fprintf(stderr, "\r%u of %u rounds, %zu violations\033[K", done, std::max(done, of),
               violations);
}

Result<int> run_crash_test(const Arguments& arguments) {
  if (arguments.rounds > kMaxRounds)
    return fail(ErrorCode::invalid_argument, "--rounds: at most 1000000");
  DATUM_ASSIGN(const auto program, own_program());
  DATUM_ASSIGN(const auto scratch, make_scratch(arguments));
  const auto files = os_linux::make_files();
  // Where others can change the way to a store, it is refused: that would look like a violation.
  if (const auto checked = config::check_way(*files, scratch, trusted_uid()); !checked) {
    ::rmdir(scratch.c_str());
    return fail(Error(checked.error()).context("--dir"));
  }
  selftest::CrashTest test;
  test.scratch = scratch;
  test.child = {program, "selftest", "pass-in"};
  test.rounds = arguments.rounds == 0 ? kDefaultRounds : arguments.rounds;
  test.seed = arguments.seed ? *arguments.seed : random_seed();
  test.is_root = ::geteuid() == 0;
  const auto loop = uv::make_loop(1);
  bool is_stopped = false;
  DATUM_ASSIGN(const auto signals,
               loop->watch_signals({SIGINT, SIGTERM, SIGHUP}, [&](int) { is_stopped = true; }));
  const bool on_terminal = ::isatty(STDERR_FILENO) == 1;
  selftest::CrashTestWatch watch;
  watch.stopped = [&is_stopped] { return is_stopped; };
  if (on_terminal) watch.progress = show_progress;
  auto report = selftest::test_crash_recovery(*loop, *files, test, watch);
  if (on_terminal) std::fprintf(stderr, "\r\033[K");
  if (!report)
    return fail(std::move(report).error().context("the self-test could not go on; " + scratch +
                                                  " is left as it was"));
  if (report->violations.empty()) {
    std::error_code problem;
    std::filesystem::remove_all(scratch, problem);
    if (problem) std::fprintf(stderr, "datum: %s could not be removed\n", scratch.c_str());
  }
  print(arguments.json ? selftest_json(*report) : selftest_text(*report));
  return report->held() ? 0 : 1;
}

}  // namespace

int selftest_command(const Arguments& arguments) {
  return finish(run_crash_test(arguments));
}

}  // namespace datum::program
