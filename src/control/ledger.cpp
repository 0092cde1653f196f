#include "datum/control/ledger.hpp"

#include <algorithm>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/codec/control_event.hpp"

namespace datum::control {
namespace {

// All that was said of a node, by its name.
constexpr std::string_view kNodeIndex = "nodes";

}  // namespace

struct Ledger::Queued {
  std::uint16_t kind = 0;
  journal::Stamp stamp;
  Bytes payload;
  std::string node;
};

journal::OpenOptions ledger_options(journal::OpenMode mode) {
  journal::OpenOptions options;
  options.mode = mode;
  options.indexes = {std::string(kNodeIndex)};
  return options;
}

Status scan_ledger(journal::Reader& reader, Seq from,
                   const std::function<void(StoredEvent)>& visit) {
  std::optional<Error> error;
  DATUM_TRY(reader.scan(from, [&](const journal::Record& record) {
    auto event = codec::decode_control_event(record.kind, record.payload);
    if (!event) {
      error = std::move(event).error().context("record " + std::to_string(record.seq));
      return journal::Visit::stop;
    }
    visit({record.seq, record.stamp.wall, std::move(*event)});
    return journal::Visit::go_on;
  }));
  if (error) return fail(std::move(*error));
  return {};
}

Result<State> fold_ledger(journal::Reader& reader) {
  State state;
  DATUM_ASSIGN(const auto head, reader.read_head());
  if (head.seq > 0)
    DATUM_TRY(scan_ledger(reader, head.first, [&](const StoredEvent& stored) {
      evolve(state, stored.event, {stored.seq, stored.wall});
    }));
  return state;
}

Status append_alone(journal::Log& log, const Events& events, const journal::Stamp& stamp) {
  std::vector<Bytes> payloads;
  for (const auto& event : events) payloads.push_back(codec::encode_control_event(event));
  journal::Batch batch;
  for (std::size_t i = 0; i < events.size(); ++i)
    batch.entries.push_back(
        {static_cast<std::uint16_t>(core::control::kind_of(events[i])), 0, stamp, payloads[i], {}});
  const auto appended = log.append(batch);
  return appended ? Status{} : fail(appended.error());
}

Ledger::Ledger(loop::Loop& loop, std::unique_ptr<journal::Log> log)
    : loop_(loop), log_(std::move(log)), thread_(loop.make_serial_worker()) {}
Ledger::~Ledger() = default;

Result<std::unique_ptr<Ledger>> Ledger::open(loop::Loop& loop, std::unique_ptr<journal::Log> log) {
  auto ledger = std::unique_ptr<Ledger>(new Ledger(loop, std::move(log)));
  DATUM_ASSIGN(ledger->state_, fold_ledger(*ledger->log_));
  ledger->durable_ = ledger->state_.seq;
  return ledger;
}

Status Ledger::append(const Events& events) {
  if (failed_) return fail(*failed_);
  std::vector<Queued> made;
  auto& clock = loop_.clock();
  const journal::Stamp stamp{clock.wall_now(), clock.boot_now(), clock.boot_id()};
  for (const auto& event : events) {
    Queued queued{static_cast<std::uint16_t>(core::control::kind_of(event)), stamp,
                  codec::encode_control_event(event),
                  std::string(core::control::node_of(event).substr(0, journal::kMaxName))};
    if (queued.payload.size() > journal::kMaxPayload)
      return fail(ErrorCode::limit_exceeded,
                  std::string(codec::control_event_name(event)) + " does not fit into a record");
    made.push_back(std::move(queued));
  }
  for (const auto& event : events) evolve(state_, event, {state_.seq + 1, stamp.wall});
  queued_.insert(queued_.end(), std::make_move_iterator(made.begin()),
                 std::make_move_iterator(made.end()));
  if (!queued_.empty() && !committing_) start_commit();
  return {};
}

void Ledger::start_commit() {
  committing_ = true;
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < queued_.size() && count < journal::kMaxBatchRecords;
       ++count) {
    bytes += queued_[count].payload.size() + 128;
    if (count > 0 && bytes > journal::kMaxBatchBytes) break;
  }
  const auto end = queued_.begin() + static_cast<std::ptrdiff_t>(count);
  auto batch = std::make_shared<std::vector<Queued>>(std::make_move_iterator(queued_.begin()),
                                                     std::make_move_iterator(end));
  queued_.erase(queued_.begin(), end);
  auto result = std::make_shared<Result<Seq>>(Seq{0});
  thread_->submit(
      [log = log_.get(), batch, result] {
        journal::Batch entries;
        for (const auto& each : *batch) {
          journal::Entry entry{each.kind, 0, each.stamp, each.payload, {}};
          if (!each.node.empty()) entry.keys.push_back({kNodeIndex, each.node});
          entries.entries.push_back(std::move(entry));
        }
        *result = log->append(entries);
      },
      [this, result] { end_commit(*result); });
}

void Ledger::end_commit(const Result<Seq>& result) {
  committing_ = false;
  if (result) {
    DATUM_ASSERT(*result + queued_.size() == state_.seq);
    durable_ = *result;
    if (!queued_.empty()) start_commit();
  } else {
    failed_ = result.error();
    queued_.clear();
  }
  answer_waiters();
}

void Ledger::answer_waiters() {
  // A waiter may call back into this object, so each is taken out before it is called.
  while (!waiters_.empty() && (failed_ || waiters_.front().seq <= durable_)) {
    auto waiter = std::move(waiters_.front());
    waiters_.pop_front();
    const bool reached = waiter.seq <= durable_;
    waiter.done(reached ? Status{} : fail(*failed_));
  }
}

void Ledger::when_durable(std::function<void(Status)> done) {
  waiters_.push_back({state_.seq, std::move(done)});
  loop_.post([this] { answer_waiters(); });
}

void Ledger::close(std::string reason, std::function<void(Status)> done) {
  if (auto status = append({core::control::PlaneClosed{std::move(reason)}}); !status) {
    loop_.post([done = std::move(done), status] { done(status); });
    return;
  }
  when_durable([this, done = std::move(done)](Status durable) {
    if (!durable) return done(std::move(durable));
    auto result = std::make_shared<Status>();
    thread_->submit([log = log_.get(), result] { *result = log->close(); },
                    [result, done] { done(std::move(*result)); });
  });
}

}  // namespace datum::control
