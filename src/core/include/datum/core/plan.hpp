// From observations to an ordered plan, and from a plan to waves. Pure: same manifest, observations
// and ownership give the same plan byte for byte, in observe and in enforce, in whatever order they
// come.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datum/core/observation.hpp"
#include "datum/model/manifest.hpp"

namespace datum::core {

struct State;
struct Reversal;

// Numbers are stored.
enum class ActionKind : std::uint8_t {
  create = 1,
  update = 2,
  replace = 3,  // another type in its place
  remove = 4,   // `state: absent`
  purge = 5,    // an undeclared entry of a purged directory
  leave = 6,    // a target that left the declaration and that Datum created: removed
  release = 7,  // a target that left the declaration and is left alone
  adopt = 8,    // found as declared, owned from now on; nothing on the machine changes
  rename = 9,   // same target, other document name; nothing on the machine changes
};
[[nodiscard]] std::string_view to_string(ActionKind kind);
// Whether it removes something under the brake (purge, leave); `state: absent` is not counted.
[[nodiscard]] bool is_braked_removal(ActionKind kind);
// Whether it changes the machine (not release, adopt, rename).
[[nodiscard]] bool is_mutating(ActionKind kind);

struct Action {
  std::uint32_t ordinal = 0;  // place in the plan, from 0
  ActionKind kind = ActionKind::update;
  model::Target target;
  model::Reference reference;  // purge: of the Directory; leave, release: the last known one
  std::vector<FieldDrift> changes;
  std::vector<std::uint32_t> after;  // ordinals that must have succeeded first; ascending
  std::vector<model::Reference>
      blocked_on;             // required resources that are drifted and only observed, or unknown
  bool repeatable = true;     // may share a wave
  bool observe_only = false;  // by policy or by the local list
  bool privileged = false;    // account or privilege change: stands first, marked
  std::uint64_t staged_bytes = 0;  // new content
  std::string refusal;  // why it will fail, known beforehand: "type conflict: …", "brake: …"
  std::string note;     // for people: why it is released, what is in the way
  Found found = Found::unseen;  // before
  Identity identity;            // before; not part of the plan's digest
};

// A notification that this plan's actions would raise.
struct PlannedNotification {
  model::Reference service;
  bool restart = false;  // else reload
  std::vector<model::Reference> by;
  bool observe_only = false;  // of the Service: it stays pending
};

struct Brake {
  std::uint32_t removals = 0;
  std::uint32_t owned = 0;
  std::uint32_t allowed = 0;
  bool engaged = false;  // all braked removals of the plan are refused
};

struct PlanCounts {
  std::uint32_t create = 0, update = 0, replace = 0, remove = 0, purge = 0, leave = 0, release = 0,
                adopt = 0, refused = 0, blocked = 0, restarts = 0, reloads = 0;
  bool operator==(const PlanCounts&) const = default;
};

struct Plan {
  std::vector<Action> actions;
  std::vector<PlannedNotification> notifications;
  Brake brake;
  PlanCounts counts;

  [[nodiscard]] bool empty() const { return actions.empty() && notifications.empty(); }
};

// Removals of one pass (design §3): more than `max`, or more than `share_percent` of what is owned
// where at least `share_from` are owned.
struct RemovalLimits {
  std::uint32_t max = 10;
  std::uint32_t share_percent = 20;
  std::uint32_t share_from = 10;
  std::uint32_t allowed = 0;  // --allow-removals
};

struct PlanInput {
  const model::Manifest* manifest = nullptr;
  std::span<const Observation> observations;  // any order, one per resource of the manifest
  std::span<const LeavingObservation> leaving;
  const State* state = nullptr;                // owned, kept
  std::vector<model::Reference> observe_list;  // resources held in observe by agent.yaml; sorted
  std::vector<model::Reference> protect_list;  // never removed, says agent.yaml; sorted
  RemovalLimits limits;
  // Of a reverting pass, whose manifest declares what was there before; then every removal counts
  // for the brake, nothing is kept, and `leaving` has one look at each target that it names, sorted
  // by target.
  const Reversal* reversal = nullptr;
};
[[nodiscard]] Plan compute_plan(const PlanInput& input);

// Where one action of the running pass stands.
enum class Phase : std::uint8_t {
  waiting = 0,
  announced = 1,
  succeeded = 2,
  failed = 3,
  blocked = 4,
  skipped = 5,
  not_started = 6,
};

// What became of one action of a pass, for reports.
struct Outcome {
  Phase phase = Phase::waiting;
  std::string message;  // why it failed, is blocked, was skipped or not begun
  std::string output;   // of a tool or validator, bounded and redacted
};

// What became of one notification in a pass, for reports.
enum class NotificationEnd : std::uint8_t { pending, delivered, failed, dropped };
[[nodiscard]] std::string_view to_string(NotificationEnd end);
struct NotificationOutcome {
  model::Target unit;
  model::Reference service;
  bool restart = false;
  std::vector<model::Reference> by;
  NotificationEnd end = NotificationEnd::pending;
  bool repeated = false;  // an earlier delivery may have happened too
  std::string message;    // why it is pending, failed or was dropped
};

// Limits of a wave, measured so that it ends within 30 s on a slow disk (design §5).
struct WaveLimits {
  std::uint32_t actions = 2048;
  std::uint64_t staged_bytes = 64ULL * 1024 * 1024;
};
// The next actions to run together: mutating, `waiting`, not refused, not blocked, not
// observe-only, all of `after` succeeded; no two depend on each other by reference, notification or
// parent folder. A non-repeatable action is alone, but all packages that can run now go together,
// as one transaction. Empty when nothing is left that can run. `phases` may be shorter than the
// plan: what it does not reach is waiting.
[[nodiscard]] std::vector<std::uint32_t> next_wave(const Plan& plan, std::span<const Phase> phases,
                                                   const WaveLimits& limits = {});

}  // namespace datum::core
