// Simulated worlds one after the other, until enough steps were made, time is over, or one fails:
// the seeds that failed once, then new ones. A run that fails is told with the fewest acts with
// which it still does, and the command that repeats it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "datum/program/session.hpp"
#include "sim_run.hpp"
#include "simulation_seeds.hpp"

namespace datum::simulation {
namespace {

constexpr std::uint64_t kUsualSteps = 1'000'000;
constexpr const char* kUsage =
    "usage: datum-sim [--world host|mesh] [--seed N [--acts N]] [--hosts N] [--steps N]\n"
    "                 [--seconds N] [--until-failure] [--trace]\n"
    "  --world          only these; otherwise both in turn\n"
    "  --seed, --acts   one run; its acts (lives of the host, what happens to the mesh)\n"
    "  --hosts          nodes of a mesh, 1 to 100; otherwise 2 to 5\n"
    "  --steps          of all loops together, then it ends (1,000,000)\n"
    "  --seconds        then it ends, however many steps those were\n"
    "  --until-failure  goes on until a run fails\n"
    "  --trace          tells what happened in each run\n"
    "exit: 0 nothing was violated, 1 something was, 2 wrong arguments\n";

struct Options {
  std::optional<WorldKind> world;
  std::optional<std::uint64_t> seed;
  std::uint64_t acts = 0, hosts = 0, steps = 0, seconds = 0;
  bool until_failure = false, trace = false;
};

std::optional<std::uint64_t> find_number(const std::string& text) {
  if (text.empty() || text.size() > 19) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return std::stoull(text);
}

// Nothing where one of them is not understood.
std::optional<Options> read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto& word = words[at];
    if (word == "--until-failure" || word == "--trace") {
      (word == "--trace" ? options.trace : options.until_failure) = true;
      continue;
    }
    if (at + 1 == words.size()) return std::nullopt;
    const auto& value = words[++at];
    if (word == "--world" && (value == "host" || value == "mesh")) {
      options.world = value == "host" ? WorldKind::host : WorldKind::mesh;
      continue;
    }
    const auto number = find_number(value);
    if (!number) return std::nullopt;
    if (word == "--seed")
      options.seed = *number;
    else if (word == "--acts" && *number >= 1 && *number <= 100'000)
      options.acts = *number;
    else if (word == "--hosts" && *number >= 1 && *number <= 100)
      options.hosts = *number;
    else if (word == "--steps")
      options.steps = *number;
    else if (word == "--seconds")
      options.seconds = *number;
    else
      return std::nullopt;
  }
  return options;
}

class Simulation {
 public:
  explicit Simulation(Options options) : options_(options) {}

  int run() {
    if (options_.seed) {
      run_one(options_.world.value_or(WorldKind::mesh), *options_.seed);
    } else {
      for (const auto seed : kHostSeeds) offer(WorldKind::host, seed);
      for (const auto seed : kMeshSeeds) offer(WorldKind::mesh, seed);
      std::random_device device;
      for (bool is_mesh = false; !is_over(); is_mesh = !is_mesh)
        offer(is_mesh ? WorldKind::mesh : WorldKind::host, std::uint64_t{device()} << 16U);
    }
    for (const auto kind : {WorldKind::host, WorldKind::mesh})
      if (const auto& table = tables_[kind]; !table.rows.empty())
        std::cout << "\n" << to_string(kind) << ": " << table.text();
    std::cout << "\n"
              << runs_ << " runs, " << steps() << " steps, " << failures_ << " violations\n";
    return failures_ == 0 ? 0 : 1;
  }

 private:
  void offer(WorldKind kind, std::uint64_t seed) {
    if (!is_over() && options_.world.value_or(kind) == kind) run_one(kind, seed);
  }
  [[nodiscard]] std::uint64_t steps() {
    return tables_[WorldKind::host].steps + tables_[WorldKind::mesh].steps;
  }
  [[nodiscard]] bool is_over() {
    if (options_.until_failure) return failures_ != 0;
    const auto spent = std::chrono::steady_clock::now() - began_;
    if (options_.seconds != 0 && spent >= std::chrono::seconds(options_.seconds)) return true;
    if (options_.seconds != 0 && options_.steps == 0) return false;
    return steps() >= (options_.steps != 0 ? options_.steps : kUsualSteps);
  }
  void run_one(WorldKind kind, std::uint64_t seed) {
    const SimRun run{kind, seed, static_cast<int>(options_.acts), options_.hosts};
    const auto outcome = run_world(run);
    ++runs_;
    tables_[kind].add(outcome.table);
    if (options_.trace)
      for (const auto& line : outcome.story) std::cout << line << "\n";
    if (outcome.failure.empty()) return;
    ++failures_;
    tell_failure(run, outcome.failure);
  }
  // An act changes what comes after it, so that fewer of them may fail or not: all are tried.
  static void tell_failure(SimRun run, const std::string& failure) {
    const int all = run.acts != 0 ? run.acts : usual_acts(run.kind);
    std::cout << "failed: " << to_string(run.kind) << " seed " << run.seed << ", commit "
              << program::program_version() << ": " << failure << std::endl;
    std::string shortest = failure;
    for (run.acts = 1; run.acts < all; ++run.acts)
      if (const auto outcome = run_world(run); !outcome.failure.empty()) {
        shortest = outcome.failure;
        break;
      }
    std::cout << "shortest: " << run.acts << " of " << all << " acts: " << shortest << "\n"
              << "repeat: datum-sim --world " << to_string(run.kind) << " --seed " << run.seed
              << " --acts " << run.acts;
    if (run.hosts != 0) std::cout << " --hosts " << run.hosts;
    std::cout << " --trace" << std::endl;
  }

  const Options options_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::map<WorldKind, SimTable> tables_;
  std::uint64_t runs_ = 0, failures_ = 0;
};

}  // namespace
}  // namespace datum::simulation

int main(int argc, char** argv) {
  using namespace datum::simulation;
  const auto options = read_options({argv + 1, argv + argc});
  if (!options) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  Simulation simulation(*options);
  return simulation.run();
}
