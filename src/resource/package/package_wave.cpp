#include "package_wave.hpp"

#include <algorithm>

#include "../action_wave.hpp"
#include "../path_facts.hpp"
#include "../show.hpp"
#include "../wave_run.hpp"
#include "datum/model/reserved.hpp"
#include "datum/os/apt.hpp"
#include "package_observer.hpp"

namespace datum::resource {

namespace {

using model::Field;

// An unattended upgrade takes minutes; a pass has 45 of them in all.
constexpr std::int64_t kLockWaitNs = 5 * 60 * kNsPerSecond;
constexpr std::int64_t kLockPauseNs = kNsPerSecond;
// design §11, "a package transaction".
constexpr std::int64_t kTransactionNs = 30 * 60 * kNsPerSecond;
// Lists of some hundred megabytes over a slow line.
constexpr std::int64_t kRefreshNs = 10 * 60 * kNsPerSecond;
constexpr std::int64_t kHoldNs = 60 * kNsPerSecond;
// Of one package; a transaction's output is bounded by whoever runs it.
constexpr std::size_t kOutputBytes = 4096;
// Names in one message.
constexpr std::size_t kMaxNamed = 20;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kMaxNamed); ++i)
    text += (i == 0 ? "" : ", ") + parts[i];
  if (parts.size() > kMaxNamed)
    text += " and " + std::to_string(parts.size() - kMaxNamed) + " more";
  return text;
}

bool wants_hold(const model::Resource* resource, bool held) {
  return resource != nullptr && !resource->absent() && resource->find(Field::pinned) != nullptr &&
         resource->flag(Field::pinned) == held;
}

std::string key_of(const os::InstalledPackage& package) {
  return std::string(package.name) + ":" + std::string(package.architecture);
}

std::string describe(const os::LockHolder& holder, std::int64_t waited_ns) {
  std::string text = "the package manager is in use: " + holder.lock + " is held by process " +
                     std::to_string(holder.pid);
  if (!holder.program.empty()) text += " (" + shown(holder.program) + ")";
  return text + ", for " + std::to_string(waited_ns / kNsPerSecond) +
         " s by now; it can be tried again";
}

}  // namespace

bool PackageWave::Work::removes() const {
  return resource::removes(action->kind);
}

PackageWave::PackageWave(WaveBasis basis)
    : ActionWave(std::move(basis)), works_(make_works<Work>(*declared_, *plan_, ordinals_)) {}

Result<std::vector<Prepared>> PackageWave::prepare(blobs::BlobStore& /*store*/) {
  return prepare_without_content(works_);
}

// --- steps

std::optional<ToolStep> PackageWave::next_step() {
  while (stage_ != Stage::done) {
    if (auto pause = wait_for_lock()) return pause;
    if (stage_ == Stage::done) break;
    if (auto step = next_of_stage()) return step;
  }
  return {};
}

std::optional<ToolStep> PackageWave::wait_for_lock() {
  if (machine_->packages == nullptr) return {};
  const auto holder = machine_->packages->find_lock_holder();
  if (!holder) {
    waited_ns_ = 0;
    return {};
  }
  if (waited_ns_ >= kLockWaitNs) {
    fail_all(Error(ErrorCode::busy, resource::describe(*holder, waited_ns_)));
    return {};
  }
  waited_ns_ += kLockPauseNs;
  ToolStep pause;
  pause.pause_ns = kLockPauseNs;
  return pause;
}

std::optional<ToolStep> PackageWave::next_of_stage() {
  switch (stage_) {
    case Stage::begin:
      return begin();
    case Stage::keep:
      return keep_release();
    case Stage::lists:
      return refresh_old_lists();
    case Stage::transactions:
      return next_transaction();
    case Stage::hold:
      stage_ = Stage::unhold;
      return next_hold(true);
    case Stage::unhold:
      stage_ = Stage::done;
      return next_hold(false);
    case Stage::done:
      break;
  }
  return {};
}

// What this wave does not name itself: a transaction would run into it.
std::vector<std::string> PackageWave::foreign_interruptions(const os::PackageBook& book) const {
  std::vector<std::string> names;
  for (const auto& package : book.packages()) {
    const bool named = std::any_of(works_.begin(), works_.end(), [&](const Work& work) {
      return book.find(work.action->target.name) == &package;
    });
    if (os::is_interrupted(package) && !named) names.push_back(os::describe(package));
  }
  return names;
}

std::optional<ToolStep> PackageWave::begin() {
  stage_ = Stage::keep;
  std::optional<std::string> absence = "no package manager is asked here";
  if (machine_->packages != nullptr) absence = machine_->packages->find_absence();
  if (!absence && machine_->units == nullptr) absence = "no service manager is asked here";
  if (!absence) absence = machine_->units->find_absence();
  if (absence) {
    fail_all(Error(ErrorCode::unavailable,
                   *absence + ": a package tool would end with whoever began it, and perhaps half "
                              "way; nothing was begun"));
    return {};
  }
  const auto book = machine_->packages->read();
  if (!book) {
    fail_all(book.error());
    return {};
  }
  for (const auto& package : book->packages())
    if (package.held) held_before_.insert(key_of(package));
  native_ = book->native_architecture();
  const auto cut_off = foreign_interruptions(*book);
  if (cut_off.empty() && !book->has_updates()) return {};
  if (!options_.finish_interrupted) {
    fail_all(Error(ErrorCode::conflict,
                   "the package manager was interrupted, and not in a run of Datum's" +
                       (cut_off.empty() ? std::string() : ": " + joined(cut_off)) +
                       "; finish it with `dpkg --configure -a`, or allow that with "
                       "packages.finishInterrupted in agent.yaml"));
    return {};
  }
  return ToolStep{"dpkg --configure -a", machine_->packages->finish_interrupted(false),
                  kTransactionNs, 0};
}

ToolStep PackageWave::refresh() {
  refreshed_ = true;
  return {"apt-get update", machine_->packages->refresh(), kRefreshNs, 0};
}

std::optional<ToolStep> PackageWave::refresh_old_lists() {
  stage_ = Stage::transactions;
  const bool installs =
      std::any_of(works_.begin(), works_.end(), [](const Work& work) { return !work.removes(); });
  if (!installs || refreshed_ || !machine_->packages->lists_are_older()) return {};
  return refresh();
}

// --- transactions

std::optional<os::PackageWish> PackageWave::wish_of(const Work& work,
                                                    const os::PackageBook& book) const {
  const auto name = work.action->target.name.str();
  const auto* package = book.find(name);
  const bool present = package != nullptr && os::is_present(*package);
  if (work.removes()) {
    if (!present) return {};
    return os::PackageWish{name, {}, true};
  }
  if (present && !os::is_interrupted(*package) && has_wanted_version(*work.resource, *package) &&
      !needs_own_files(work, *package))
    return {};
  return os::PackageWish{name, std::string(work.resource->text(Field::version)), false};
}

os::PackageOrder PackageWave::make_order(const os::PackageBook& book, bool replace_conffiles) {
  os::PackageOrder order;
  order.replace_conffiles = replace_conffiles;
  for (auto& work : works_) {
    if (!work.going()) continue;
    const bool replaces =
        work.resource != nullptr && work.resource->text(Field::conffiles) == "replace";
    if (replaces != replace_conffiles) continue;
    const auto wish = wish_of(work, book);
    if (!wish) continue;
    if (wish->remove && model::is_own_package(wish->name)) {
      work.error = Error(ErrorCode::refused, "it belongs to Datum itself: it is never removed");
      continue;
    }
    const auto* package = book.find(wish->name);
    const bool present = package != nullptr && os::is_present(*package);
    order.change_held = order.change_held || (present && package->held);
    const bool in_part =
        present && (package->needs_reinstall || package->state == os::PackageState::half_installed);
    const bool other = present && needs_own_files(work, *package);
    order.reinstall = order.reinstall || ((in_part || other) && !wish->remove);
    order.allow_downgrade =
        order.allow_downgrade || (present && !wish->version.empty() &&
                                  os::compare_debian_versions(wish->version, package->version) < 0);
    order.wishes.push_back(*wish);
  }
  return order;
}

// apt leaves out the machine's own architecture, a document may not.
bool PackageWave::is_named(const os::PackageOrder& order, const std::string& name,
                           bool to_remove) const {
  return std::any_of(order.wishes.begin(), order.wishes.end(), [&](const os::PackageWish& wish) {
    return wish.remove == to_remove && (wish.name == name || wish.name == name + ":" + native_);
  });
}

// What nobody asked for; dependencies that are newly installed are part of what was asked for.
std::string PackageWave::find_offence(const os::PackageOrder& order,
                                      const os::Foresight& seen) const {
  using Kind = os::ForeseenChange::Kind;
  std::vector<std::string> offences;
  std::set<std::string> installed;
  for (const auto& change : seen.changes) {
    const auto name = shown(change.name);
    if (change.kind == Kind::remove) {
      if (model::is_own_package(change.name)) return "it would remove Datum's own package " + name;
      if (!is_named(order, change.name, true)) offences.push_back("remove " + name);
    } else if (change.kind == Kind::install) {
      installed.insert(change.name);
      if (change.from.empty() || is_named(order, change.name, false)) continue;
      offences.push_back("change " + name + " (" + shown(change.from) + " to " + shown(change.to) +
                         ")");
    } else if (!installed.contains(change.name) && !is_named(order, change.name, false)) {
      offences.push_back("configure " + name);
    }
  }
  if (offences.empty()) return {};
  return "it would touch packages that nobody named: " + joined(offences) +
         "; declare them too, or another version";
}

PackageWave::Work* PackageWave::find_work(const std::string& name) {
  for (auto& work : works_)
    if (work.action->target.name.view() == name) return &work;
  for (auto& work : works_)
    if (work.action->target.name.view() == name + ":" + native_) return &work;
  return nullptr;
}

// A name that is nowhere holds back only itself.
void PackageWave::fail_unknown(const os::Foresight& seen, os::PackageOrder& order) {
  for (const auto& name : seen.unknown) {
    auto* const work = find_work(name);
    if (work == nullptr) continue;
    work->error = Error(ErrorCode::not_found, "no source of packages offers it: " + seen.refusal);
    std::erase_if(order.wishes, [work](const os::PackageWish& wish) {
      return wish.name == work->action->target.name.view();
    });
  }
}

// Whether the order may be carried out. `again`: the lists are to be read anew first.
bool PackageWave::foresee(os::PackageOrder& order, bool& again) {
  while (!order.wishes.empty()) {
    const auto seen = machine_->packages->simulate(order, options_.run_child);
    if (!seen) {
      fail_wishes(order, seen.error());
      return false;
    }
    if (!seen->unknown.empty()) {
      again = !refreshed_;
      if (again) return false;
      const auto before = order.wishes.size();
      fail_unknown(*seen, order);
      if (order.wishes.size() < before) continue;
    }
    if (!seen->refusal.empty()) {
      fail_wishes(
          order, Error(ErrorCode::refused, "the package manager refuses: " + shown(seen->refusal)));
      return false;
    }
    const auto offence = find_offence(order, *seen);
    if (offence.empty()) return true;
    fail_wishes(order, Error(ErrorCode::refused, offence));
    return false;
  }
  return false;
}

std::optional<ToolStep> PackageWave::next_transaction() {
  const auto book = machine_->packages->read();
  if (!book) {
    fail_all(book.error());
    return {};
  }
  auto order = make_order(*book, replace_conffiles_);
  bool again = false;
  if (foresee(order, again)) {
    running_ = order;
    crash_point("transaction", works_.front().action->ordinal);
    return ToolStep{"apt-get install", machine_->packages->transaction(order), kTransactionNs, 0};
  }
  if (again) return refresh();
  if (replace_conffiles_) stage_ = Stage::hold;
  replace_conffiles_ = true;
  return {};
}

void PackageWave::end_step(ToolStepEnd end) {
  crash_point("tool-ended", works_.front().action->ordinal);
  const bool transaction = running_.has_value();
  if (end.still_running) {
    for (auto& work : works_)
      if (work.going()) work.still_running = end.unit;
    fail_all(Error(ErrorCode::timed_out,
                   "its tool is past its limit and is not killed: " + end.unit + " goes on"));
    return;
  }
  if (keeping_) return end_keeping(end);
  if (end.error && !transaction) return;  // what it was for is seen by what follows
  if (!transaction) return;
  const auto order = std::move(*running_);
  running_.reset();
  for (const auto& wish : order.wishes) {
    auto* const work = find_work(wish.name);
    if (work == nullptr) continue;
    work->acted = true;
    work->output = os::output_about(end.output, wish.name, kOutputBytes);
    // Else whoever held the lock before apt got it may have installed it.
    work->unpacked = work->action->kind == core::ActionKind::create &&
                     os::tells_of_unpacking(end.output, wish.name);
    if (end.error)
      work->ended_badly = end.error->message();
    else if (!end.succeeded)
      work->ended_badly = end.how.empty() ? "nobody knows how its tool ended" : end.how;
    if (!work->ended_badly.empty() && work->output.empty())
      work->output =
          end.output.substr(end.output.size() - std::min(end.output.size(), kOutputBytes));
  }
  if (replace_conffiles_) stage_ = Stage::hold;
  replace_conffiles_ = true;
}

// --- holds

// Those that are declared, and those that a transaction took away.
std::vector<std::string> PackageWave::wrong_holds(const os::PackageBook& book, bool held) const {
  std::set<std::string> names;
  for (const auto& work : works_) {
    const auto* package = book.find(work.action->target.name);
    const bool wrong = package != nullptr && os::is_present(*package) && package->held != held;
    if (wrong && work.going() && wants_hold(work.resource, held))
      names.insert(work.action->target.name.str());
  }
  if (!held) return {names.begin(), names.end()};
  for (const auto& package : book.packages()) {
    if (package.held || !os::is_present(package) || !held_before_.contains(key_of(package)))
      continue;
    const auto key = key_of(package);
    const bool released = std::any_of(works_.begin(), works_.end(), [&](const Work& work) {
      return book.find(work.action->target.name) == &package && wants_hold(work.resource, false);
    });
    if (!released) names.insert(package.architecture == "all" ? std::string(package.name) : key);
  }
  return {names.begin(), names.end()};
}

std::optional<ToolStep> PackageWave::next_hold(bool held) {
  const auto book = machine_->packages->read();
  if (!book) {
    fail_all(book.error());
    return {};
  }
  const auto names = wrong_holds(*book, held);
  if (names.empty()) return {};
  return ToolStep{held ? "apt-mark hold" : "apt-mark unhold", machine_->packages->hold(names, held),
                  kHoldNs, 0};
}

// --- ends

void PackageWave::fail_wishes(const os::PackageOrder& order, const Error& error) {
  for (const auto& wish : order.wishes)
    if (auto* const work = find_work(wish.name); work != nullptr && work->going())
      work->error = error;
}

void PackageWave::fail_all(const Error& error) {
  for (auto& work : works_)
    if (work.going()) work.error = error;
  running_.reset();
  stage_ = Stage::done;
}

void PackageWave::cancel(std::string reason) {
  // What a transaction has done already is seen by looking.
  for (auto& work : works_)
    if (!work.acted && work.going()) work.skipped = "not begun: " + reason;
  stage_ = Stage::done;
}

core::ActionResult PackageWave::describe(Work& work, Observer& observer) {
  core::ActionResult result;
  const auto& target = work.action->target;
  if (work.removes() && work.resource == nullptr) {
    const auto left = observer.observe_leaving(target, {});
    result.left.found = left.found;
    if (left.found == core::Found::unseen)
      work.error = Error(ErrorCode::io_error, "it cannot be seen what came of it: " + left.reason);
    else if (left.found != core::Found::absent)
      work.error = Error(ErrorCode::conflict, "it is still there");
    return result;
  }
  result.after = observer.observe(*work.resource);
  result.left.found = result.after.found;
  if (result.after.condition == core::Condition::unknown ||
      result.after.condition == core::Condition::skipped)
    work.error = Error(ErrorCode::io_error,
                       "it cannot be seen what came of it: " + result.after.reason.str());
  else if (!result.after.drifts.empty())
    work.error =
        Error(ErrorCode::conflict, "it did not take effect: " + result.after.drifts[0].field +
                                       " is " + result.after.drifts[0].observed);
  return result;
}

// A transaction that failed may have unpacked it, or more.
void PackageWave::note_change(const Work& work, Observer& observer, core::ActionResult& result) {
  if (!work.acted) return;
  if (work.resource == nullptr) {
    const auto left = observer.observe_leaving(work.action->target, {});
    result.remains = remains_of(left);
    result.changed = left.found != work.action->found;
    return;
  }
  const auto seen = observer.observe(*work.resource);
  result.remains = remains_of(seen);
  if (result.remains) {
    result.remains->left = {seen.found, 0, 0, {}};
    result.remains->made = work.unpacked;
  }
  result.changed = seen.found != work.action->found || seen.drifts != work.action->changes;
}

std::vector<core::ActionResult> PackageWave::finish() {
  Observer observer(machine_, declared_);
  std::vector<core::ActionResult> results;
  for (auto& work : works_) {
    crash_point("observe", work.action->ordinal);
    core::ActionResult result;
    if (work.going()) {
      result = describe(work, observer);
      if (work.error && !work.ended_badly.empty())
        work.error = Error(work.error->code(), work.error->message() + "; " + work.ended_badly);
    }
    result.ordinal = work.action->ordinal;
    result.atomic = false;
    result.still_running = work.still_running;
    result.skipped = !work.skipped.empty();
    result.message = work.skipped;
    if (work.error) {
      note_change(work, observer, result);
      result.failure = digest_failure(*work.error);
      result.message = work.error->message();
      result.output = std::move(work.output);
      result.error = std::move(work.error);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace datum::resource
