#include "sim_run.hpp"

#include <iomanip>
#include <sstream>

#include "seeded_random.hpp"
#include "sim_mesh.hpp"
#include "sim_world.hpp"

namespace datum::simulation {
namespace {

constexpr int kHostLives = 40, kMeshActs = 60;

template <class Row, std::size_t kRows, class Column, std::size_t kColumns>
SimTable make_table(const std::array<std::array<std::uint64_t, kColumns>, kRows>& hits) {
  SimTable table;
  for (std::size_t row = 0; row < kRows; ++row) {
    table.rows.emplace_back(to_string(static_cast<Row>(row)));
    table.hits.emplace_back(hits[row].begin(), hits[row].end());
  }
  for (std::size_t column = 0; column < kColumns; ++column)
    table.columns.emplace_back(to_string(static_cast<Column>(column)));
  return table;
}

SimOutcome run_host(const SimRun& run, int acts) {
  World world(run.seed);
  for (int i = 0; i < acts && world.violations().empty(); ++i) world.live_once();
  if (world.violations().empty()) world.heal_and_demand();
  world.count_events();
  SimOutcome outcome;
  if (!world.violations().empty()) outcome.failure = world.violations().front();
  outcome.story = world.story();
  const auto& counts = world.counts();
  outcome.table = make_table<FaultKind, kFaultKinds, Phase, kPhases>(counts.hits);
  outcome.table.seen = counts.seen;
  outcome.table.seen["lives"] = counts.lives;
  outcome.table.seen["deaths inside a wave"] = counts.deaths_in_wave;
  outcome.table.steps = counts.steps;
  return outcome;
}

SimOutcome run_mesh(const SimRun& run, int acts) {
  seed_random(run.seed);
  MeshWorld world(run.seed, run.hosts != 0 ? run.hosts : 2 + run.seed % 4);
  for (int i = 0; i < acts && world.violations().empty(); ++i) world.act();
  if (world.violations().empty()) world.heal_and_demand();
  SimOutcome outcome;
  if (!world.violations().empty()) outcome.failure = world.violations().front();
  outcome.story = world.story();
  const auto& counts = world.counts();
  outcome.table = make_table<MeshFault, kMeshFaults, MeshPhase, kMeshPhases>(counts.hits);
  outcome.table.seen = counts.seen;
  outcome.table.seen["simulated hours"] = counts.simulated_s / 3600;
  outcome.table.steps = counts.steps;
  return outcome;
}

}  // namespace

std::string_view to_string(WorldKind kind) {
  return kind == WorldKind::host ? "host" : "mesh";
}

int usual_acts(WorldKind kind) {
  return kind == WorldKind::host ? kHostLives : kMeshActs;
}

void SimTable::add(const SimTable& more) {
  if (rows.empty()) {
    *this = more;
    return;
  }
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t column = 0; column < columns.size(); ++column)
      hits[row][column] += more.hits[row][column];
  for (const auto& [what, count] : more.seen) seen[what] += count;
  steps += more.steps;
}

std::string SimTable::text() const {
  constexpr int kFirst = 16, kOther = 12;
  std::ostringstream out;
  out << steps << " steps\n";
  for (const auto& [what, count] : seen) out << "  " << what << ": " << count << "\n";
  out << std::left << std::setw(kFirst) << "fault";
  for (const auto& column : columns) out << std::right << std::setw(kOther) << column;
  out << "\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    out << std::left << std::setw(kFirst) << rows[row];
    for (const auto count : hits[row]) out << std::right << std::setw(kOther) << count;
    out << "\n";
  }
  return out.str();
}

SimOutcome run_world(const SimRun& run) {
  const int acts = run.acts != 0 ? run.acts : usual_acts(run.kind);
  return run.kind == WorldKind::host ? run_host(run, acts) : run_mesh(run, acts);
}

}  // namespace datum::simulation
