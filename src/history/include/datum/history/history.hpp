// Meaning on top of the journal: events in, events out, and the State that they add up to. Owns the
// one thread that begins, puts and commits; gathers what is appended while a commit runs into the
// next one. The State evolves the moment events are queued; whatever rests on them (an effect, an
// answer, a print) waits for `durable`. Loop thread only. Knows the journal's records and core's
// events; decides nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/decide.hpp"
#include "datum/core/state.hpp"
#include "datum/history/archive.hpp"
#include "datum/history/events.hpp"
#include "datum/journal/log.hpp"
#include "datum/loop/loop.hpp"

namespace datum::history {

// A checkpoint of the State is written with the closing commit when at least this many records came
// since the last one: folding them again costs more than writing it.
inline constexpr Seq kCheckpointEvery = 512;
// One is written between two commits when so many came: a crash then leaves that much to fold,
// which takes well under a second.
inline constexpr Seq kCheckpointWhileOpen = 100'000;

// The names of the indexes that history keeps, for journal::OpenOptions.
[[nodiscard]] std::vector<std::string> index_names();

class History {
 public:
  // Replays `log` (from the newest checkpoint) and takes it over. `corrupt` or
  // `unsupported_version` name the sequence; nothing was appended.
  [[nodiscard]] static Result<std::unique_ptr<History>> open(loop::Loop& loop,
                                                             std::unique_ptr<journal::Log> log);
  // As above where that is folded already.
  [[nodiscard]] static std::unique_ptr<History> open(loop::Loop& loop,
                                                     std::unique_ptr<journal::Log> log,
                                                     Folded folded);
  // Without a journal: events evolve a copy of `state` and are forgotten. For `diff` and `plan`,
  // which record nothing.
  [[nodiscard]] static std::unique_ptr<History> make_volatile(loop::Loop& loop, core::State state);
  ~History();

  // What all queued events add up to.
  [[nodiscard]] const core::State& state() const { return state_; }
  // No commit has failed. Otherwise nothing is appended any more and `state` tells more than is
  // durable.
  [[nodiscard]] bool healthy() const { return !failed_; }
  // Something is on its way to the disk. After a failed commit that may still be so for a moment.
  [[nodiscard]] bool is_committing() const { return committing_; }
  // Everything up to here was synced.
  [[nodiscard]] Seq durable() const { return durable_; }
  // The journal's own words, for a store id or a reservation. Null when volatile. Only while
  // nothing is queued.
  [[nodiscard]] journal::Log* log() { return log_.get(); }

  // What came of a command: its events, and the sequence of the last of them (the current one if
  // none).
  struct Executed {
    std::vector<core::Event> events;
    Seq seq = 0;
  };
  // Decides, evolves and queues; or refuses, and then nothing was queued.
  [[nodiscard]] Result<Executed> execute(const core::Command& command);
  // Calls `done` on the loop once everything up to `seq` is durable, or with the error of the
  // commit that failed; after that nothing is appended any more.
  void when_durable(Seq seq, std::function<void(Status)> done);
  // Proof that about `bytes` more of payload fit. Blocks the journal thread, not the loop.
  void reserve(std::uint64_t bytes, std::function<void(Status)> done);
  // Moves the records of `range`, which begins with the first unarchived one, into a file of the
  // archive in `folder`: checkpoint, export read back, `checkpointTaken` and `recordsArchived`,
  // deletion, each durable before the next. What an earlier one left unfinished is finished first.
  // Errors: a running pass (`conflict`); those of export and log, after which every record still is
  // in one place at least. Blocks the journal thread; nothing else may use `log` meanwhile.
  void archive(const ArchiveRange& range, std::string folder,
               std::function<void(Result<journal::ArchiveFile>)> done);

  // Rebuilds the journal without its free pages once all is durable (journal::Log::compact, and its
  // errors); what is queued meanwhile is committed afterwards. `unavailable`: the journal is not
  // open any more, as after a failed commit. Blocks the journal thread; nothing else may use `log`
  // meanwhile, and no Reader of it may exist.
  void compact(std::function<void(Result<journal::Compaction>)> done);

  // For who goes on without a disk. From now on a second State, of the last durable sequence, is
  // kept beside the running one (the memory of one more State).
  void keep_durable_state();
  // After a failed commit: drops every event that is not durable, goes back to the State of
  // `durable()`, and gives the log up. Events then evolve the State and are forgotten, as in a
  // volatile one. Needs keep_durable_state. Waiters have been told the failure.
  void go_unrecorded();
  [[nodiscard]] bool is_unrecorded() const { return unrecorded_; }
  // Ends that with the reopened journal: goes back once more, to what it holds (a commit that
  // failed may be there after all), and appends `storeUnwritable` and `storeWritableAgain` with the
  // number of events that nobody keeps. `corrupt`: it lacks records that were durable; then
  // nothing changed, and `log` is closed.
  [[nodiscard]] Status resume(std::unique_ptr<journal::Log> log, const Error& problem);

  // After the last event is durable: writes a checkpoint if it is due, closes the journal in order.
  void close(std::function<void(Status)> done);

 private:
  struct Waiter {
    Seq seq;
    std::function<void(Status)> done;
  };
  struct Commit;
  struct Archiving;
  struct Undurable {
    core::Event event;
    core::EventPlace place;
  };

  History(loop::Loop& loop, std::unique_ptr<journal::Log> log, core::State state);
  void queue(const core::Event& event);
  void start_commit();
  void end_commit(Status status, Seq last);
  void answer_waiters();
  void tell_archived(const std::shared_ptr<Archiving>& task);
  void advance_durable_state();
  void take_checkpoint();

  loop::Loop& loop_;
  std::unique_ptr<journal::Log> log_;
  std::unique_ptr<loop::Worker> thread_;
  core::State state_;
  Seq durable_ = 0;
  Seq checkpoint_ = 0;
  std::vector<EncodedEvent> queued_;
  bool committing_ = false;
  std::optional<Error> failed_;
  std::deque<Waiter> waiters_;
  std::optional<core::State> durable_state_;  // only while it is wanted
  std::deque<Undurable> undurable_;           // what comes on top of it; oldest first
  bool unrecorded_ = false;
  std::uint64_t dropped_ = 0;  // events since the journal was given up, and those with it
};

}  // namespace datum::history
