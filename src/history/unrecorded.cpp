// Going on without a journal and coming back to it. What was decided while nothing could be kept
// must not be taken for history later: so the State returns to what is durable, twice.
#include <algorithm>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/history/history.hpp"

namespace datum::history {

void History::keep_durable_state() {
  DATUM_ASSERT(log_ && queued_.empty() && !committing_);
  durable_state_ = state_;
}

void History::advance_durable_state() {
  if (!durable_state_) return;
  while (!undurable_.empty() && undurable_.front().place.seq <= durable_) {
    core::evolve(*durable_state_, undurable_.front().event, undurable_.front().place);
    undurable_.pop_front();
  }
}

void History::go_unrecorded() {
  DATUM_ASSERT(failed_ && durable_state_ && !committing_);
  // The worker first: it may still hold a job over the log. What closes without its mark is walked
  // by whoever opens it next.
  thread_.reset();
  log_.reset();
  dropped_ = undurable_.size();
  undurable_.clear();
  queued_.clear();
  state_ = *durable_state_;
  failed_.reset();
  unrecorded_ = true;
}

Status History::resume(std::unique_ptr<journal::Log> log, const Error& problem) {
  DATUM_ASSERT(unrecorded_);
  DATUM_ASSIGN(const auto head, log->read_head());
  if (head.seq < durable_state_->seq)
    return fail(ErrorCode::corrupt, "the store ends at record " + std::to_string(head.seq) +
                                        ", and record " + std::to_string(durable_state_->seq) +
                                        " was durable");
  core::State state = *durable_state_;
  DATUM_TRY(scan_events(*log, state.seq + 1, [&state](const StoredEvent& stored) {
    core::evolve(state, stored.event, stored.place);
    return journal::Visit::go_on;
  }));
  dropped_ -= std::min<std::uint64_t>(dropped_, state.seq - durable_state_->seq);
  durable_state_ = state;
  state_ = std::move(state);
  durable_ = state_.seq;
  log_ = std::move(log);
  thread_ = loop_.make_serial_worker();
  unrecorded_ = false;
  DATUM_TRY(execute(
      core::RecordUnwritable{problem.message(), problem.sys_errno(), std::exchange(dropped_, 0)}));
  return {};
}

}  // namespace datum::history
