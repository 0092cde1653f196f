// What the events so far add up to. `evolve` is the only thing that changes a State, the same live
// and replayed; equal event streams give equal States, and a checkpoint (encoded by codec) plus the
// tail gives what the whole stream gives. Idle cost per resource: one map entry of about 256 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/event.hpp"

namespace datum::core {

struct Acknowledgement {
  Actor actor;
  std::string reason;
  WallNs until;  // 0: without end
  bool operator==(const Acknowledgement&) const = default;
};

// The last that is known of one declared target.
struct ResourceState {
  model::Reference reference;
  Condition condition = Condition::unknown;
  Found found = Found::unseen;
  Digest observation;    // digest of the last recorded observation
  Seq observed_at = 0;   // record that carried it (ResourceObserved or ActionSucceeded)
  PassId seen_in = 0;    // pass of that record
  bool blocked = false;  // in the last pass that acted on it
  bool operator==(const ResourceState&) const = default;
};

struct Owned {
  model::Reference reference;
  bool created = false;  // else adopted
  bool protect = false;
  Seq since = 0;
  Left left;
  std::vector<model::Target> requirements;  // for the order of removal
  bool operator==(const Owned&) const = default;
};

// The failure of a target's action that still stands: a later identical one refers to the first.
struct Failure {
  Seq first = 0;    // record that tells it in full
  PassId pass = 0;  // last pass in which it happened
  Digest digest;    // of (error, message)
  bool operator==(const Failure&) const = default;
};

struct PendingNotification {
  model::Reference service;
  bool restart = false;
  Seq raised_at = 0;     // first
  bool started = false;  // delivery announced and not ended
  bool again = false;    // raised once more since that announcement: stays pending after it
  std::vector<model::Reference> by;
  // Of the last announcement: what was to be done, what the unit said of itself just before, and in
  // which boot.
  bool started_restart = false;
  std::string invocation;
  Id128 boot;
  bool repeated = false;  // announced again, and the unit could not tell of the time before
  bool operator==(const PendingNotification&) const = default;
};

struct AnnouncedState {
  std::uint32_t ordinal = 0;
  ActionKind kind = ActionKind::update;
  model::Target target;
  Found before = Found::absent;
  bool operator==(const AnnouncedState&) const = default;
};

// A file that a dead action left beside its target and that only enforce may remove.
struct Leftover {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  model::Target target;
  bool operator==(const Leftover&) const = default;
};

// A tool or job that an action left running past its limit, and that nobody has seen end.
struct RunningTool {
  PassId pass = 0;
  std::uint32_t ordinal = 0;
  std::string unit;  // of the service manager, or a lock's name
  bool operator==(const RunningTool&) const = default;
};

// The pass that has begun and not ended.
struct PassState {
  PassId id = 0;
  PassStarted started;
  BootNs started_mono;
  Id128 boot;
  Counts counts;
  Digest observations;
  Digest plan;
  PlanCounts planned;
  std::uint32_t waves = 0;
  std::uint32_t succeeded = 0, failed = 0, blocked = 0, skipped = 0, not_started = 0;
  std::map<std::uint32_t, AnnouncedState> open;  // announced, without an end
  std::uint32_t wave_size = 0;                   // actions of the last wave
  std::vector<Phase> phases;                     // by ordinal; what it does not reach is waiting
  bool operator==(const PassState&) const = default;
};

struct LastPass {
  PassId id = 0;
  Seq finished_at = 0;
  PassFinished finished;
  WallNs wall;
  EffectiveMode mode;
  DeclarationId declaration;
  bool operator==(const LastPass&) const = default;
};

// Only observed, whatever is declared: a pass was reverted, or a person said so.
struct Kept {
  std::uint64_t until_generation = 0;
  Digest manifest;  // zero where generations count; else it ends with another manifest
  PassId pass = 0;  // the reverting one; 0: a person's act
  bool operator==(const Kept&) const = default;
};

// When a target was corrected, by both clocks: within one boot only `mono` tells how long ago.
struct Correction {
  WallNs wall;
  BootNs mono;
  Id128 boot;
  bool operator==(const Correction&) const = default;
};
struct Contest {
  std::vector<Correction> corrections;  // newest last; at most kContestedAfter are kept
  bool contested = false;
  bool operator==(const Contest&) const = default;
};
// A target corrected this often within this time is contested (design §4).
inline constexpr std::size_t kContestedAfter = 3;
inline constexpr std::int64_t kContestedWithinNs = 24LL * 3600 * kNsPerSecond;

struct Hold {
  HoldOrigin origin = HoldOrigin::local;
  WallNs until;
  std::string reason;
  Actor actor;
  bool operator==(const Hold&) const = default;
};

struct State {
  Seq seq = 0;  // of the last event that went in
  WallNs wall;  // and when that was, by the clock of then
  Id128 store;
  std::string root, host, source;
  std::string version;  // of the program that opened it last
  bool open = false;    // opened and not closed
  Id128 boot;           // of the last open
  NodeLifecycle lifecycle = NodeLifecycle::unmanaged;
  // Until its orphans, which the list names in ascending order, are decided.
  std::optional<StoreLossDetected> loss;
  WitnessedHead lost;  // the witness that showed the last loss: it shows no other one
  std::optional<DeclarationId> lost_declaration;  // none below it is taken, whoever signed it
  std::optional<Hold> local_hold, link_hold;
  std::optional<DeclarationId> stored, accepted;
  std::string confirmed_version;
  std::optional<RolledBack> rolled_back;  // until another version than those two is confirmed
  std::string reboot_required_by;
  std::optional<PassState> pass;
  std::optional<LastPass> last_pass;  // that finished
  std::optional<PassInterrupted>
      interrupted;       // of the last pass that did not finish, until one does
  Digest last_plan;      // digest of the last recorded plan
  Digest last_declared;  // manifest of the last pass that began and reverted nothing
  std::map<model::Target, ResourceState> resources;
  std::map<model::Target, Owned> owned;
  std::map<model::Target, Owned> orphans;                // of the loss: as the lost store knew them
  std::map<model::Target, PendingNotification> pending;  // by unit
  std::map<model::Target, Acknowledgement> acknowledged;
  std::map<model::Target, Kept> kept;
  std::map<model::Target, Contest> contests;
  std::map<model::Target, Failure> failures;
  // Actions that were running when the process died: they run alone. Value: deaths in a wave of
  // one.
  std::map<model::Target, std::uint32_t> suspects;
  std::map<model::Target, std::uint32_t> quarantined;  // with the number of deaths
  Digest suspected_in;  // manifest of the pass in which the last of these deaths happened
  std::vector<Leftover> leftovers;  // oldest first
  std::map<model::Target, RunningTool> running_tools;
  bool operator==(const State&) const = default;
};

// What the journal knows of an event beside its payload.
struct EventPlace {
  Seq seq = 0;
  WallNs wall;
  BootNs mono;
  Id128 boot;
};

// Never fails: an event that does not fit (which a sound journal cannot hold) changes what it can.
void evolve(State& state, const Event& event, const EventPlace& place);

}  // namespace datum::core
