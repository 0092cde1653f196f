// The group commit: what is queued while a commit runs goes into the next one, at most a batch's
// limit at a time. Sequences are given out when events are queued and checked against what the
// journal answers.
#include "datum/history/history.hpp"

#include <algorithm>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/codec/checkpoint.hpp"

namespace datum::history {

// One commit on its way: owned by the journal thread until it is done.
struct History::Commit {
  std::vector<EncodedEvent> events;
  std::vector<journal::Put> projections;
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
  DATUM_ASSIGN(auto state, fold(*log, 0, true));
  DATUM_ASSIGN(const auto bytes, log->read_meta(journal::kCheckpointMeta));
  const Seq checkpoint =
      bytes && bytes->size() == sizeof(Seq) ? load_le<Seq>(bytes->data()) : Seq{0};
  auto history = std::unique_ptr<History>(new History(loop, std::move(log), std::move(state)));
  history->checkpoint_ = checkpoint;
  return history;
}

std::unique_ptr<History> History::make_volatile(loop::Loop& loop, core::State state) {
  return std::unique_ptr<History>(new History(loop, nullptr, std::move(state)));
}

void History::queue(const core::Event& event) {
  auto& clock = loop_.clock();
  const journal::Stamp stamp{clock.wall_now(), clock.boot_now(), clock.boot_id()};
  const Seq seq = state_.seq + 1;
  core::evolve(state_, event, {seq, stamp.wall, stamp.mono, stamp.boot});
  DATUM_ASSERT(state_.seq == seq);
  if (log_) queued_.push_back(encode(event, seq, stamp));
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

static Result<Seq> append(journal::Log& log, const std::vector<EncodedEvent>& events,
                          std::vector<journal::Put>&& projections) {
  journal::Batch batch;
  batch.entries.reserve(events.size());
  for (const auto& event : events) {
    journal::Entry entry{event.kind, 0, event.stamp, event.payload, {}};
    entry.keys.reserve(event.keys.size());
    for (const auto& [index, key] : event.keys) entry.keys.push_back({index, key});
    batch.entries.push_back(std::move(entry));
  }
  batch.projections = std::move(projections);
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
  thread_->submit(
      [log = log_.get(), commit] {
        commit->result = append(*log, commit->events, std::move(commit->projections));
      },
      [this, commit, last] {
        end_commit(commit->result ? Status{} : fail(commit->result.error()), last);
        DATUM_ASSERT(!commit->result || *commit->result == last);
      });
}

void History::end_commit(Status status, Seq last) {
  committing_ = false;
  if (status) {
    durable_ = last;
    if (!queued_.empty()) start_commit();
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
    // A State above a batch's limit (some 50,000 resources) has no checkpoint: the next open folds
    // more records instead, which costs time and loses nothing.
    constexpr std::size_t kBesideIt = 4096;
    if (checkpoint && checkpoint->size() + kBesideIt > journal::kMaxBatchBytes) checkpoint.reset();
    thread_->submit(
        [log = log_.get(), checkpoint, seq = state_.seq, result] {
          if (checkpoint) {
            journal::Batch batch;
            Bytes name(sizeof(Seq));
            store_le<Seq>(name.data(), seq);
            batch.meta.push_back({std::string(journal::kCheckpointMeta), std::move(name)});
            batch.projections.push_back({"state", std::move(*checkpoint)});
            if (auto put = log->append(batch); !put) {
              *result = fail(std::move(put).error());
              return;
            }
          }
          *result = log->close();
        },
        [result, done] { done(std::move(*result)); });
  });
}

}  // namespace datum::history
