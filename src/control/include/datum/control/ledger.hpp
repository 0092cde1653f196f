// The control plane's events in its journal, and the State that they add up to. Owns the one thread
// that commits; what is queued while a commit runs goes into the next one. The State evolves the
// moment events are queued; whatever rests on them (an answer, a grant, a declaration that is sent)
// waits for `when_durable`. Loop thread only. Decides nothing.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/control/decide.hpp"
#include "datum/control/state.hpp"
#include "datum/journal/log.hpp"
#include "datum/loop/loop.hpp"

namespace datum::control {

// Opening options of such a journal: its indexes.
[[nodiscard]] journal::OpenOptions ledger_options(journal::OpenMode mode);

// An event as read.
struct StoredEvent {
  Seq seq = 0;
  WallNs wall;
  core::control::Event event;
};
// From `from` on, in order. `corrupt` or `unsupported_version` name the record.
[[nodiscard]] Status scan_ledger(journal::Reader& reader, Seq from,
                                 const std::function<void(StoredEvent)>& visit);

// The State that a journal adds up to; errors as scan_ledger.
[[nodiscard]] Result<State> fold_ledger(journal::Reader& reader);
// Durable on success; for a journal that no Ledger has.
[[nodiscard]] Status append_alone(journal::Log& log, const Events& events,
                                  const journal::Stamp& stamp);

class Ledger {
 public:
  // Replays `log` and takes it over. Errors name the record; nothing was appended.
  [[nodiscard]] static Result<std::unique_ptr<Ledger>> open(loop::Loop& loop,
                                                            std::unique_ptr<journal::Log> log);
  ~Ledger();

  [[nodiscard]] const State& state() const { return state_; }
  // Why nothing is appended any more: a commit failed, and the State tells more than is durable.
  // What waited was told, what rests on it was not let out; the way back is another opening.
  [[nodiscard]] const std::optional<Error>& failure() const { return failed_; }
  [[nodiscard]] Seq durable() const { return durable_; }

  // Evolves and queues; `limit_exceeded` for an event that fits into no record, `unavailable` after
  // a failure: then none of them happened.
  [[nodiscard]] Status append(const Events& events);
  // Calls `done` on the loop once all that was queued so far is durable, or with the error.
  void when_durable(std::function<void(Status)> done);
  // `reason` is the last record; then the journal is closed in order.
  void close(std::string reason, std::function<void(Status)> done);

 private:
  struct Queued;
  struct Waiter {
    Seq seq;
    std::function<void(Status)> done;
  };
  Ledger(loop::Loop& loop, std::unique_ptr<journal::Log> log);
  void start_commit();
  void end_commit(const Result<Seq>& result);
  void answer_waiters();

  loop::Loop& loop_;
  std::unique_ptr<journal::Log> log_;
  std::unique_ptr<loop::Worker> thread_;
  State state_;
  Seq durable_ = 0;
  std::vector<Queued> queued_;
  bool committing_ = false;
  std::optional<Error> failed_;
  std::deque<Waiter> waiters_;
};

}  // namespace datum::control
