// The service's life: open the store, look at once and then with every beat, stop when told to. It
// conducts what the modules below do and decides nothing that core decides; a pass is the one that
// the command line runs. All of it on the loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datum/config/configuration.hpp"
#include "datum/engine/enrolment.hpp"
#include "datum/engine/guard_story.hpp"
#include "datum/engine/link_guard.hpp"
#include "datum/engine/mesh_node.hpp"
#include "datum/engine/pass.hpp"
#include "datum/engine/store.hpp"
#include "datum/host/rhythm.hpp"
#include "datum/loop/task.hpp"
#include "datum/program/desired.hpp"
#include "datum/program/pass_output.hpp"
#include "datum/program/session.hpp"
#include "local_server.hpp"
#include "log.hpp"
#include "notifier.hpp"
#include "own_program.hpp"

namespace datum::host {

// Exit status, for the service manager: 74 and 78 say that the version is not to blame.
inline constexpr int kOrderly = 0;
inline constexpr int kStoreExit = 74;
inline constexpr int kConfigurationExit = 78;
// Of a command that has to be tried again later.
inline constexpr int kBusyExit = 3;

// What is said against a request, and with which exit code.
[[nodiscard]] Answer refusal(const Error& error);
// How the answer to a request is to look.
[[nodiscard]] program::PassView view_of(const LocalRequest& request);

// Who does what nobody asked for.
[[nodiscard]] inline core::Actor service_actor() {
  return {core::ActorKind::service, "datum-host", 0, ""};
}

class Service {
 public:
  // All are borrowed. `configuration` is the one that is in force until another good one is read.
  Service(program::Session& session, config::Configuration configuration, Log& log,
          Notifier& notifier);
  ~Service();

  // Until a signal or an upgrade ends it; the exit status.
  [[nodiscard]] int run();

 private:
  // life
  [[nodiscard]] loop::Task<int> live();
  [[nodiscard]] loop::Task<bool> end(std::string reason);
  void stop(const std::string& reason);
  void give_up();
  // While the loop turns: feeds the watchdog, and looks whether the disk still takes anything.
  void tick();
  void look_at_disk();
  void reload();
  [[nodiscard]] loop::Wait<bool> wait_for_work();
  [[nodiscard]] loop::Task<bool> pause(std::int64_t delay_ns);
  void wake();
  void ask_for_pass(core::Trigger trigger);
  void begin_rhythm();
  [[nodiscard]] std::string status_words();
  void tell_status();

  // store
  [[nodiscard]] loop::Task<Result<bool>> open_store();
  [[nodiscard]] loop::Task<Status> take_store(engine::Store store);
  [[nodiscard]] Status set_aside_damaged(const Error& damage);
  enum class WitnessAt : std::uint8_t { start, pass, end };
  void read_witness(engine::StoreBinding& binding);
  // `standing`: the one that was there at the start; may be null.
  [[nodiscard]] loop::Task<bool> write_witness(WitnessAt at, const core::Witness* standing);
  void tell_loss();
  void decide_orphans();
  [[nodiscard]] loop::Task<bool> become_unrecorded();
  [[nodiscard]] loop::Task<bool> try_to_record_again();
  // Why nothing can be recorded at this moment; empty: it can.
  [[nodiscard]] std::string why_unrecorded() const;
  [[nodiscard]] loop::Task<Status> wait_durable();
  [[nodiscard]] loop::Task<bool> keep_store_small();
  // Something about the service itself, if it may be recorded now.
  void record(const core::Command& command);

  // socket
  void open_socket();
  void answer(Asked asked, const Reply& reply);
  void answer_record(const Asked& asked, const Reply& reply);
  void answer_decision(const Asked& asked, const Reply& reply);
  void answer_manual(Asked asked, const Reply& reply);
  void answer_reload(const Asked& asked, const Reply& reply);
  [[nodiscard]] ServiceFacts facts();
  // After what was recorded is durable.
  void reply_durable(const Reply& reply, Answer answer);

  // configuration and hold
  void read_configuration_again(const core::Actor& actor);
  void adopt(config::Configuration configuration, const core::Actor& actor);
  void reject_configuration(const Error& problem);
  void note_hold(const core::Actor& actor);
  // Of a pass over what is declared.
  [[nodiscard]] core::ModeTerms terms(std::optional<core::Mode> argument);
  // Of one that undoes another.
  [[nodiscard]] core::ModeTerms own_terms(std::optional<core::Mode> argument);

  // pass
  // What somebody asked for over the socket and has to wait for its turn.
  struct Manual {
    Asked asked;
    Reply reply;
  };
  using Reported = Result<std::shared_ptr<const engine::PassReport>>;
  [[nodiscard]] loop::Task<bool> pass(core::Trigger trigger);
  [[nodiscard]] loop::Task<bool> carry_out(Manual manual);
  [[nodiscard]] loop::Task<Answer> manual_pass(Asked& asked);
  [[nodiscard]] loop::Task<Answer> manual_revert(const Asked& asked);
  [[nodiscard]] loop::Task<Answer> manual_archive(const Asked& asked);
  [[nodiscard]] loop::Task<Result<Answer>> archive(const LocalRequest& asked);
  [[nodiscard]] loop::Task<Result<program::Desired>> load();
  // Null where there was nothing to run after recovery.
  [[nodiscard]] loop::Task<Reported> recover_and_run(std::optional<program::Desired> desired,
                                                     core::Trigger trigger, const Asked* asked);
  [[nodiscard]] engine::PassRequest make_request(const program::Desired& desired,
                                                 core::Trigger trigger, const Asked* asked);
  [[nodiscard]] Answer answer_of(const Asked& asked, const Reported& reported);
  void begin_pass();
  [[nodiscard]] loop::Task<bool> end_pass();
  void tell_pass(const engine::PassReport& report);
  void confirm(PassId pass);
  void write_metrics();
  [[nodiscard]] core::HostStatus status_now();
  // Once, until it is another one or none.
  void tell_problem(const std::string& problem);

  // mesh
  [[nodiscard]] bool has_desired() const;
  [[nodiscard]] bool is_of_declaration(const Asked* asked) const;
  void begin_mesh();
  void mesh_changed();
  void log_mesh(const engine::MeshWords& words);
  [[nodiscard]] loop::Task<bool> accept_declaration();
  [[nodiscard]] loop::Task<Result<program::Desired>> load_accepted();
  void answer_enrol(Asked asked, const Reply& reply);
  [[nodiscard]] loop::Task<bool> enrol(Manual manual);
  [[nodiscard]] Answer answer_of_enrolment(const Result<engine::EnrolmentEnd>& end);
  // Nobody reads the journal any more afterwards.
  [[nodiscard]] loop::Task<bool> end_mesh(std::string why);

  // the undoing of one pass
  struct UndoOrder {
    PassId pass = 0;
    core::Actor actor;
    core::Trigger trigger = core::Trigger::manual;
    std::optional<core::Mode> mode;
    std::uint32_t allow_removals = 0;
  };
  struct Undone {
    engine::PassReport report;
    std::size_t targets = 0;  // that the pass had changed
  };
  [[nodiscard]] loop::Task<Status> recover_dead_pass(std::optional<core::Mode> mode);
  [[nodiscard]] loop::Task<Result<Undone>> undo_pass(UndoOrder order);

  // a declaration that is undone unless the node is heard upstream
  enum class Look : std::uint8_t { after_pass, at_start, anew };
  [[nodiscard]] loop::Task<bool> begin_guard();
  [[nodiscard]] loop::Task<bool> mend_guard(std::string problem);
  [[nodiscard]] loop::Task<bool> look_at_guard(Look look);
  [[nodiscard]] loop::Task<Result<engine::GuardStory>> read_story();
  [[nodiscard]] loop::Task<bool> set_guard(engine::GuardStand stand);
  [[nodiscard]] bool has_guard(engine::GuardStand stand) const;
  std::int64_t arm_guard(std::int64_t left_ns);  // what is given in truth
  void kept_upstream(Seq through);
  // Between two tries, while a declaration waits to be known upstream; 0: none does.
  [[nodiscard]] std::int64_t most_wait_for_link() const;
  // Why no pass of the declaration may change anything; empty: one may.
  [[nodiscard]] std::string why_guarded() const;
  // Of the accepted declaration, for the control plane; nothing: it stands. Empty: it is being
  // undone.
  [[nodiscard]] std::optional<std::string> reverted_words() const;
  [[nodiscard]] loop::Task<bool> revert_guarded();
  [[nodiscard]] loop::Task<Result<bool>> undo_declaration();
  [[nodiscard]] loop::Task<Result<bool>> undo_passes(const std::vector<PassId>& passes,
                                                     std::vector<std::string>& lost);
  [[nodiscard]] loop::Task<Result<bool>> keep_differing();
  [[nodiscard]] loop::Task<Result<bool>> end_undoing(const std::vector<std::string>& lost);

  // upgrade and the way back
  [[nodiscard]] loop::Task<bool> look_for_upgrade();
  [[nodiscard]] loop::Task<bool> tell_upgrade(Seq through);
  [[nodiscard]] bool is_installed_release() const;
  void tell_rollback();
  [[nodiscard]] loop::Task<bool> keep_release();
  [[nodiscard]] loop::Task<bool> hand_over(const std::string& version);
  // Why no pass can run now, for whoever waits for the first one; empty: one can.
  void note_no_pass(const std::string& why);
  [[nodiscard]] loop::Task<Result<loop::ChildResult>> run_child(loop::ChildOptions options);

  [[nodiscard]] const core::State& state() const { return store_->history->state(); }

  program::Session& session_;
  config::Configuration configuration_;
  Log& log_;
  Notifier& notifier_;
  std::string rejected_;  // why the file's configuration is not the one in force; empty: it is
  std::optional<engine::Store> store_;
  std::unique_ptr<blobs::BlobStore> parked_blobs_;  // of the store, while it cannot be written
  std::string unwritable_;                          // why it cannot be
  int unwritable_errno_ = 0;
  Seq last_durable_ = 0;   // when a tick looked
  BootNs durable_moved_;   // the tick at which it was another one, or nothing waited
  bool is_stuck_ = false;  // a commit takes longer than anybody waits for
  std::uint32_t reopen_failures_ = 0;
  Digest witnessed_;                      // of what the witness says; empty: nothing that is so
  Seq witness_looked_at_ = 0;             // the last record when that was compared last
  std::string witness_problem_;           // told already
  std::unique_ptr<loop::Worker> reader_;  // reads fleets and damaged disks, off the loop
  std::unique_ptr<loop::Timer> beat_, hourly_, watchdog_, deadline_, pause_, reopen_, guard_timer_;
  std::unique_ptr<loop::Signals> signals_;
  Rhythm rhythm_;
  std::optional<core::Trigger> due_;  // triggers come together in one
  std::optional<Manual> manual_;      // waits for its turn
  std::unique_ptr<wire::LocalServer> server_;
  std::optional<Manual> enrolling_;         // waits for its turn
  std::unique_ptr<engine::MeshNode> mesh_;  // null: no node
  bool accept_due_ = false;
  std::uint32_t allowed_removals_ = 0;      // by the accepted declaration, when it was read last
  std::optional<engine::LinkGuard> guard_;  // of the accepted declaration; none: it has none
  BootNs guard_floor_;       // before it nothing is undone: the way up has its time after a start
  Seq heard_from_ = 0;       // who upstream knows of this record has heard; 0: none can have yet
  bool is_overdue_ = false;  // every pass died, and the time for one to end is over
  std::string told_undone_;  // by the journal, of the accepted declaration; empty: nothing
  Seq kept_through_ = 0;     // upstream, as far as this process was told
  bool revert_due_ = false;
  bool reopen_due_ = false;
  bool upgrade_due_ = false;
  bool ready_ = false;
  bool stopping_ = false;
  bool leaving_for_upgrade_ = false;
  std::string upgrading_to_;  // the version that it makes room for; empty: for none
  std::string stop_reason_;
  std::string doing_;              // for the status line, empty between passes
  std::string problem_;            // told already
  std::string last_told_;          // of a pass, without its number
  std::string fleet_warning_;      // told already
  std::string metrics_problem_;    // told already
  std::int64_t kept_with_ns_ = 0;  // pass limit with which this release was kept; 0: it was not
  std::string release_problem_;    // told already
  OwnProgram own_program_ = OwnProgram::of_this_process();
  engine::Conductor* conductor_ = nullptr;  // of the pass that runs
  std::function<void(bool)> wake_;
};

}  // namespace datum::host
