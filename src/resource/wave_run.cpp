// Stage all, sync, rename all, sync, observe again. Every way out of an action removes its temp
// file; an action that fails takes no other with it.
#include "wave_run.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"
#include "path_facts.hpp"
#include "provider.hpp"

namespace datum::resource {

namespace {

// Of a purged entry it is the Directory's. `locate` let only targets through that have a path, and
// each type of those has a provider.
const Provider& provider_of(const Work& work) {
  const auto* provider = find_provider(work.action->reference.type);
  DATUM_ASSERT(provider != nullptr);
  return *provider;
}

// Adds the time of one step to the action it is for.
class Stopwatch {
 public:
  Stopwatch(loop::Clock* clock, Work& work) : clock_(clock), work_(work) {
    if (clock_ != nullptr) begun_ = clock_->boot_now();
  }
  ~Stopwatch() {
    if (clock_ != nullptr) work_.spent_ns += clock_->boot_now().ns - begun_.ns;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  loop::Clock* clock_;
  Work& work_;
  BootNs begun_;
};

}  // namespace

WaveRun::WaveRun(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared,
                 const core::Plan& plan, const WaveOptions& options,
                 const std::map<std::uint32_t, Error>& failures)
    : machine_(std::move(machine)),
      declared_(std::move(declared)),
      plan_(plan),
      options_(options),
      failures_(failures),
      sight_(machine_, declared_),
      bench_{sight_, options_, {}} {}

std::vector<core::ActionResult> WaveRun::run(std::span<const std::uint32_t> ordinals) {
  works_.reserve(ordinals.size());
  for (const auto ordinal : ordinals) begin(ordinal);
  decide_batches();
  stage_all();
  sync_staged();
  commit_all();
  sync_live();
  // The look afterwards walks anew; two walks together would hold twice the descriptors.
  for (auto& work : works_) work.where = {};
  sight_.walker().forget();
  observer_ = std::make_unique<Observer>(machine_, declared_);
  std::vector<core::ActionResult> results;
  results.reserve(works_.size());
  for (auto& work : works_) results.push_back(finish(work));
  works_.clear();
  return results;
}

void WaveRun::begin(std::uint32_t ordinal) {
  Work work;
  work.action = &plan_.actions[ordinal];
  if (work.action->kind != core::ActionKind::purge && work.action->kind != core::ActionKind::leave)
    work.resource = declared_->manifest->find(work.action->reference);
  if (const auto failed = failures_.find(ordinal); failed != failures_.end())
    work.error = failed->second;
  auto located = work.error ? Status{} : locate(work);
  if (!located) work.error = std::move(located).error();
  works_.push_back(std::move(work));
}

Status WaveRun::locate(Work& work) {
  const auto& provider = provider_of(work);
  DATUM_ASSIGN(const auto place, find_place(sight_, work.action->target));
  if (place.empty()) return fail(ErrorCode::unsupported, "no provider for it in this version");
  if (work.resource == nullptr && !work.removes())
    return fail(ErrorCode::invalid_argument, "it is not in the manifest of this pass");
  auto where = provider.locate(sight_, place, work);
  if (!where) return fail(std::move(where).error().context("not touched"));
  DATUM_TRY(check_strict(sight_, *where->folder));
  work.where = std::move(*where);
  if (!work.creates() || provider.shares_file()) {
    DATUM_ASSIGN(work.before, sight_.find(work.where));
  }
  if (sight_.is_own(work.where, work.before))
    return fail(ErrorCode::refused, "it belongs to Datum itself; not touched");
  if (work.before && work.before->immutable)
    return fail(ErrorCode::permission_denied, "it is immutable (chattr +i or +a); not touched");
  if (provider.shares_file()) return compare_part(work);
  auto change = find_change(work, work.before);
  if (change) work.skipped = std::move(*change);
  return {};
}

// Of a part of a file: whether it still is what the plan saw.
Status WaveRun::compare_part(Work& work) {
  // Its wave asked before it unmounted, and that is a difference too.
  if (work.resource != nullptr && work.action->target.family == model::TargetFamily::mount)
    return {};
  Observer observer(machine_, declared_);
  bool same = false;
  if (work.resource != nullptr) {
    const auto seen = observer.observe(*work.resource);
    if (seen.found == core::Found::unseen) return fail(ErrorCode::conflict, seen.reason);
    same = seen.found == work.action->found && seen.drifts == work.action->changes;
  } else {
    const auto* left = declared_->find_owned(work.action->target);
    core::Owned owned;
    if (left != nullptr) owned.left = *left;
    const auto seen = observer.observe_leaving(work.action->target, owned);
    if (seen.found == core::Found::unseen) return fail(ErrorCode::conflict, seen.reason);
    same = seen.found == work.action->found && left != nullptr && left->content == seen.content;
  }
  if (!same) work.skipped = "it was changed since it was observed";
  return {};
}

void WaveRun::decide_batches() {
  if (!sight_.files().reports_file_system_sync_errors()) return;
  std::map<std::uint64_t, std::uint32_t> counts;
  for (const auto& work : works_)
    if (work.going() && !work.removes()) ++counts[work.where.folder->device];
  // What is not batched stays open until it is synced.
  const auto at_most =
      std::min<std::size_t>(options_.file_sync_threshold, machine_->max_open_folders);
  for (const auto& [device, count] : counts) bench_.batched[device] = count > at_most;
}

void WaveRun::stage(Work& work) {
  const Stopwatch watch(options_.clock, work);
  bench_.crash_point("stage", work);
  auto staged = provider_of(work).stage(bench_, work);
  if (!staged) {
    if (work.skipped.empty()) work.error = std::move(staged).error();
    discard(bench_, work);
    return;
  }
  // Its bytes are made durable with the file system's, through a descriptor opened before it.
  if (bench_.is_batched(work.where.folder->device)) work.handle = {};
  bench_.crash_point("staged", work);
}

// Whether it is to be left as it is because nothing more may be begun.
bool WaveRun::is_left(Work& work) {
  if (!options_.stop.stopped()) return false;
  work.skipped = "not begun: the pass was held at once";
  discard(bench_, work);
  return true;
}

// What is taken out of a file that stays is a change of that file.
void WaveRun::stage_all() {
  for (auto& work : works_)
    if (work.going() && (!work.removes() || provider_of(work).shares_file()) && !is_left(work))
      stage(work);
}

void WaveRun::commit_all() {
  for (auto& work : works_)
    if (work.going() && !is_left(work)) commit(work);
}

// Whether the target is not what was observed any more; the action is skipped then.
Result<bool> WaveRun::has_changed(Work& work) {
  DATUM_ASSIGN(const auto now, sight_.find(work.where));
  if (provider_of(work).shares_file()) {
    const bool same = now && work.before ? identity_of(*now) == identity_of(*work.before)
                                         : now.has_value() == work.before.has_value();
    if (!same) work.skipped = "its file was changed since it was looked at";
    return !same;
  }
  auto change = find_change(work, now);
  if (change) work.skipped = std::move(*change);
  return !work.skipped.empty();
}

Status WaveRun::commit_checked(Work& work) {
  if (work.creates() && !provider_of(work).shares_file()) {
    auto created = provider_of(work).commit(bench_, work);
    if (created || created.error().code() != ErrorCode::already_exists) return created;
    DATUM_ASSIGN(const bool changed, has_changed(work));
    return changed ? Status{} : created;
  }
  DATUM_ASSIGN(const bool changed, has_changed(work));
  if (changed) return {};
  if (!work.removes()) return provider_of(work).commit(bench_, work);
  return provider_of(work).remove(bench_, work);
}

void WaveRun::commit(Work& work) {
  const Stopwatch watch(options_.clock, work);
  bench_.crash_point("rename", work);
  // What was staged is durable; from here on the handle is for what is live.
  work.handle = {};
  work.staged = false;
  auto committed = commit_checked(work);
  if (!committed && work.skipped.empty()) work.error = std::move(committed).error();
  if (!work.going()) {
    auto handle = std::move(work.handle);
    discard(bench_, work);
    // Half of a change may have happened: that half must be durable like a whole one.
    if (work.live) work.handle = std::move(handle);
    return;
  }
  if (bench_.is_batched(work.where.folder->device)) work.handle = {};
  bench_.crash_point("renamed", work);
}

}  // namespace datum::resource
