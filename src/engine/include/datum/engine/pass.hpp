// One pass over one manifest: observe → diff → plan → (apply → verify), every step decided by core
// and appended before its effect is let out. Observe and enforce are the same code up to the plan.
// Runs on the loop; looks and acts on the pool; never touches the journal's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/decide.hpp"
#include "datum/core/status.hpp"
#include "datum/engine/store.hpp"
#include "datum/engine/undoing.hpp"
#include "datum/loop/task.hpp"
#include "datum/resource/observer.hpp"
#include "datum/resource/wave.hpp"

namespace datum::engine {

// Asked to end a pass at the next boundary of a wave, with the words that are recorded.
class StopRequest {
 public:
  void stop(std::string reason, core::Interruption cause = core::Interruption::stop) {
    reason_ = std::move(reason);
    cause_ = cause;
  }
  [[nodiscard]] bool stopped() const { return !reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] core::Interruption cause() const { return cause_; }

 private:
  std::string reason_;
  core::Interruption cause_ = core::Interruption::stop;
};

struct PassRequest {
  model::ManifestPtr manifest;
  std::shared_ptr<const ContentSource> content;  // of everything the manifest declares
  core::Trigger trigger = core::Trigger::manual;
  core::Actor actor;
  // Where it names no manifest, the manifest's own digest is told.
  core::DeclarationId declaration;
  core::Provenance provenance;
  std::string version;
  bool foreign_manifest = false;  // not the accepted declaration
  // What the package manager was cut off with may be brought to an end, whoever began it.
  bool finish_interrupted = false;
  bool retry = false;  // in enforce, what is quarantined may run again, each action alone
  // Read at the start and again before each wave: configuration, hold, window.
  std::function<core::ModeTerms()> read_terms;
  // Asked on the loop a few times a second while a wave runs: whether nothing more of it may be
  // begun. Then `read_terms` says why. Empty: that never happens.
  std::function<bool()> is_held_now;
  std::vector<std::string> observe_globs;  // over references, from agent.yaml
  std::vector<std::string> protect_globs;  // over references, from agent.yaml: never removed
  core::RemovalLimits limits;
  std::int64_t limit_ns =
      0;  // the pass ends at the next wave after this long, suspend counted; 0: none
  // Shown the plan before anything is applied; an error ends the pass there, nothing applied.
  std::function<Status(const std::vector<core::Observation>&, const core::Plan&)> approve;
  // Makes it a reverting pass: `manifest` and `content` are those of this, nothing is observed
  // against a declaration, and what is undone is kept. May be null.
  UndoingPtr undoing;
  resource::CrashPoint crash_point;  // tests and the self-test only
};

// What was found of a pass that had been cut off: of the actions that it had begun and not ended.
struct RecoveredPass {
  PassId pass = 0;  // 0: there was none
  std::uint32_t took_effect = 0, did_not = 0, untellable = 0;
};

struct PassReport {
  PassId pass = 0;  // 0 when nothing is recorded
  core::EffectiveMode mode;
  std::vector<core::Observation> observations;  // before anything was applied; sorted by reference
  std::shared_ptr<const core::Plan> plan;
  std::vector<core::Outcome> outcomes;  // by ordinal
  std::vector<core::NotificationOutcome>
      notifications;        // that were pending when it ended, or before
  core::HostStatus status;  // after the pass
  std::string cut_short;    // why it ended before its plan did; empty if it did not
  RecoveredPass recovered;  // before it began; these actions count as that pass's
};

class Conductor {
 public:
  // All are borrowed for the life of this object. `store.blobs` may be null when history is
  // volatile.
  Conductor(loop::Loop& loop, Store& store, std::shared_ptr<resource::Machine> machine);

  // Ends what a dead process left open: looks at each announced action, records what it sees and
  // closes the pass as interrupted; once that is durable, removes what dead and failed actions left
  // lying about, if the terms, read then, say enforce. Nothing to do: returns at once. If
  // `manifest` is the one of that pass, contents are compared and its notifications raised;
  // otherwise most of what was begun is untellable. `declared` is what a declaration calls that
  // manifest, where it is not its own digest.
  [[nodiscard]] loop::Task<Status> recover(std::function<core::ModeTerms()> read_terms,
                                           model::ManifestPtr manifest, Digest declared = {});

  // Refusals come as errors, and then nothing was observed. Once a pass has begun it always ends
  // with a report, or with the error of a journal that could not be written.
  [[nodiscard]] loop::Task<Result<PassReport>> run(PassRequest request);

  [[nodiscard]] StopRequest& stop_request() { return stop_; }

  struct Running;  // internal to engine

 private:
  struct Fate {
    core::NotificationEnd end;
    std::string reason;
  };
  [[nodiscard]] loop::Task<Status> apply(Running& running);
  [[nodiscard]] loop::Task<Status> run_wave(Running& running, std::vector<std::uint32_t> ordinals);
  [[nodiscard]] loop::Task<Status> run_tools(Running& running,
                                             std::shared_ptr<resource::Wave> wave);
  [[nodiscard]] loop::Task<Status> deliver(Running& running);
  [[nodiscard]] loop::Task<Status> deliver_one(Running& running, model::Target unit);
  [[nodiscard]] loop::Task<Status> ask_unit(Running& running, model::Target unit, os::Unit before,
                                            bool repeats);
  [[nodiscard]] std::optional<Fate> judge(const Running& running, const model::Target& unit,
                                          const core::PendingNotification& pending) const;
  static void tell(Running& running, core::NotificationOutcome outcome, core::NotificationEnd end,
                   std::string message);
  [[nodiscard]] Result<bool> end_open_delivery(Running& running, const model::Target& unit,
                                               const os::Unit& seen);
  [[nodiscard]] loop::Task<Status> end_dead_deliveries(Running& running);
  [[nodiscard]] loop::Task<Status> wait_for_dead_jobs(Running& running);
  [[nodiscard]] loop::Task<Status> wait_for_dead_tools(Running& running);
  [[nodiscard]] loop::Task<Status> end_running_tools(Running& running);
  void report_pending(Running& running) const;
  [[nodiscard]] loop::Task<Status> clean_leftovers(Running& running);
  [[nodiscard]] Status lift_quarantine(Running& running);
  [[nodiscard]] loop::Task<std::optional<core::Plan>> read_dead_plan();
  [[nodiscard]] loop::Task<Status> end_dead_pass(Running& running,
                                                 const model::ManifestPtr& manifest,
                                                 Digest declared);
  [[nodiscard]] loop::Task<Status> look_again(Running& running);
  [[nodiscard]] loop::Task<Status> look_before(Running& running,
                                               std::vector<std::uint32_t> ordinals);
  [[nodiscard]] loop::Task<Status> look_for_reboot(Running& running);
  [[nodiscard]] core::PlanInput plan_input(const Running& running) const;
  static void count_observed_only(const Running& running, const core::State& state,
                                  core::FinishPass& finish);
  [[nodiscard]] loop::Task<Status> observe_and_plan(Running& running);
  [[nodiscard]] loop::Task<Status> look_back(Running& running);
  [[nodiscard]] loop::Task<Status> make_plan(Running& running,
                                             std::vector<core::LeavingObservation> leaving);
  [[nodiscard]] Status record_undone(Running& running);
  [[nodiscard]] Status record_ownership(Running& running);
  [[nodiscard]] loop::Task<Status> put_plan(Running& running);
  [[nodiscard]] loop::Task<Status> put_documents(Running& running);
  [[nodiscard]] loop::Task<Status> reserve_records(std::size_t actions);
  [[nodiscard]] Status execute(Running& running, const core::Command& command);
  [[nodiscard]] bool may_go_on(Running& running);
  static void tell_failure(Running& running, std::uint32_t ordinal, const std::string& message,
                           const std::string& output);
  [[nodiscard]] Status end_pass(Running& running);

  loop::Loop& loop_;
  Store& store_;
  std::shared_ptr<resource::Machine> machine_;
  StopRequest stop_;
  RecoveredPass recovered_;
};

}  // namespace datum::engine
