// What a person asks for over the socket and what needs the store for itself: a pass and the
// archive, beside the undoing of a pass (service_undo.cpp). Each waits for its turn, and between
// two of them nothing of it is left open.
#include <utility>

#include "datum/engine/upkeep.hpp"
#include "datum/inspect/usage_report.hpp"
#include "service.hpp"

namespace datum::host {

loop::Task<bool> Service::carry_out(Manual manual) {
  std::optional<Answer> answer;
  switch (manual.asked.request.verb) {
    case LocalVerb::archive: {
      auto archiving = manual_archive(manual.asked);
      answer = co_await archiving;
      break;
    }
    case LocalVerb::revert: {
      auto reverting = manual_revert(manual.asked);
      answer = co_await reverting;
      break;
    }
    default: {
      auto passing = manual_pass(manual.asked);
      answer = co_await passing;
      break;
    }
  }
  manual.reply(std::move(*answer));
  co_return true;
}

loop::Task<Answer> Service::manual_pass(Asked& asked) {
  begin_pass();
  auto desired = std::exchange(asked.desired, std::nullopt);
  asked.is_declared = !desired;
  Reported ran;
  if (asked.is_declared) {
    auto loading = load();
    auto loaded = co_await loading;
    if (loaded)
      desired = std::move(*loaded);
    else
      ran = fail(std::move(loaded).error());
  }
  if (desired) {
    auto running = recover_and_run(std::move(desired), core::Trigger::manual, &asked);
    ran = co_await running;
  }
  auto answer = answer_of(asked, ran);
  auto ending = end_pass();
  co_await ending;
  co_return answer;
}

loop::Task<Answer> Service::manual_archive(const Asked& asked) {
  doing_ = "the journal is archived";
  tell_status();
  auto archiving = archive(asked.request);
  const auto archived = co_await archiving;
  doing_.clear();
  auto answer = archived ? *archived : refusal(archived.error());
  if (!store_->history->healthy()) {
    auto giving_up = become_unrecorded();
    co_await giving_up;
  }
  co_return answer;
}

loop::Task<Result<Answer>> Service::archive(const LocalRequest& asked) {
  if (const auto why = why_unrecorded(); !why.empty())
    co_return fail(ErrorCode::unavailable, "nothing can be recorded: " + why);
  if (mesh_ && mesh_->is_fetching())
    co_return fail(ErrorCode::busy, "content of a declaration comes over the link just now");
  if (mesh_) {
    auto quieting = mesh_->be_quiet();
    co_await quieting;
  }
  engine::UpkeepRequest request;
  request.limits = program::archive_limits(configuration_);
  if (asked.through != 0) request.through = asked.through;
  auto keeping = engine::keep_up(*session_.loop, *store_, request);
  auto kept = co_await keeping;
  Result<journal::Compaction> compacted = journal::Compaction{};
  if (kept && engine::is_worth_compacting_if_asked(kept->usage)) {
    auto compacting = engine::compact(*store_);
    compacted = co_await compacting;
  }
  if (mesh_) mesh_->go_on();
  if (!kept) co_return fail(std::move(kept).error());
  if (!compacted) co_return fail(std::move(compacted).error().context("compact the journal"));
  const inspect::ArchiveReport shown{kept->files, kept->blob_bytes_freed, kept->usage.file_bytes,
                                     compacted->bytes_after};
  Answer answer;
  answer.output = asked.json ? inspect::archive_json(shown) : inspect::archive_text(shown);
  co_return answer;
}

// A failure is no failure of the pass: nothing is lost by it, and the next pass tries again.
loop::Task<bool> Service::keep_store_small() {
  if (state().pass || store_->history->is_unrecorded() || !store_->history->healthy())
    co_return false;
  if (mesh_ && mesh_->is_fetching()) co_return false;
  if (mesh_) {
    auto quieting = mesh_->be_quiet();
    co_await quieting;
  }
  engine::UpkeepRequest request;
  request.limits = program::archive_limits(configuration_);
  request.budget_ns = engine::kUpkeepAfterPassNs;
  auto keeping = engine::keep_up(*session_.loop, *store_, request);
  const auto kept = co_await keeping;
  if (!kept) log_.warning("the journal was not archived: " + kept.error().message());
  if (kept && engine::is_worth_compacting(kept->usage)) {
    auto compacting = engine::compact(*store_);
    const auto compacted = co_await compacting;
    // Somebody who reads keeps the folder from being exchanged: that is ordinary.
    if (!compacted && compacted.error().code() != ErrorCode::busy)
      log_.warning("the journal was not compacted: " + compacted.error().message());
  }
  if (mesh_) mesh_->go_on();
  co_return kept.has_value();
}

}  // namespace datum::host
