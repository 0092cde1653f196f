#include "live_all.hpp"
#include "simulation_seeds.hpp"

using namespace datum::simulation;

TEST_CASE("simulation: one host survives every fault and converges once they end") {
  constexpr int kUsual = 40;  // a few seconds
  auto total = live_all(WorldKind::host, kHostSeeds, kUsual);
  CHECK(total.seen["deaths inside a wave"] > 0);
}
