// Runs of one world as a test case has them: the seeds that failed once, then `usual` new ones.
// DATUM_SEED: one to repeat, with its story. DATUM_SEEDS: how many new ones to take.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <span>

#include "sim_run.hpp"

namespace datum::simulation {

inline SimTable live_all(WorldKind kind, std::span<const std::uint64_t> seeds, int usual) {
  SimTable total;
  const auto live = [&](std::uint64_t seed, bool tell) {
    const auto outcome = run_world({kind, seed});
    if (tell)
      for (const auto& line : outcome.story) std::cout << line << "\n";
    INFO("seed " << seed << "; repeat with DATUM_SEED=" << seed);
    CHECK(outcome.failure == "");
    total.add(outcome.table);
  };
  if (const char* given = std::getenv("DATUM_SEED"); given != nullptr) {
    live(std::strtoull(given, nullptr, 10), true);
  } else {
    for (const auto seed : seeds) live(seed, false);
    std::random_device device;
    const char* count = std::getenv("DATUM_SEEDS");
    const int fresh = count == nullptr ? usual : std::atoi(count);
    for (int i = 0; i < fresh; ++i) live((std::uint64_t{device()} << 16) + 1000, false);
  }
  std::cout << total.text();
  return total;
}

}  // namespace datum::simulation
