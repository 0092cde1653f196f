// The group commit: what is queued while a commit runs goes into the next one, at most a batch's
// limit at a time. Sequences are given out when events are queued and checked against what the
// journal answers.
#include "datum/history/history.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint.hpp"
#include "datum/base/assert.hpp"
#include "datum/codec/checkpoint.hpp"

namespace datum::history {

// One commit on its way: owned by the journal thread until it is done.
struct History::Commit {
  std::vector<EncodedEvent> events;
  Result<Seq> result = Seq{0};
};

History::History(loop::Loop& loop, std::unique_ptr<journal::Log> log, core::State state)
    : loop_(loop), log_(std::move(log)), state_(std::move(state)) {
  durable_ = state_.seq;
  checkpoint_ = state_.seq;
  if (log_) thread_ = loop_.make_serial_worker();
}

History::~History() = default;

Result<std::unique_ptr<History>> History::open(loop::Loop& loop,
                                               std::unique_ptr<journal::Log> log) {
  DATUM_ASSIGN(auto folded, fold_newest(*log));
  return open(loop, std::move(log), std::move(folded));
}

std::unique_ptr<History> History::open(loop::Loop& loop, std::unique_ptr<journal::Log> log,
                                       Folded folded) {
  auto history =
      std::unique_ptr<History>(new History(loop, std::move(log), std::move(folded.state)));
  history->checkpoint_ = folded.checkpoint;
  return history;
}

std::unique_ptr<History> History::make_volatile(loop::Loop& loop, core::State state) {
  return std::unique_ptr<History>(new History(loop, nullptr, std::move(state)));
}

void History::queue(const core::Event& event) {
  auto& clock = loop_.clock();
  const journal::Stamp stamp{clock.wall_now(), clock.boot_now(), clock.boot_id()};
  const Seq seq = state_.seq + 1;
  const core::EventPlace place{seq, stamp.wall, stamp.mono, stamp.boot};
  core::evolve(state_, event, place);
  DATUM_ASSERT(state_.seq == seq);
  if (unrecorded_) ++dropped_;
  if (!log_) return;
  queued_.push_back(encode(event, seq, stamp));
  if (durable_state_) undurable_.push_back({event, place});
}

Result<History::Executed> History::execute(const core::Command& command) {
  if (failed_) return fail(*failed_);
  DATUM_ASSIGN(auto events, core::decide(state_, command));
  for (const auto& event : events) queue(event);
  if (!log_) durable_ = state_.seq;
  if (!queued_.empty() && !committing_) start_commit();
  return Executed{std::move(events), state_.seq};
}

// How many of the queued events fit into one batch.
static std::size_t batch_length(const std::vector<EncodedEvent>& queued) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < queued.size() && count < journal::kMaxBatchRecords) {
    bytes += queued[count].payload.size() + 128;
    if (count > 0 && bytes > journal::kMaxBatchBytes) break;
    ++count;
  }
  return count;
}

// With the event that says so: what it covers may be deleted once both are durable.
static std::vector<journal::Put> archived_by(const std::vector<EncodedEvent>& events) {
  std::vector<journal::Put> meta;
  for (const auto& event : events) {
    if (event.archived_to == 0) continue;
    Bytes value(sizeof(Seq));
    store_le<Seq>(value.data(), event.archived_to);
    meta.assign(1, {std::string(kArchivedMeta), std::move(value)});
  }
  return meta;
}

static Result<Seq> append(journal::Log& log, const std::vector<EncodedEvent>& events) {
  journal::Batch batch;
  batch.entries.reserve(events.size());
  for (const auto& event : events) {
    journal::Entry entry{event.kind, 0, event.stamp, event.payload, {}};
    entry.keys.reserve(event.keys.size());
    for (const auto& [index, key] : event.keys) entry.keys.push_back({index, key});
    batch.entries.push_back(std::move(entry));
  }
  batch.meta = archived_by(events);
  return log.append(batch);
}

void History::start_commit() {
  DATUM_ASSERT(log_ && !committing_);
  committing_ = true;
  auto commit = std::make_shared<Commit>();
  const auto end = queued_.begin() + static_cast<std::ptrdiff_t>(batch_length(queued_));
  commit->events.assign(std::make_move_iterator(queued_.begin()), std::make_move_iterator(end));
  queued_.erase(queued_.begin(), end);
  const Seq last = state_.seq - queued_.size();
  thread_->submit([log = log_.get(), commit] { commit->result = append(*log, commit->events); },
                  [this, commit, last] {
                    end_commit(commit->result ? Status{} : fail(commit->result.error()), last);
                    DATUM_ASSERT(!commit->result || *commit->result == last);
                  });
}

void History::end_commit(Status status, Seq last) {
  committing_ = false;
  if (status) {
    durable_ = last;
    advance_durable_state();
    if (!queued_.empty())
      start_commit();
    else if (state_.seq - checkpoint_ >= kCheckpointWhileOpen)
      take_checkpoint();
  } else {
    failed_ = std::move(status).error();
    queued_.clear();
  }
  answer_waiters();
}

void History::answer_waiters() {
  // A waiter may call back into this object, so each is taken out before it is called.
  while (!waiters_.empty() && (failed_ || waiters_.front().seq <= durable_)) {
    auto waiter = std::move(waiters_.front());
    waiters_.pop_front();
    const bool reached = waiter.seq <= durable_;
    waiter.done(reached ? Status{} : fail(*failed_));
  }
}

void History::when_durable(Seq seq, std::function<void(Status)> done) {
  DATUM_ASSERT(seq <= state_.seq || failed_);
  // Sequences are asked for in any order; they are answered in theirs.
  const auto at = std::upper_bound(waiters_.begin(), waiters_.end(), seq,
                                   [](Seq value, const Waiter& w) { return value < w.seq; });
  waiters_.insert(at, {seq, std::move(done)});
  loop_.post([this] { answer_waiters(); });
}

void History::reserve(std::uint64_t bytes, std::function<void(Status)> done) {
  if (!log_) {
    loop_.post([done = std::move(done)] { done({}); });
    return;
  }
  auto result = std::make_shared<Status>();
  thread_->submit([log = log_.get(), bytes, result] { *result = log->reserve(bytes); },
                  [this, result, done = std::move(done)] {
                    // A device that failed here fails whatever follows: the first error is the one
                    // to tell.
                    if (!*result && result->error().code() == ErrorCode::io_error && !failed_)
                      failed_ = result->error();
                    done(failed_ ? Status(fail(*failed_)) : std::move(*result));
                  });
}

void History::close(std::function<void(Status)> done) {
  if (!log_) {
    loop_.post([done = std::move(done)] { done({}); });
    return;
  }
  when_durable(state_.seq, [this, done = std::move(done)](Status durable) {
    if (!durable) return done(std::move(durable));
    auto result = std::make_shared<Status>();
    std::shared_ptr<Bytes> checkpoint;
    if (state_.seq - checkpoint_ >= kCheckpointEvery)
      checkpoint = std::make_shared<Bytes>(codec::encode_state(state_));
    thread_->submit(
        [log = log_.get(), checkpoint, seq = state_.seq, result] {
          if (checkpoint) *result = write_checkpoint(*log, seq, *checkpoint);
          if (*result) *result = log->close();
        },
        [result, done] { done(std::move(*result)); });
  });
}

// Between two commits. One that fails is told by the next commit, since the log takes nothing more.
void History::take_checkpoint() {
  checkpoint_ = state_.seq;
  auto encoded = std::make_shared<Bytes>(codec::encode_state(state_));
  thread_->submit([log = log_.get(), encoded,
                   seq = state_.seq] { static_cast<void>(write_checkpoint(*log, seq, *encoded)); },
                  [] {});
}

}  // namespace datum::history
