// A declaration that is undone unless the node is heard upstream in time: the pass that applied it
// is watched, over a reboot too, and reverted from what it kept.
#include <algorithm>
#include <utility>

#include "datum/engine/declaration_files.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

bool is_of(const engine::LinkGuard& guard, const core::DeclarationId& id) {
  return guard.epoch == id.epoch && guard.number == id.number;
}

bool has_changed_something(const core::LastPass& pass) {
  return pass.mode.mode == core::Mode::enforce && pass.finished.succeeded != 0;
}

}  // namespace

// What a death came upon in between is made up for here: the pass ended, and nothing says so.
void Service::begin_guard() {
  guard_.reset();
  const auto& accepted = state().accepted;
  if (!accepted) return;
  auto known = engine::read_link_guard(session_.store_files(), session_.state_folder);
  if (!known) return log_.error("whether to revert: " + known.error().message());
  if (*known && is_of(**known, *accepted)) {
    guard_ = **known;
  } else {
    const auto body =
        engine::read_declaration(session_.store_files(), session_.state_folder, *accepted);
    guard_within_ns_ = body ? body->revert_unless_linked_ns : 0;
    guard_ = make_guard();
  }
  if (guard_ && guard_->stand == engine::GuardStand::waiting) arm_guard(true);
}

// Of the last pass, where that is the first one that carried out a guarded declaration.
std::optional<engine::LinkGuard> Service::make_guard() const {
  const auto& accepted = state().accepted;
  const auto& last = state().last_pass;
  if (guard_within_ns_ <= 0 || !accepted || !last || last->declaration != *accepted)
    return std::nullopt;
  if (!has_changed_something(*last)) return std::nullopt;
  return engine::LinkGuard{
      accepted->epoch,  accepted->number,           last->id, last->finished_at, last->wall,
      guard_within_ns_, engine::GuardStand::waiting};
}

void Service::arm_guard(bool is_start) {
  const auto left = engine::time_left(*guard_, session_.loop->clock().wall_now(), is_start);
  guard_timer_->start(left, 0, [this] {
    revert_due_ = true;
    wake();
  });
}

// Before anybody upstream is told that the declaration is applied.
loop::Task<bool> Service::guard_pass() {
  if (!mesh_ || !state().accepted || (guard_ && is_of(*guard_, *state().accepted))) co_return false;
  guard_ = make_guard();
  if (!guard_) co_return false;
  // The way up may have been quicker than this.
  if (kept_through_ >= guard_->finished_at) guard_->stand = engine::GuardStand::linked;
  auto keeping = keep_guard();
  co_await keeping;
  if (!guard_ || guard_->stand != engine::GuardStand::waiting) co_return true;
  log_.notice("pass " + std::to_string(guard_->pass) +
              " is reverted unless it is known upstream within " +
              std::to_string(guard_->within_ns / kNsPerSecond) + " s");
  arm_guard(false);
  co_return true;
}

loop::Task<bool> Service::keep_guard() {
  std::function<Status()> work = [&files = session_.store_files(), folder = session_.state_folder,
                                  guard = *guard_] {
    return engine::write_link_guard(files, folder, guard);
  };
  auto keeping = loop::run_on<Status>(*reader_, std::move(work));
  const auto kept = co_await keeping;
  if (!kept) log_.error("whether to revert cannot be kept: " + kept.error().message());
  co_return kept.has_value();
}

void Service::kept_upstream(Seq through) {
  kept_through_ = through;
  if (!guard_ || guard_->stand != engine::GuardStand::waiting || through < guard_->finished_at)
    return;
  guard_timer_->stop();
  revert_due_ = false;
  guard_->stand = engine::GuardStand::linked;
  reader_->submit(
      [&files = session_.store_files(), folder = session_.state_folder, guard = *guard_] {
        // Where it is lost the next start gives the link its time once more.
        static_cast<void>(engine::write_link_guard(files, folder, guard));
      },
      [] {});
}

std::string Service::reverted_words() const {
  const bool is_reverted = guard_ && state().accepted && is_of(*guard_, *state().accepted) &&
                           guard_->stand == engine::GuardStand::reverted;
  if (!is_reverted) return {};
  return "reverted: no link within " + std::to_string(guard_->within_ns / kNsPerSecond) +
         " s after it was applied";
}

// A mode that forbids it leaves it due: what a hold keeps is put back when it is over.
loop::Task<bool> Service::revert_guarded() {
  const auto& accepted = state().accepted;
  if (!guard_ || guard_->stand != engine::GuardStand::waiting) co_return false;
  if (!accepted || !is_of(*guard_, *accepted)) co_return false;
  begin_pass();
  auto undoing = undo_guarded();
  const auto undone = co_await undoing;
  if (!undone) log_.error("the pass is not reverted: " + undone.error().message());
  const bool is_done = undone ? *undone
                              : undone.error().code() == ErrorCode::refused ||
                                    undone.error().code() == ErrorCode::not_found;
  if (is_done && guard_) {
    guard_->stand = engine::GuardStand::reverted;
    auto keeping = keep_guard();
    co_await keeping;
    log_.write(Priority::warning, "declaration is " + reverted_words(),
               {{"DATUM_EVENT", "passReverted"}});
  } else if (guard_) {
    guard_timer_->start(engine::kLeastAfterStartNs, 0, [this] {
      revert_due_ = true;
      wake();
    });
  }
  auto ending = end_pass();
  co_return co_await ending;
}

// Whether everything that could be put back was.
loop::Task<Result<bool>> Service::undo_guarded() {
  session_.accounts->refresh();
  session_.strict_paths = configuration_.strict_paths.value;
  const std::function<core::ModeTerms()> read_terms = [this] { return terms(std::nullopt); };
  {
    const std::shared_ptr<const ContentSource> kept(std::shared_ptr<void>(), store_->blobs.get());
    engine::Conductor conductor(*session_.loop, *store_,
                                program::make_machine(session_, kept, store_->sensitive_key));
    auto recovering = conductor.recover(read_terms, nullptr);
    auto recovered = co_await recovering;
    if (!recovered) co_return fail(std::move(recovered).error());
  }
  auto preparing = engine::prepare_undoing(*session_.loop, *store_, guard_->pass);
  auto undoing = co_await preparing;
  if (!undoing) co_return fail(std::move(undoing).error());
  auto request = program::begin_request(session_, service_actor(), configuration_, std::nullopt);
  request.read_terms = read_terms;
  request.trigger = core::Trigger::declaration;
  request.provenance.source = "pass " + std::to_string(guard_->pass);
  request.declaration.node = state().host;
  request.undoing = *undoing;
  request.manifest = (*undoing)->manifest;
  request.content = (*undoing)->content;
  engine::Conductor conductor(
      *session_.loop, *store_,
      program::make_machine(session_, (*undoing)->content, store_->sensitive_key));
  auto running = conductor.run(std::move(request));
  auto ran = co_await running;
  if (!ran) co_return fail(std::move(ran).error());
  tell_pass(*ran);
  auto waiting = wait_durable();
  auto durable = co_await waiting;
  if (!durable) co_return fail(std::move(durable).error());
  co_return ran->mode.mode == core::Mode::enforce && ran->cut_short.empty();
}

}  // namespace datum::host
