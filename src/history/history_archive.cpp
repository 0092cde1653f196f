// Archiving in the order that a crash cannot spoil: checkpoint, export read back, the event that
// says so, and only then the deletion. A crash before the event leaves a file that the next archive
// removes; one after it leaves a deletion that the next one finishes. A file that neither explains
// is nobody's to remove.
#include <utility>

#include "checkpoint.hpp"
#include "datum/codec/checkpoint.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/history.hpp"
#include "datum/history/missing.hpp"

namespace datum::history {
namespace {

// What an earlier archive could not finish. A file that is no part of the archive may be the only
// copy of its records: until somebody has moved it away, nothing is archived.
Status settle(journal::Log& log, const std::string& folder) {
  DATUM_ASSIGN(const auto strays, describe_strays(log, folder));
  if (!strays.empty()) return fail(ErrorCode::conflict, strays);
  DATUM_ASSIGN(const Seq archived, read_archived(log));
  DATUM_ASSIGN(const auto head, log.read_head());
  if (archived >= head.first) DATUM_TRY(log.remove_before(archived + 1));
  DATUM_TRY(journal::drop_unfinished(log, folder, archived));
  return {};
}

Result<journal::WrittenArchive> write(journal::Log& log, const ArchiveRange& range,
                                      const std::string& folder, Seq through, ByteView state) {
  DATUM_TRY(settle(log, folder));
  DATUM_TRY(write_checkpoint(log, through, state));
  return journal::write_archive(log, {range.from, range.to}, folder);
}

}  // namespace

// What the journal thread needs and gives back.
struct History::Archiving {
  ArchiveRange range;
  std::string folder;
  Seq through = 0;
  Bytes state;
  Digest digest;
  Result<journal::WrittenArchive> written = fail(ErrorCode::internal, "nothing was archived");
  Status removed;
  std::function<void(Result<journal::ArchiveFile>)> done;
};

void History::archive(const ArchiveRange& range, std::string folder,
                      std::function<void(Result<journal::ArchiveFile>)> done) {
  auto task = std::make_shared<Archiving>();
  task->range = range;
  task->folder = std::move(folder);
  task->done = std::move(done);
  if (!log_) {
    loop_.post([task] { task->done(fail(ErrorCode::unavailable, "nothing is recorded")); });
    return;
  }
  when_durable(state_.seq, [this, task](Status durable) {
    if (!durable) return task->done(fail(std::move(durable).error()));
    task->through = state_.seq;
    task->state = codec::encode_state(state_);
    task->digest = crypto::sha256(task->state);
    thread_->submit(
        [log = log_.get(), task] {
          task->written = write(*log, task->range, task->folder, task->through, task->state);
          task->state = {};
        },
        [this, task] { tell_archived(task); });
  });
}

void History::tell_archived(const std::shared_ptr<Archiving>& task) {
  if (!task->written) return task->done(fail(std::move(task->written).error()));
  checkpoint_ = task->through;
  const auto& file = task->written->file;
  const auto told = execute(core::RecordArchive{file.from, file.to, file.name, task->written->head,
                                                task->through, task->digest});
  if (!told) return task->done(fail(told.error()));
  when_durable(told->seq, [this, task, to = file.to](Status durable) {
    if (!durable) return task->done(fail(std::move(durable).error()));
    thread_->submit([log = log_.get(), task, to] { task->removed = log->remove_before(to + 1); },
                    [task] {
                      if (task->removed) return task->done(task->written->file);
                      task->done(fail(std::move(task->removed).error()));
                    });
  });
}

void History::compact(std::function<void(Result<journal::Compaction>)> done) {
  if (!log_) {
    loop_.post(
        [done = std::move(done)] { done(fail(ErrorCode::unavailable, "nothing is recorded")); });
    return;
  }
  when_durable(state_.seq, [this, done = std::move(done)](Status durable) {
    if (!durable) return done(fail(std::move(durable).error()));
    auto result = std::make_shared<Result<journal::Compaction>>(journal::Compaction{});
    thread_->submit([log = log_.get(), result] { *result = log->compact(); },
                    [this, result, done] {
                      if (!*result && result->error().code() == ErrorCode::unavailable && !failed_)
                        failed_ = result->error();
                      if (failed_) answer_waiters();
                      done(std::move(*result));
                    });
  });
}

}  // namespace datum::history
