// Commands in, events out. Pure: time, ids, digests and observations come in with the command. A
// refusal is an Error with code `refused` (or `conflict`) and changes nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "datum/core/node_command.hpp"
#include "datum/core/reversal.hpp"
#include "datum/core/state.hpp"
#include "datum/core/witness.hpp"

namespace datum::core {

// A damaged store that somebody moved to `moved_to`.
struct SetAsideStore {
  std::string moved_to, problem;
};
// A new store: bound to one root, host name and source for its life. It begins with saying what was
// set aside before it, and which one it takes the place of, in the same append.
struct CreateStore {
  Id128 store;
  std::string root, host, source, version;
  std::vector<SetAsideStore> after = {};
  std::optional<LostStore> lost = {};
};
// The store that was opened is not the one that its witness knows. What that one owned and this one
// does not is orphaned, until it is declared or somebody decides.
struct RecordLoss {
  LostStore lost;
};
// What becomes of orphans of a lost store. `adopt`: they stay, owned as if they had been found.
// `remove`: owned as the lost store knew them, so that the next pass does with them what it does
// with whatever left the declaration. Refused for what is no orphan.
enum class OrphanDecision : std::uint8_t { adopt, remove };
[[nodiscard]] std::string_view to_string(OrphanDecision value);
struct DecideOrphans {
  std::vector<model::Target> targets;
  OrphanDecision decision = OrphanDecision::adopt;
  Actor actor;
};
// `boot` tells a crash from a reboot. Refused if the store is bound to another root or host. Where
// `now` (0: untold) is clearly before the newest record, that the clock was set back is said too.
struct OpenStore {
  Id128 boot;
  std::string version, root;
  std::string host;
  WallNs now = {};
};
// A clock that is kept in step is corrected by less than this.
inline constexpr std::int64_t kClockSlackNs = 10 * kNsPerSecond;
struct CloseStore {
  std::string reason;
};

// What the service tells of its own life. A lifecycle that is so already, a mode that has not
// changed and a version that is confirmed already append nothing.
struct ChangeLifecycle {
  NodeLifecycle to = NodeLifecycle::unmanaged;
  std::string cause;
  Actor actor;
};
struct ChangeMode {
  EffectiveMode from, to;
  Actor actor;
};
// The configuration that stands in the file is not the one in force. Line 0: not known.
struct RejectConfig {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string problem;  // bounded
};
// This version of the program started and finished `pass`.
struct ConfirmVersion {
  std::string version;
  PassId pass = 0;
};
// The program that is installed is another one than the one that runs.
struct RecordUpgradePending {
  std::string from, to;
};
// The service manager put the version `to` back in the place of `from`. Told once.
struct RecordRolledBack {
  std::string from, to;
  std::string cause;  // bounded
};

// Records could not be kept for a while: `dropped` events of that time are told by nobody.
struct RecordUnwritable {
  std::string problem;
  std::int32_t sys_errno = 0;
  std::uint64_t dropped = 0;
};
// The records `from` to `to` lie in `file`, synced and read back, and may go; `head` is the hash of
// the last of them. What they add up to is the durable checkpoint `state` at `through`. Refused
// while a pass runs, and for a range that does not end before the checkpoint.
struct RecordArchive {
  Seq from = 0, to = 0;
  std::string file;
  Digest head;
  Seq through = 0;
  Digest state;
};

// Refused: another pass has begun and not ended (`busy`); an empty manifest that is not final; a
// store with an accepted declaration and a manifest that is not it (bound store). The last two do
// not concern a reverting pass, which declares nothing.
struct StartPass {
  PassStarted started;
  bool manifest_empty = false, manifest_final = false, foreign_manifest = false;
};
// One observation per resource of the pass's manifest, in any order. Appends ResourceObserved for
// those whose digest differs from the last recorded one, in order of reference, and
// ResourcesForgotten for those that no document declares any more. Refused in a reverting pass: its
// manifest is no declaration to be measured against.
struct RecordObservations {
  std::span<const Observation> observations;  // borrowed while the command is decided
  bool partial = false;  // a second look at some resources of the pass: nothing is forgotten
};
// Appends PlanComputed, but only if the plan is not empty and its digest differs from the last
// recorded one; otherwise PassFinished tells the digest. The summary of the observations is told by
// PassFinished alone, the same in observe and in enforce.
struct RecordPlan {
  Digest digest;  // zero when empty
  PlanCounts counts;
  bool empty = true;
  Digest observations;  // digest over all observations of the pass
};

// The wave is about to run: its announcement (several records of bounded size if it is large).
struct AnnounceWave {
  Digest plan;
  std::vector<AnnouncedAction> actions;
};

// What a failed action left of its target: only what a look after the failure showed.
struct Remains {
  Left left;
  std::optional<Traces> traces;
  // Nothing was there before, and the very step of this action that makes it is known to have
  // succeeded: that something is there now says nothing of who made it.
  bool made = false;
};

// How one announced action ended.
struct ActionResult {
  std::uint32_t ordinal = 0;
  bool skipped = false;        // changed since it was observed; `message` says how
  std::optional<Error> error;  // failed
  std::string output;          // of a tool, bounded and redacted
  Observation after;           // of a success (also where it shows that drift remains)
  Left left;                   // of a success
  bool atomic = true;
  std::int64_t duration_ns = 0;
  std::optional<Traces> traces;  // of what a success left
  Digest failure;                // digest of (code, message), to find an identical earlier one
  // Failed or skipped, and a file of its own lies beside its target, or may after a power cut.
  bool temporary_left = false;
  bool old_content_not_kept = false;
  std::uint64_t old_size = 0;
  std::string message;
  // Failed, and the target was changed all the same, or may have been: who is to be told is told.
  bool changed = false;
  std::optional<Remains> remains;  // then, where it could be looked at
  // With an error: its tool is past its limit and was not killed, and goes on under this name.
  std::string still_running;
};
// Ends the announced actions; appends succeeded/failed/skipped, ownership changes, raised
// notifications (in the same batch as their cause) and `blocked` for every action that now cannot
// run, with the chain.
struct RecordResults {
  std::shared_ptr<const Plan> plan;
  const model::Manifest* manifest = nullptr;
  std::vector<ActionResult> results;
  WallNs now;
  BootNs mono;
  std::shared_ptr<const Reversal> reversal = nullptr;  // of a reverting pass
};
// Actions that need no effect: adopt, release, rename. Enforce only. One batch.
struct RecordOwnership {
  std::shared_ptr<const Plan> plan;
  const model::Manifest* manifest = nullptr;
  std::span<const Observation> observations;  // borrowed while the command is decided
};
// Of a reverting pass, enforce only: targets that are as they were before already. Nothing is done
// to them; they are kept like those that were undone.
struct RecordUndone {
  std::shared_ptr<const Reversal> reversal;
  std::vector<model::Target> targets;
};
// What cannot run from the start: refused (ActionFailed, once, then `same_as`), blocked on a
// drifted resource that is only observed (ActionBlocked).
struct RecordRefusals {
  std::shared_ptr<const Plan> plan;
  std::vector<Digest> failures; /* by ordinal */
};
struct RecordNotStarted {
  std::vector<std::uint32_t> ordinals;
  std::string reason;
};

// `condition`, `flags` and `counts` are computed by decide from the state (status.hpp). Refused
// while an announced action has no end.
struct FinishPass {
  Digest observations;  // digest over all observations of the pass
  WallNs now;
  BootNs mono;
  std::uint32_t extra_flags = 0;  // StatusFlag bits that are no facts of the store: degraded, …
  Digest plan;                    // of this pass; zero when it was empty
  PlanCounts planned;
  std::uint32_t observed_only = 0;          // resources held in observe by policy or local list
  std::uint32_t observed_only_drifted = 0;  // of these, drifted
};
// Refused while an announced action has no end: RecordRecovery comes first. `crash` and `reboot`
// are told apart here, by the boot in which the pass began.
struct InterruptPass {
  Interruption cause = Interruption::crash;
  std::string detail;
};

// After a crash: what a look at the machine says about each action that was announced and has no
// end.
struct RecoveredAction {
  std::uint32_t ordinal = 0;
  RecoveredOutcome outcome = RecoveredOutcome::untellable;
  Left left;
  bool temporary_left = false;
  std::optional<Traces> traces = std::nullopt;  // of what is there now
  // Its tool was waited for up to its limit and goes on under this name; then nothing can be told.
  std::string still_running = {};
  // A target that only tools make is there, and is what the first of them makes of it as declared:
  // all that is missing is what later ones do.
  bool begun = false;
};
// A tool or job of an announced action without an end was found running after a death, and is
// waited for.
struct RecordToolAdopted {
  std::uint32_t ordinal = 0;
  std::string unit;
};
// One that was left running past its limit has ended. Refused if none was left for that target.
struct RecordToolEnded {
  model::Target target;
  RecoveredOutcome outcome = RecoveredOutcome::untellable;
};
struct RecordRecovery {
  std::vector<RecoveredAction> actions;
  const model::Manifest* manifest = nullptr;  // of that pass or a later one: for its notifications
  const Reversal* reversal = nullptr;         // of a reverting pass, where known
  // Of that pass, where its manifest is not at hand: whom it would have told of what it changed.
  const Plan* plan = nullptr;
};

// Files of dead actions that an earlier recovery left, and that are gone now, durably.
struct RecordCleaned {
  std::vector<Leftover> gone;
};

struct SetHold {
  HoldOrigin origin = HoldOrigin::local;
  WallNs until;
  std::string reason;
  Actor actor;
};
struct LiftHold {
  HoldOrigin origin = HoldOrigin::local;
  Actor actor;
};
// A drift is known: by whom, why, until when (0: without end). Again: the last one counts.
struct Acknowledge {
  model::Target target;
  Actor actor;
  std::string reason;  // bounded
  WallNs until;
};
// Refused if the target is not acknowledged. The reason is why it was lifted.
struct LiftAcknowledgement {
  model::Target target;
  Actor actor;
  std::string reason;
};

// Notifications. A delivery is announced before the unit is asked and ends with what came of it.
// Refused if nothing is pending for the unit.
struct StartDelivery {
  model::Target unit;
  std::string invocation;  // what the unit said of itself before the call, to tell later whether it
                           // took effect
  // An earlier one has no end and the unit cannot tell whether it took effect: the end will say
  // that it was repeated. Else `conflict`.
  bool repeats = false;
};
struct RecordDelivery {
  model::Target unit;
  bool restart = false;        // what was done: a restart serves a pending reload too
  bool repeated = false;       // beside what the state knows of it
  std::optional<Error> error;  // failed: it stays pending
};
struct DropNotification {
  model::Target unit;
  std::string reason;
};
// Only observed until that generation is accepted, or where `manifest` is given until another one
// is enforced; generation 0 lifts it. Refused for what is neither declared nor owned, and for
// lifting what is not kept.
struct KeepTarget {
  model::Target target;
  std::uint64_t until_generation = 0;
  Digest manifest = {};
  Actor actor = {};
  PassId pass = 0;  // the reverting one for which it is; 0: a person's act
};
// `--retry`: a quarantined action may run again, alone, its deaths counted anew. Else refused.
struct LiftQuarantine {
  model::Target target;
};

// What a look at the machine says of a restart that it waits for: what asks for it, in words, empty
// if nothing does. Appends RebootRequired where that is news, without a word where nothing asks any
// more; RebootSeen is for another boot alone, by which the state forgets what asked (OpenStore).
struct RecordReboot {
  std::string required_by;
};

using Command = std::variant<
    CreateStore, OpenStore, CloseStore, RecordUnwritable, RecordArchive, StartPass,
    RecordObservations, RecordPlan, AnnounceWave, RecordResults, RecordOwnership, RecordRefusals,
    RecordNotStarted, FinishPass, InterruptPass, RecordRecovery, SetHold, LiftHold, Acknowledge,
    LiftAcknowledgement, StartDelivery, RecordDelivery, DropNotification, KeepTarget,
    LiftQuarantine, RecordCleaned, RecordUndone, RecordToolAdopted, RecordToolEnded,
    ChangeLifecycle, ChangeMode, RejectConfig, ConfirmVersion, RecordUpgradePending,
    RecordRolledBack, RecordReboot, RecordKeyCreated, RequestEnrolment, RecordEnrolment,
    RefuseEnrolment, RecordCertificate, ReceiveDeclaration, StoreDeclaration, AcceptDeclaration,
    RejectDeclaration, RecordLinkUp, RecordLinkDown, RecordLinkPairs, RecordLoss, DecideOrphans>;

[[nodiscard]] Result<std::vector<Event>> decide(const State& state, const Command& command);

}  // namespace datum::core
