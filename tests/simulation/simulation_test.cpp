#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "sim_world.hpp"

using namespace datum;

// Seeds that failed once stay here for ever.
static constexpr std::uint64_t kSeeds[] = {1, 2, 3, 5, 8, 13, 21, 34};

static void live(std::uint64_t seed, int rounds, simulation::Counts& total) {
  simulation::World world(seed);
  for (int round = 0; round < rounds && world.violations().empty(); ++round) world.live_once();
  if (world.violations().empty()) world.heal_and_demand();
  INFO("seed " << seed << "; repeat with DATUM_SEED=" << seed);
  const auto first = world.violations().empty() ? std::string() : world.violations().front();
  CHECK(first == "");
  total.rounds += world.counts().rounds;
  total.steps += world.counts().steps;
  total.passes += world.counts().passes;
  total.actions += world.counts().actions;
  total.crashes_in_wave += world.counts().crashes_in_wave;
  for (const auto& [kind, count] : world.counts().faults) total.faults[kind] += count;
}

TEST_CASE("simulation: one host survives every fault and converges once they end") {
  simulation::Counts total;
  // DATUM_SEED: one seed to repeat, or "fresh" for a dozen new ones.
  const char* given = std::getenv("DATUM_SEED");
  const std::string wanted = given == nullptr ? "" : given;
  if (wanted.empty()) {
    for (const auto seed : kSeeds) live(seed, 40, total);
  } else if (wanted != "fresh") {
    live(std::strtoull(given, nullptr, 10), 40, total);
  } else {
    std::random_device device;
    for (int i = 0; i < 12; ++i) live((std::uint64_t{device()} << 16) + 1000, 40, total);
  }
  std::cout << total.rounds << " lives, " << total.steps << " steps, " << total.passes
            << " passes ended, " << total.actions << " actions, " << total.crashes_in_wave
            << " deaths inside a wave\n";
  for (const auto& [kind, count] : total.faults) std::cout << "  " << kind << ": " << count << "\n";
  CHECK(total.crashes_in_wave > 0);
}
