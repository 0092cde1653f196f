// The undoing of one pass, whoever asks for it: a person over the socket, or a declaration after
// which nobody upstream hears the node.
#include <utility>

#include "conducting.hpp"
#include "datum/program/undo_pass.hpp"
#include "service.hpp"

namespace datum::host {

// What it did is told the better the more is known of what it wanted.
loop::Task<Status> Service::recover_dead_pass(std::optional<core::Mode> mode) {
  if (const auto why = why_unrecorded(); !why.empty())
    co_return fail(ErrorCode::unavailable, "nothing can be recorded: " + why);
  session_.accounts->refresh();
  session_.strict_paths = configuration_.strict_paths.value;
  program::Desired desired;
  desired.content =
      std::shared_ptr<const ContentSource>(std::shared_ptr<void>(), store_->blobs.get());
  Digest declared;
  if (state().pass && state().accepted) {
    auto loading = load_accepted();
    if (auto loaded = co_await loading) desired = std::move(*loaded);
    declared = state().accepted->manifest;
  }
  const auto machine = program::make_machine(session_, desired.content, store_->sensitive_key);
  engine::Conductor conductor(*session_.loop, *store_, machine);
  const Conducting conducting(conductor_, conductor);
  auto recovering = conductor.recover([this, mode] { return own_terms(mode); }, desired.manifest,
                                      desired.manifest ? declared : Digest{});
  co_return co_await recovering;
}

// A pass that died is ended before anything else: it may be the one that is to be undone.
loop::Task<Result<Service::Undone>> Service::undo_pass(UndoOrder order) {
  const auto mode = order.mode;
  auto recovering = recover_dead_pass(mode);
  auto recovered = co_await recovering;
  if (!recovered) co_return fail(std::move(recovered).error());
  auto preparing = engine::prepare_undoing(*session_.loop, *store_, order.pass);
  auto prepared = co_await preparing;
  if (!prepared) co_return fail(std::move(prepared).error());
  const auto undoing = std::move(*prepared);
  if (stopping_) co_return fail(ErrorCode::busy, "the service ends");
  auto request = program::begin_request(session_, std::move(order.actor), configuration_, mode);
  request.read_terms = [this, mode] { return own_terms(mode); };
  request.trigger = order.trigger;
  request.limits.allowed = order.allow_removals;
  request.declaration.node = state().host;
  program::make_undoing(request, undoing);
  engine::Conductor conductor(
      *session_.loop, *store_,
      program::make_machine(session_, undoing->content, store_->sensitive_key));
  const Conducting conducting(conductor_, conductor);
  auto running = conductor.run(std::move(request));
  auto report = co_await running;
  if (!report) co_return fail(std::move(report).error());
  tell_pass(*report);
  co_return Undone{std::move(*report), undoing->reversal.undos.size()};
}

loop::Task<Answer> Service::manual_revert(const Asked& asked) {
  begin_pass();
  const auto& asks = asked.request;
  auto undoing = undo_pass({asks.pass, program::person(asked.peer.uid, asks.command_line),
                            core::Trigger::manual, asks.mode, asks.allow_removals});
  const auto undone = co_await undoing;
  Answer answer;
  if (undone) {
    const auto& report = undone->report;
    const auto acknowledged =
        core::standing_acknowledgements(state(), session_.loop->clock().wall_now());
    answer.output = program::undo_output(view_of(asks), asks.pass, report, undone->targets,
                                         acknowledged, state().host);
    if (report.mode.mode == core::Mode::enforce)
      answer.errors = program::undo_warnings(*report.plan);
    answer.exit_code = program::undo_exit(report);
  } else {
    answer = refusal(undone.error());
  }
  auto ending = end_pass();
  co_await ending;
  co_return answer;
}

}  // namespace datum::host
