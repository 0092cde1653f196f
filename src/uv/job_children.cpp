// One lock and one condition for all runs: they are few and rare.
#include "job_children.hpp"

#include <chrono>
#include <utility>

namespace datum::uv {

JobChildren::JobChildren(std::shared_ptr<CallQueue> calls, Children& children)
    : calls_(std::move(calls)), children_(children) {}

Result<loop::ChildResult> JobChildren::run(const loop::ChildOptions& options) {
  DATUM_TRY(loop::check_job_child_options(options));
  auto run = std::make_shared<Run>();
  const auto deliver = [run, shared = shared_](Result<loop::ChildResult> result) {
    const std::lock_guard guard(shared->mutex);
    run->result.emplace(std::move(result));
    shared->changed.notify_all();
  };
  calls_->add_unpromised([this, run, shared = shared_, deliver, options] {
    {
      const std::lock_guard guard(shared->mutex);
      if (run->abandoned) return;
    }
    auto started = children_.spawn(
        options, [deliver](loop::ChildResult result) { deliver(std::move(result)); });
    if (!started) deliver(fail(std::move(started).error()));
  });
  const auto patience =
      std::chrono::nanoseconds(options.timeout_ns) + std::chrono::nanoseconds(loop::kChildGraceNs);
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, patience, [&] { return shared_->ended || run->result; });
  if (run->result) return std::move(*run->result);
  run->abandoned = true;
  if (shared_->ended) return fail(ErrorCode::cancelled, "the loop has ended");
  return fail(ErrorCode::timed_out, "the loop did not get to start " + options.argv[0]);
}

void JobChildren::end() {
  const std::lock_guard guard(shared_->mutex);
  shared_->ended = true;
  shared_->changed.notify_all();
}

}  // namespace datum::uv
