// How long a store of a million events takes to open: after an orderly end, after a crash, and
// after a crash as far from a checkpoint as there can be. Prints figures, judges nothing.
// history_bench [EVENTS [RESOURCES]]
#include <stdlib.h>

#include <algorithm>
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

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "history_bench: %s\n", error.message().c_str());
  std::exit(1);
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A process over the store. Ends in order, or as if it had died.
void live(const std::string& folder, std::size_t resources, Seq until, bool in_order) {
  support::SimLoop loop(5);
  simulation::DrivenHost host(loop, resources);
  auto history = history::open_history(loop, folder);
  if (!history) give_up(history.error());
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
    if (const auto settled = host.settle(); !settled) give_up(settled.error());
  }
  if (!in_order) return;
  if (const auto closed = host.close(); !closed) give_up(closed.error());
}

void measure(const std::string& folder, const char* what) {
  double best = 1e9;
  Seq head = 0;
  // The first opening leaves a store that ended in another way, so each takes a copy.
  for (int round = 0; round < 3; ++round) {
    const auto copy = folder + ".copy";
    std::filesystem::remove_all(copy);
    std::filesystem::rename(folder, copy);
    std::filesystem::copy(copy, folder, std::filesystem::copy_options::recursive);
    support::SimLoop loop(5);
    const auto begin = now_ms();
    {
      auto history = history::open_history(loop, copy);
      if (!history) give_up(history.error());
      head = (*history)->state().seq;
      best = std::min(best, now_ms() - begin);
    }
  }
  std::printf("open %-44s %9.1f ms  (head %lu, best of 3)\n", what, best,
              static_cast<unsigned long>(head));
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
  std::printf("%lu events of %zu resources, journal %lu MiB\n", static_cast<unsigned long>(events),
              resources, static_cast<unsigned long>(bytes >> 20U));
  measure(store, "after an orderly end");
  std::filesystem::remove(store + "/journal/clean");
  measure(store, "after a crash, checkpoint at the end");
  live(store, resources, events + history::kCheckpointWhileOpen - 5'000, false);
  measure(store, "after a crash, 95,000 events after a checkpoint");
  std::filesystem::remove_all(folder);
  return 0;
}
