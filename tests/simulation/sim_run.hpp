// One run of a simulated world under one seed, for the tests and for the program `datum-sim`: so
// many acts, then all faults end, and what has to hold then is asked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace datum::simulation {

enum class WorldKind : std::uint8_t { host, mesh };
[[nodiscard]] std::string_view to_string(WorldKind kind);

struct SimRun {
  WorldKind kind = WorldKind::host;
  std::uint64_t seed = 1;
  int acts = 0;           // lives of the host, or acts upon the mesh; 0: as many as usual
  std::size_t hosts = 0;  // of a mesh; 0: as the seed says
};
[[nodiscard]] int usual_acts(WorldKind kind);

// What runs did, added up. A row is a kind of fault, a column where in its life it struck.
struct SimTable {
  std::vector<std::string> rows, columns;
  std::vector<std::vector<std::uint64_t>> hits;
  std::map<std::string, std::uint64_t> seen;  // what else happened → times
  std::uint64_t steps = 0;

  void add(const SimTable& more);
  [[nodiscard]] std::string text() const;
};

struct SimOutcome {
  std::string failure;  // the first thing that was violated; empty: nothing
  std::vector<std::string> story;
  SimTable table;
};
[[nodiscard]] SimOutcome run_world(const SimRun& run);

}  // namespace datum::simulation
