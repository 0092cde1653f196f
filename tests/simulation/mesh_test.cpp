#include "live_all.hpp"
#include "simulation_seeds.hpp"

using namespace datum::simulation;

TEST_CASE("simulation: a mesh survives every fault, and all nodes come to the newest declaration") {
  constexpr int kUsual = 15;  // a few seconds
  auto total = live_all(WorldKind::mesh, kMeshSeeds, kUsual);
  CHECK(total.seen["passes converged"] > 0);
}
