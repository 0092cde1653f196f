// A process of the self-test: one real pass in the folder of a life, which ends itself, or lets a
// step fail, where the order in that folder says so. It acts below that folder only, and not at all
// where the self-test did not prepare it. What it says to the self-test goes straight to the
// descriptor: a process that ends itself flushes nothing.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "commands.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/selftest/crash_points.hpp"
#include "datum/selftest/crash_recovery.hpp"
#include "datum/selftest/kept_unit.hpp"
#include "datum/selftest/scenario.hpp"
#include "datum/selftest/watched_files.hpp"
#include "datum/uv/uv_loop.hpp"
#include "desired.hpp"
#include "print.hpp"

namespace datum::program {
namespace {

// More targets than one version of the scenario ever loses.
constexpr std::uint32_t kAllowedRemovals = 100;

void tell(const std::string& words) {
  const auto line = std::string(selftest::kTold) + words + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    ::_exit(1);
}

void end_here(std::string_view point, std::uint64_t) {
  tell("ends at " + std::string(point));
  ::kill(::getpid(), SIGKILL);
}

Result<selftest::CutOrder> read_order(const std::string& folder) {
  std::ifstream file(folder + "/" + std::string(selftest::kOrderName), std::ios::binary);
  if (!file)
    return fail(ErrorCode::not_found,
                folder + ": the self-test has nothing prepared there; nothing was done");
  return selftest::parse_order(std::string(std::istreambuf_iterator<char>(file), {}));
}

void limit_files(std::uint64_t bytes) {
  if (bytes == 0) return;
  std::signal(SIGXFSZ, SIG_IGN);  // then a write that would go beyond fails
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

Arguments arguments_for(const std::string& folder) {
  Arguments arguments;
  arguments.verb = Verb::reconcile;
  arguments.command_line = "datum selftest";
  arguments.fleet = folder + "/fleet";
  arguments.host = selftest::kHostName;
  arguments.root = folder + "/root";
  arguments.root_given = true;
  arguments.state = folder + "/state";
  arguments.config = folder + "/config";  // none: what --mode says
  arguments.mode = "enforce";
  arguments.allow_removals = kAllowedRemovals;
  return arguments;
}

int run_watched(const std::string& folder, const selftest::CutOrder& order) {
  const auto clock_loop = uv::make_loop(1);
  const auto began = clock_loop->clock().boot_now();
  selftest::CrashPoints points(order, end_here);
  std::atomic<bool> is_recovering = true;
  Instruments instruments;
  instruments.watch_tree = [&](os::Files& files) {
    return selftest::watch_files(files, points, [&is_recovering]() -> std::string_view {
      return is_recovering ? "recovery" : "tree";
    });
  };
  instruments.watch_store = [&](os::Files& files) {
    return selftest::watch_files(files, points, []() -> std::string_view { return "store"; });
  };
  instruments.journal = [&](std::string_view point, const journal::Head& head) {
    if (point == "after append")
      tell("durable " + std::to_string(head.seq) + " " + head.hash.hex());
    points.reach("journal: " + std::string(point));
  };
  instruments.wave = [&](std::string_view point, std::uint32_t) {
    points.reach(point == "deliver"     ? "unit: before delivery"
                 : point == "delivered" ? "unit: after delivery"
                                        : "wave: " + std::string(point));
  };
  instruments.units = selftest::make_kept_unit(folder + "/" + std::string(selftest::kUnitStory));
  instruments.recovered = [&] {
    is_recovering = false;
    tell("recovered " + std::to_string(clock_loop->clock().boot_now().ns - began.ns));
  };
  const int code = watched_pass(arguments_for(folder), instruments);
  for (const auto& [point, count] : points.hits())
    tell("hits " + std::to_string(count) + " " + point);
  return code;
}

}  // namespace

int selftest_pass(const std::string& folder) {
  const auto path = absolute_path(folder);
  const auto order = read_order(path);
  if (!order) return finish(fail(order.error()));
  limit_files(order->file_limit);
  return run_watched(path, *order);
}

}  // namespace datum::program
