// One host from the production core, history, engine, resource and blobs, over a simulated loop,
// clock, journal disk and file system, under one seed.
//
// Must be survived: the process dying after any callback or before any changing system call; power
// cuts with unsynced writes lost, kept or torn, in the tree and in the journal; a foreign writer
// between passes; a journal or blob disk that fails once; a hold dropped in mid-pass. Need not be
// survived: a foreign writer that changes a file between the last look and its rename (no kernel
// offers that), a disk that lies about a successful sync, damage to what was durable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "datum/core/state.hpp"
#include "datum/engine/pass.hpp"
#include "datum/journal/sim_log.hpp"
#include "support/model_files.hpp"
#include "support/sim_loop.hpp"

namespace datum::simulation {

// What a run did, for its report.
struct Counts {
  std::map<std::string, std::uint64_t> faults;  // kind → times
  std::uint64_t rounds = 0, steps = 0, passes = 0, actions = 0, crashes_in_wave = 0;
};

class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();

  // One life of the process: perhaps a new declaration, perhaps a foreign writer, a pass, perhaps a
  // fault.
  void live_once();
  // No more faults: everything has to converge within two passes, and a third has nothing to do.
  void heal_and_demand();

  // What was violated, in words; the run ends with the first.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Process;
  struct Fault;

  void declare_anew();
  void write_as_foreigner();
  [[nodiscard]] Fault choose_fault();
  void run_pass(core::Mode mode, const Fault& fault);
  void drive(Process& process, const Fault& fault);
  void end(Process& process, const Fault& fault);
  void check_call(support::Call call, std::string_view name);
  void check_journal();
  void check_claims(const core::State& state);
  [[nodiscard]] std::string story_of(const model::Target& target);
  [[nodiscard]] std::vector<std::string> listing();
  [[nodiscard]] std::vector<std::string> leftovers();
  void violate(const std::string& what);
  [[nodiscard]] std::uint64_t draw(std::uint64_t below);
  [[nodiscard]] bool chance(std::uint64_t percent) { return draw(100) < percent; }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  support::ModelFiles files_;
  std::shared_ptr<journal::SimDisk> disk_;
  model::ManifestPtr manifest_;
  std::shared_ptr<ContentSource> contents_;
  Process* process_ = nullptr;
  journal::Reader* reader_ = nullptr;  // while the journal is checked
  bool foreign_since_pass_ = false;
  Id128 boot_;
  std::vector<std::string> violations_;
  Counts counts_;
};

}  // namespace datum::simulation
