// A declaration that is undone unless the node is heard upstream in time. It is guarded before it
// is accepted; how it stands follows from the journal, at every start anew, and an undoing that has
// begun comes to its end, whatever the link does.
#include <algorithm>
#include <utility>

#include "datum/engine/declaration_files.hpp"
#include "datum/history/archive.hpp"
#include "service.hpp"

namespace datum::host {

using engine::GuardStand;

bool Service::has_guard(GuardStand stand) const {
  return guard_ && state().accepted && engine::is_of(*guard_, *state().accepted) &&
         guard_->stand == stand;
}

// Of what was accepted: at a start, and with each acceptance.
loop::Task<bool> Service::begin_guard() {
  guard_timer_->stop();
  guard_.reset();
  told_undone_.clear();
  heard_from_ = 0;
  revert_due_ = is_overdue_ = false;
  if (!state().accepted) co_return false;
  std::function<engine::FoundGuard()> work =
      [&files = session_.store_files(), folder = session_.state_folder, id = *state().accepted] {
        return engine::find_link_guard(files, folder, id);
      };
  auto finding = loop::run_on<engine::FoundGuard>(*reader_, std::move(work));
  const auto found = co_await finding;
  guard_ = found.guard;
  if (!found.problem.empty()) {
    auto mending = mend_guard(found.problem);
    co_await mending;
  }
  if (guard_) {
    const auto within = guard_->within_ns;
    const auto least = found.problem.empty() ? engine::least_after_start(within) : within;
    guard_floor_ = BootNs{session_.loop->clock().boot_now().ns + least};
  }
  if (!guard_ || guard_->stand == GuardStand::linked) co_return guard_.has_value();
  auto looking = look_at_guard(found.problem.empty() ? Look::at_start : Look::anew);
  co_return co_await looking;
}

// Told once: what lies there is replaced.
loop::Task<bool> Service::mend_guard(std::string problem) {
  const auto generation = engine::generation_text(*state().accepted);
  problem = "identity/guard: " + problem +
            (guard_ ? "; declaration " + generation +
                          " is guarded, and its link has its whole time from this start"
                    : "; declaration " + generation + " is not known to be guarded, and stays");
  log_.write(Priority::error, problem, {{"DATUM_EVENT", "configRejected"}});
  record(core::RejectConfig{session_.state_folder + "/identity/guard", 0, 0, problem});
  if (guard_) {
    auto setting = set_guard(guard_->stand);
    co_return co_await setting;
  }
  std::function<Status()> work = [&files = session_.store_files(), folder = session_.state_folder] {
    return engine::drop_link_guard(files, folder);
  };
  auto dropping = loop::run_on<Status>(*reader_, std::move(work));
  const auto dropped = co_await dropping;
  if (!dropped) log_.error("identity/guard is not removed: " + dropped.error().message());
  co_return dropped.has_value();
}

loop::Task<Result<engine::GuardStory>> Service::read_story() {
  using Read = Result<engine::GuardStory>;
  auto waiting = wait_durable();
  auto durable = co_await waiting;
  if (!durable) co_return fail(std::move(durable).error());
  auto* const log = store_->history->is_unrecorded() ? nullptr : store_->history->log();
  if (log == nullptr) co_return fail(ErrorCode::unavailable, "nothing can be recorded");
  auto live = log->make_reader();
  if (!live) co_return fail(std::move(live).error());
  const auto reader = std::make_shared<std::unique_ptr<journal::Reader>>(std::move(*live));
  std::function<Read()> work = [reader, id = *state().accepted, since = guard_->since,
                                archive = history::archive_folder(store_->folder)]() -> Read {
    DATUM_ASSIGN(const auto whole, journal::join_archive(std::move(*reader), archive));
    return engine::read_guard_story(*whole, id, since);
  };
  auto reading = loop::run_on<Read>(*reader_, std::move(work));
  co_return co_await reading;
}

// What the journal says of it, and how long its link has by that.
loop::Task<bool> Service::look_at_guard(Look look) {
  // Its time runs, and nothing was changed.
  if (look == Look::after_pass && is_overdue_) co_return true;
  if (!why_unrecorded().empty()) {
    arm_guard(engine::kLeastAfterStartNs);
    co_return false;
  }
  auto reading = read_story();
  const auto story = co_await reading;
  if (!story) {
    log_.error("whether to undo the declaration: " + story.error().message());
    arm_guard(engine::kLeastAfterStartNs);
    co_return false;
  }
  told_undone_ = story->told;
  auto stand = guard_->stand;
  if (!story->told.empty()) {
    stand = GuardStand::reverted;
  } else if (look == Look::anew && story->is_begun) {
    stand = GuardStand::undoing;
  } else if (look == Look::anew && story->linked_since) {
    stand = GuardStand::linked;
  }
  if (stand != guard_->stand) {
    auto setting = set_guard(stand);
    co_await setting;
  }
  revert_due_ = stand == GuardStand::undoing;
  if (stand == GuardStand::reverted && mesh_) mesh_->tell_reverted();
  if (stand != GuardStand::waiting) co_return true;
  const bool is_start = look != Look::after_pass;
  const bool is_news = is_start || heard_from_ == 0;
  heard_from_ = story->finished_at;
  kept_upstream(kept_through_);
  // Without a change there is nothing that could be undone, and no time runs.
  if (!has_guard(GuardStand::waiting) || !story->from) co_return true;
  const auto now = session_.loop->clock().wall_now();
  const auto from = look == Look::anew ? now : *story->from;
  const auto within =
      guard_->within_ns + (story->is_finished ? 0 : configuration_.pass_limit_ns.value);
  // Every pass died: none is tried once more before the way up is known to be open.
  is_overdue_ = is_start && story->finished_at == 0 && from.ns + within <= now.ns;
  if (is_overdue_) heard_from_ = story->changed_at;
  const auto left = arm_guard(engine::time_left(within, from, now));
  if (is_news)
    log_.notice("declaration " + engine::generation_text(*state().accepted) +
                " is undone unless it is known upstream within " +
                std::to_string((left + kNsPerSecond - 1) / kNsPerSecond) + " s");
  co_return true;
}

std::int64_t Service::arm_guard(std::int64_t left_ns) {
  revert_due_ = false;
  left_ns = std::max(left_ns, guard_floor_.ns - session_.loop->clock().boot_now().ns);
  guard_timer_->start(left_ns, 0, [this] {
    revert_due_ = true;
    wake();
  });
  return left_ns;
}

loop::Task<bool> Service::set_guard(GuardStand stand) {
  guard_->stand = stand;
  std::function<Status()> work = [&files = session_.store_files(), folder = session_.state_folder,
                                  guard = *guard_] {
    return engine::write_link_guard(files, folder, guard);
  };
  auto keeping = loop::run_on<Status>(*reader_, std::move(work));
  const auto kept = co_await keeping;
  if (!kept) log_.error("identity/guard cannot be written: " + kept.error().message());
  co_return kept.has_value();
}

void Service::kept_upstream(Seq through) {
  kept_through_ = through;
  if (!has_guard(GuardStand::waiting) || heard_from_ == 0 || through < heard_from_) return;
  if (std::exchange(is_overdue_, false)) {
    // It cannot have cut the way: it may try to come to an end once more.
    heard_from_ = 0;
    arm_guard(guard_->within_ns + configuration_.pass_limit_ns.value);
    return ask_for_pass(core::Trigger::declaration);
  }
  guard_timer_->stop();
  revert_due_ = false;
  guard_->stand = GuardStand::linked;
  reader_->submit(
      [&files = session_.store_files(), folder = session_.state_folder, guard = *guard_] {
        // Where it is lost the next start gives the link its time once more.
        static_cast<void>(engine::write_link_guard(files, folder, guard));
      },
      [] {});
}

// So that it has some tries in its time, however large the mesh is.
std::int64_t Service::most_wait_for_link() const {
  constexpr std::int64_t kLeastTries = 8;
  return has_guard(GuardStand::waiting) ? guard_->within_ns / kLeastTries : 0;
}

std::string Service::why_guarded() const {
  if (!guard_ || !state().accepted) return {};
  const auto generation = engine::generation_text(*state().accepted);
  if (has_guard(GuardStand::undoing)) return "declaration " + generation + " is being undone";
  if (!is_overdue_) return {};
  return "no pass of declaration " + generation + " came to an end, and nobody upstream is heard";
}

std::optional<std::string> Service::reverted_words() const {
  if (has_guard(GuardStand::undoing)) return std::string();
  if (!has_guard(GuardStand::reverted)) return std::nullopt;
  return told_undone_;  // empty where its records are in an archive that is elsewhere
}

// A mode that forbids it leaves it due: what a hold keeps is put back when it is over.
loop::Task<bool> Service::revert_guarded() {
  if (!has_guard(GuardStand::waiting) && !has_guard(GuardStand::undoing)) co_return false;
  if (core::host_mode(own_terms(std::nullopt)).mode != core::Mode::enforce) {
    arm_guard(engine::kLeastAfterStartNs);
    co_return false;
  }
  begin_pass();
  auto undoing = undo_declaration();
  const auto undone = co_await undoing;
  if (!undone && !stopping_)
    log_.error("the declaration is not undone yet: " + undone.error().message());
  auto ending = end_pass();
  co_await ending;
  const bool is_over = undone.value_or(false);
  if (!is_over) arm_guard(engine::kLeastAfterStartNs);
  co_return is_over;
}

// False: it has not come to its end.
loop::Task<Result<bool>> Service::undo_declaration() {
  auto recovering = recover_dead_pass(std::nullopt);
  auto recovered = co_await recovering;
  if (!recovered) co_return fail(std::move(recovered).error());
  auto reading = read_story();
  const auto story = co_await reading;
  if (!story) co_return fail(story.error());
  // Somebody upstream may have heard of it meanwhile.
  const bool is_begun = has_guard(GuardStand::undoing);
  if (!is_begun && !has_guard(GuardStand::waiting)) co_return true;
  if (story->to_undo.empty() && story->ended_by == 0) {
    if (std::exchange(is_overdue_, false)) ask_for_pass(core::Trigger::declaration);
    auto waiting = set_guard(GuardStand::waiting);
    co_return co_await waiting;
  }
  if (!is_begun) {
    auto beginning = set_guard(GuardStand::undoing);
    if (!co_await beginning) {
      guard_->stand = GuardStand::waiting;
      co_return fail(ErrorCode::unavailable, "that it begins cannot be kept");
    }
  }
  is_overdue_ = false;
  std::vector<std::string> lost;
  auto undoing = undo_passes(story->to_undo, lost);
  auto undone = co_await undoing;
  if (!undone || !*undone) co_return undone;
  auto ending = end_undoing(lost);
  co_return co_await ending;
}

// What cannot be undone however often it is tried goes into `lost`, in words.
loop::Task<Result<bool>> Service::undo_passes(const std::vector<PassId>& passes,
                                              std::vector<std::string>& lost) {
  for (const auto pass : passes) {
    auto undoing = undo_pass({pass, service_actor(), core::Trigger::declaration, {}, 0});
    auto undone = co_await undoing;
    if (undone &&
        (undone->report.mode.mode != core::Mode::enforce || !undone->report.cut_short.empty()))
      co_return false;
    if (undone) continue;
    const auto code = undone.error().code();
    if (code != ErrorCode::not_found && code != ErrorCode::refused && code != ErrorCode::corrupt)
      co_return fail(std::move(undone).error());
    lost.push_back("pass " + std::to_string(pass) + ": " + undone.error().message());
  }
  co_return true;
}

// What a dead pass did not come to, and what could not be put back, is as little to be enforced as
// what was undone.
loop::Task<Result<bool>> Service::keep_differing() {
  auto loading = load();
  auto loaded = co_await loading;
  if (!loaded) co_return fail(std::move(loaded).error());
  auto observing = recover_and_run(std::move(*loaded), core::Trigger::declaration, nullptr);
  const auto observed = co_await observing;
  if (!observed) co_return fail(observed.error());
  if (!*observed || !(*observed)->cut_short.empty()) co_return false;
  const auto& now = state();
  std::vector<model::Target> differing;
  for (const auto& [target, resource] : now.resources)
    if (resource.condition != core::Condition::converged) differing.push_back(target);
  for (const auto& [target, owned] : now.owned)
    if (!now.resources.contains(target)) differing.push_back(target);
  const auto until = core::until_newer(now).until_generation;
  for (const auto& target : differing)
    if (!core::is_kept(now, target, now.accepted->manifest))
      record(core::KeepTarget{target, until, {}, service_actor(), (*observed)->pass});
  co_return true;
}

loop::Task<Result<bool>> Service::end_undoing(const std::vector<std::string>& lost) {
  auto keeping = keep_differing();
  auto kept = co_await keeping;
  if (!kept || !*kept) co_return kept;
  auto reading = read_story();
  const auto story = co_await reading;
  if (!story) co_return fail(story.error());
  record(core::RejectDeclaration{*state().accepted,
                                 engine::describe_undoing(*story, guard_->within_ns, lost)});
  auto telling = read_story();
  const auto told = co_await telling;
  if (!told) co_return fail(told.error());
  if (told->told.empty()) co_return fail(ErrorCode::unavailable, "its end is not recorded");
  told_undone_ = told->told;
  auto setting = set_guard(GuardStand::reverted);
  co_await setting;
  log_.write(Priority::warning,
             "declaration " + engine::generation_text(*state().accepted) + " is " + told_undone_,
             {{"DATUM_EVENT", "passReverted"}});
  if (mesh_) mesh_->tell_reverted();
  co_return true;
}

}  // namespace datum::host
