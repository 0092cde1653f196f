// One life of the host's process: the production core, history, engine, resource and blobs over a
// modelled machine, from opening the store to its orderly end or its death. Owns what dies with the
// process; the machine outlives it. Knows faults and when they strike; decides nothing about them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "datum/core/state.hpp"
#include "datum/engine/pass.hpp"
#include "datum/journal/sim_log.hpp"
#include "support/model_files.hpp"
#include "support/model_units.hpp"
#include "support/sim_loop.hpp"

namespace datum::simulation {

inline constexpr const char* kStore = "/var/lib/datum";

// A machine between two lives.
struct Site {
  explicit Site(std::uint64_t seed);
  [[nodiscard]] std::uint64_t draw(std::uint64_t below) {
    return below == 0 ? 0 : random() % below;
  }
  [[nodiscard]] bool chance(std::uint64_t percent) { return draw(100) < percent; }
  // A journal as the next process finds it; nothing holds it.
  [[nodiscard]] Result<std::unique_ptr<journal::Log>> open_journal();
  void unlock_journal();
  // Somebody removes the store's folder, journal and all; its witness stays.
  void lose_store();
  void cut_power();
  void sync_store_name();

  std::uint64_t seed;
  std::uint64_t stores_lost = 0;  // each store has an id of its own
  std::mt19937_64 random;
  support::ModelFiles files;
  support::ModelUnits units;
  std::shared_ptr<journal::SimDisk> disk;
  std::int64_t wall_offset_ns = 0;
  Id128 boot;
  // Of the store that was lost last: it lies elsewhere, and outlives the power.
  std::shared_ptr<const core::Witness> witness;
};

enum class FaultKind : std::uint8_t {
  kill,           // after a callback, or before a changing call
  power_cut,      // the same, and what was not synced is lost, kept or torn
  call_fails,     // one call of one class, with an errno
  disk_full,      // of the tree and the blobs
  journal_write,  // one write of the journal's disk fails
  journal_sync,
  journal_full,
  hold,  // dropped in mid-pass
  stop,  // asked for, as by a signal
  clock_jump,
  foreign_writer,  // in mid-pass; between two of Datum's calls, never inside one of its jobs
  unit_death,      // before or right after a call that changes a unit; perhaps with the power
  unit_fails,      // one call to the service manager, refused or with its answer lost
};
inline constexpr std::size_t kFaultKinds = 13;
[[nodiscard]] std::string_view to_string(FaultKind kind);

// Where in its life a process is.
enum class Phase : std::uint8_t {
  opening,
  recovery,
  observing,  // and planning, keeping old content
  announcing,
  applying,
  recording,  // between waves
  ending,
};
inline constexpr std::size_t kPhases = 7;
[[nodiscard]] std::string_view to_string(Phase phase);

struct Fault {
  FaultKind kind = FaultKind::kill;
  std::optional<Phase> phase;       // at its first step there; the counts below begin then
  std::uint64_t after_steps = 0;    // of the loop
  std::uint64_t after_changes = 0;  // kill, power cut: before this changing call; 0: by steps
  support::Call call = support::Call::sync;
  std::uint64_t nth = 1;  // call, write or sync
  int sys_errno = 5;
  std::int64_t by_ns = 0;  // clock jump
  bool after = false;      // of a unit's call: it had its effect
  bool power = false;      // unit_death: the machine goes, too
};

// What a life is to do, and who watches.
struct Order {
  model::ManifestPtr manifest;
  core::Mode mode = core::Mode::enforce;
  std::string version = "1";
  bool retry = false;
  bool closes = true;    // in order, after its pass
  bool decides = false;  // orphans of a lost store are to be removed
  bool pushed = false;   // the manifest is kept, as that of a pushed declaration
  PassId undo = 0;       // not the manifest is carried out: this pass is undone
  std::vector<Fault> faults;
  resource::CrashPoint crash_point;

  std::function<void(support::Call, std::string_view)> on_call;  // before each call
  std::function<void(support::UnitCall, std::string_view)>
      on_unit_call;  // before each that changes
  std::function<void(support::UnitCall, std::string_view)> on_unit_done;  // had its effect
  std::function<void()> on_step;                                          // after each callback
  std::function<void()> on_foreign_writer;
  std::function<void(FaultKind)> on_strike;
};

class Life {
 public:
  Life(Site& site, Order order);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // To its end, orderly or not. What is wrong with it as such, in words; empty if nothing is.
  [[nodiscard]] std::string run();

  // While it runs and after it ended, until this object goes.
  [[nodiscard]] Phase phase() const;
  [[nodiscard]] bool has_store() const { return store_.history != nullptr; }
  [[nodiscard]] const core::State& state() const { return store_.history->state(); }
  // Everything that the state tells is durable.
  [[nodiscard]] bool all_durable() const;
  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] bool died() const { return died_; }
  [[nodiscard]] std::uint64_t steps() const { return loop_.steps(); }
  [[nodiscard]] const std::optional<Result<engine::PassReport>>& report() const { return report_; }

 private:
  void before_call(support::Call call, std::string_view name);
  [[nodiscard]] std::optional<Error> at_unit_call(support::UnitCall call, std::string_view name,
                                                  bool after);
  [[nodiscard]] Status open();
  void make_conductor();
  [[nodiscard]] engine::PassRequest make_request();
  [[nodiscard]] bool decide_orphans();
  [[nodiscard]] loop::Task<bool> live();
  void plant();
  void plant_in_journal(const Fault& fault);
  void begin_due(std::uint64_t step);
  void strike_now(const Fault& fault);
  [[nodiscard]] bool is_dead(std::uint64_t step);
  [[nodiscard]] bool drive();
  void close();
  void die();
  void notice_journal();
  void strike(FaultKind kind);

  Site& site_;
  Order order_;
  support::SimLoop loop_;
  std::shared_ptr<const ContentSource> content_;
  os::Handle root_;
  std::unique_ptr<os::Accounts> accounts_;
  std::shared_ptr<resource::Machine> machine_;
  engine::Store store_;
  std::unique_ptr<engine::Conductor> conductor_;
  std::optional<loop::Task<bool>> task_;
  std::optional<Result<engine::PassReport>> report_;
  std::vector<std::uint64_t> calls_left_;  // by fault, until it strikes
  std::vector<bool> begun_;                // by fault: its counts run, or it struck
  bool is_struck_dead_ = false;
  bool recovered_ = false;
  bool held_ = false;
  bool died_ = false;
  bool died_at_unit_ = false;
  bool power_cut_ = false;
  bool journal_failed_ = false;
  bool ended_ = false;
};

}  // namespace datum::simulation
