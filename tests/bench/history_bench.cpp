// How long a store of a million events takes to open for service: after an orderly end, after a
// crash, and after a crash as far from a checkpoint as there can be; with the file in memory, and
// with the file on the disk only, as after a power cut. Prints figures, judges nothing.
// bench-history [EVENTS [RESOURCES]]
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "datum/history/open.hpp"
#include "simulation/driven_host.hpp"
#include "support/sim_loop.hpp"

using namespace datum;

namespace {

constexpr std::size_t kDriftedEach = 200;
constexpr int kRounds = 5;

[[noreturn]] void give_up(const std::string& message) {
  std::fprintf(stderr, "bench-history: %s\n", message.c_str());
  std::exit(1);
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Of this process and of the children that walked for it.
double processor_ms() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    for (const auto& time : {used.ru_utime, used.ru_stime})
      sum += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  }
  return sum;
}

// A process over the store. Ends in order, or as if it had died.
void live(const std::string& folder, std::size_t resources, Seq until, bool in_order) {
  support::SimLoop loop(5);
  simulation::DrivenHost host(loop, resources);
  auto history = history::open_history(loop, folder);
  if (!history) give_up(history.error().message());
  host.use(**history);
  host.begin();
  std::size_t next = 0;
  while ((*history)->state().seq < until) {
    std::vector<std::size_t> drifted;
    for (std::size_t i = 0; i < std::min(kDriftedEach, resources); ++i)
      drifted.push_back((next + i) % resources);
    next += kDriftedEach;
    loop.suspend(300 * kNsPerSecond);
    host.pass(drifted);
    if (const auto settled = host.settle(); !settled) give_up(settled.error().message());
  }
  if (!in_order) return;
  if (const auto closed = host.close(); !closed) give_up(closed.error().message());
}

// The kernel's copy of the file's pages goes; what is measured next reads the disk.
void forget_pages(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::fdatasync(fd) != 0 || ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
    give_up("cannot evict " + file);
  ::close(fd);
}

struct Cost {
  double wall_ms = 0, processor_ms = 0;
};

Cost open_once(const std::string& folder, Seq& head) {
  support::SimLoop loop(5);
  const auto wall = now_ms();
  const auto processor = processor_ms();
  const auto history = history::open_history(loop, folder);
  if (!history) give_up(history.error().message());
  head = (*history)->state().seq;
  return {now_ms() - wall, processor_ms() - processor};
}

void measure(const std::string& folder, const char* what, bool is_cold) {
  const auto data = folder + "/journal/data.mdb";
  const auto mark = folder + "/journal/clean";
  const auto kept = folder + "/clean.kept";
  const bool is_clean = std::filesystem::exists(mark);
  if (is_clean) std::filesystem::copy_file(mark, kept);
  std::array<Cost, kRounds> costs;
  Seq head = 0;
  for (auto& cost : costs) {
    if (is_cold) forget_pages(data);
    cost = open_once(folder, head);
    // Nothing was appended, so the mark is as true as it was.
    if (is_clean) std::filesystem::copy_file(kept, mark);
  }
  std::filesystem::remove(kept);
  std::sort(costs.begin(), costs.end(),
            [](const Cost& a, const Cost& b) { return a.wall_ms < b.wall_ms; });
  std::printf("open %-48s %-9s %8.1f ms (%.1f to %.1f), processor %.1f ms  (head %lu)\n", what,
              is_cold ? "from disk" : "", costs[kRounds / 2].wall_ms, costs.front().wall_ms,
              costs.back().wall_ms, costs[kRounds / 2].processor_ms,
              static_cast<unsigned long>(head));
}

void measure_both(const std::string& folder, const char* what) {
  measure(folder, what, false);
  measure(folder, what, true);
}

}  // namespace

int main(int argc, char** argv) {
  const Seq events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::size_t resources = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
  const char* base = ::getenv("TMPDIR");
  std::string folder = std::string(base != nullptr ? base : "/tmp") + "/datum-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const auto store = folder + "/store";
  live(store, resources, events, true);
  const auto bytes = std::filesystem::file_size(store + "/journal/data.mdb");
  std::printf("%lu events of %zu resources, journal %lu MiB; median of %d (best to worst)\n",
              static_cast<unsigned long>(events), resources,
              static_cast<unsigned long>(bytes >> 20U), kRounds);
  measure_both(store, "after an orderly end");
  std::filesystem::remove(store + "/journal/clean");
  measure_both(store, "after a crash, checkpoint at the end");
  live(store, resources, events + history::kCheckpointWhileOpen - 5'000, false);
  measure_both(store, "after a crash, 95,000 events after a checkpoint");
  std::filesystem::remove_all(folder);
  return 0;
}
