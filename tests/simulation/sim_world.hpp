// One host under one seed: life after life with new declarations, foreign writers and faults, and
// after each life the same questions to its journal and its machine.
//
// Must be survived: the process dying after any callback or before any changing system call, in a
// recovery too; power cuts with unsynced writes lost, kept or torn, in the tree and in the journal;
// any system call failing once, several in one life; a full disk, a full journal, a journal whose
// writes or syncs fail; a hold or a stop in mid-pass; a wall clock that jumps; a foreign writer
// between two jobs of a pass; another version of the host; the loss of the whole store between two
// lives, told once and with nothing forgotten that it owned; the process dying before or after any
// call to the service manager, such calls failing or losing their answer, and somebody who stops,
// starts, enables or disables a unit. A reload or restart that a change owes to a unit is never
// lost, nor told without having happened. Need not be survived: a foreign writer that changes a
// file between the last look and its rename (no kernel offers that), a disk that lies about a
// successful sync, damage to what was durable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim_fleet.hpp"
#include "sim_life.hpp"

namespace datum::simulation {

// What a run did, for its report.
struct Counts {
  std::array<std::array<std::uint64_t, kPhases>, kFaultKinds> hits{};
  std::map<std::string, std::uint64_t> seen;  // what else happened → times
  std::uint64_t lives = 0, steps = 0, deaths_in_wave = 0;
};

class World {
 public:
  explicit World(std::uint64_t seed);

  // One life of the process, before it perhaps a new declaration, a foreign writer or a lost store.
  void live_once();
  // No more faults: everything has to converge within two passes, and a third has nothing to do.
  void heal_and_demand();

  // What was violated, in words; the run ends with the first.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  // What the journal counts of what happened. Once, at the end.
  void count_events();
  // One line a life, for whoever repeats a seed.
  [[nodiscard]] const std::vector<std::string>& story() const { return story_; }

 private:
  // The last that the journal tells of one target.
  struct Word {
    Seq seq = 0;
    bool done = false;  // as `left` says; otherwise nothing is claimed
    core::Left left;
  };
  struct Telling;
  // What the files that units read contain, by path; nothing where none is.
  using Contents = std::map<std::string, std::optional<std::string>>;

  [[nodiscard]] Fault draw_fault(FaultKind kind);
  [[nodiscard]] Order draw_order();
  void before_life();
  void run(Order order);
  void watch(Order& order);
  void write_as_foreigner(bool in_pass);
  void check_call(support::Call call, std::string_view name);
  void check_staged(support::Call call, std::string_view name);
  void check_removal(support::Call call, const std::string& path, core::ActionKind kind);
  void check_step();
  void watch_units(Order& order);
  void check_unit_call(support::UnitCall call, const std::string& name);
  [[nodiscard]] Contents read_contents();
  void note_contents(bool foreign);
  void note_read(const std::string& unit);
  void forget_debts();
  void check_debts(const model::Manifest& manifest);
  void drop_debts(const model::Manifest& manifest);
  void place_reads();
  void check_deliveries(journal::Log& log);
  void check_end(const Life& life);
  void check_journal();
  void check_orphans();
  void check_claims(journal::Log& log, const core::State& state);
  void check_claim(journal::Log& log, const std::string& path, const Word& word);
  [[nodiscard]] bool is_left(const std::string& content, const Digest& left);
  [[nodiscard]] std::vector<std::string> leftovers();
  [[nodiscard]] Seq head();
  void violate(const std::string& what);

  Site site_;
  Foreigner foreigner_;
  model::ManifestPtr manifest_;
  std::string version_ = "1";
  Life* life_ = nullptr;
  std::string tree_;                    // before the callback that runs
  std::map<std::string, Seq> touched_;  // by a foreigner: nothing told until then counts
  bool touched_in_pass_ = false;
  Contents contents_;                                   // as they were at the last look
  std::map<std::string, Contents> last_read_;           // by unit
  std::set<std::pair<std::string, std::string>> owed_;  // unit and path: Datum changed it
  std::map<std::string, std::vector<Seq>>
      reads_;  // by unit: newest record at each start and reload
  std::map<std::string, std::vector<Seq>> asked_;  // of these, those that a delivery asked for
  std::optional<core::State> remembered_;          // of the last life, all of it durable
  core::State state_;                              // as the journal has it
  std::vector<std::string> violations_;
  std::vector<std::string> story_;
  Counts counts_;
};

}  // namespace datum::simulation
