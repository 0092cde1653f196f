// After a crash: what became of the announced actions of a dead pass. Looking changes nothing, so
// that a recovery which dies itself finds the same again; what is said is made durable before it is
// said. Cleaning up comes later and is told by itself.
#include <algorithm>
#include <array>
#include <string_view>

#include "path_facts.hpp"
#include "provider.hpp"
#include "unit_shadow.hpp"
#include "work.hpp"

namespace datum::resource {

namespace {

using core::RecoveredOutcome;

// As many folders and objects are held open until they are synced; above it one sync of each file
// system does for all, where errors of that are reported.
constexpr std::size_t kHeldOpen = 64;

// Whoever lends something for one call.
template <class T>
std::shared_ptr<const T> borrow(const T& value) {
  return {std::shared_ptr<const T>(), &value};
}

// --- looking

// A target as it is now, next to what the dead pass wanted of it and saw of it before.
struct Seen {
  core::Found found = core::Found::unseen;
  bool declared = false;  // the dead pass's own manifest is at hand and has this target
  bool as_declared = false;
  bool as_before = false;
};

RecoveredOutcome judge(core::ActionKind kind, const Seen& seen, bool temp_there) {
  if (seen.found == core::Found::unseen) return RecoveredOutcome::untellable;
  const bool absent = seen.found == core::Found::absent;
  if (removes(kind)) return absent ? RecoveredOutcome::took_effect : RecoveredOutcome::did_not;
  // The rename that ends an action takes the temp file away. Whatever has the name while it is
  // there is somebody else's, also where it looks as declared.
  if (temp_there || absent) return RecoveredOutcome::did_not;
  // Without the declaration something that is there may be anybody's: claiming it could remove it
  // later.
  if (!seen.declared) return RecoveredOutcome::untellable;
  if (seen.as_declared) return RecoveredOutcome::took_effect;
  return seen.as_before ? RecoveredOutcome::did_not : RecoveredOutcome::untellable;
}

// Its tool has ended, and the package manager, or the kernel of a mount, says how far it came: what
// differs was not done.
RecoveredOutcome judge_tool(core::ActionKind kind, const Seen& seen, bool temp_there) {
  const auto outcome = judge(kind, seen, temp_there);
  const bool told = seen.declared && !seen.as_declared && seen.found != core::Found::unseen;
  return outcome == RecoveredOutcome::untellable && told ? RecoveredOutcome::did_not : outcome;
}

// Entries to purge have actions of their own.
bool is_as_declared(const core::Observation& seen) {
  return std::all_of(seen.drifts.begin(), seen.drifts.end(), [](const core::FieldDrift& drift) {
    return drift.field == "purge" || drift.field == "purgeDirectories";
  });
}

// What makes an account or installs a package has done that; what differs is set by what comes
// after it.
bool is_begun(const core::Observation& seen) {
  static constexpr std::array<std::string_view, 4> kLater{"passwordRef", "locked", "pinned",
                                                          "state"};
  const bool told =
      seen.condition == core::Condition::drifted || seen.condition == core::Condition::converged;
  return told && seen.found == core::Found::present &&
         std::all_of(seen.drifts.begin(), seen.drifts.end(), [](const core::FieldDrift& drift) {
           return std::find(kLater.begin(), kLater.end(), std::string_view(drift.field)) !=
                  kLater.end();
         });
}

// What must reach the disk before anything is said of these actions.
struct Group {
  std::shared_ptr<const os::Folder> folder;
  std::vector<os::Handle> objects;
  std::vector<std::size_t> actions;
  bool failed = false;
};

class Recovery {
 public:
  Recovery(const Machine& machine, const Declared& declared, const DeadWave& dead)
      : declared_(declared),
        dead_(dead),
        sight_(borrow(machine), borrow(declared)),
        observer_(borrow(machine), borrow(declared)) {
    for (const auto& resource : declared.manifest->resources)
      by_target_.emplace(resource->target, resource.get());
  }

  std::vector<core::RecoveredAction> run() {
    results_.resize(dead_.actions.size());
    together_ =
        dead_.actions.size() > kHeldOpen && sight_.files().reports_file_system_sync_errors();
    std::vector<std::size_t> order(dead_.actions.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return dead_.actions[a].target < dead_.actions[b].target;
    });
    std::size_t open = 0;
    for (const auto index : order) {
      look(index);
      if (together_ || ++open < kHeldOpen) continue;
      sync();
      open = 0;
    }
    sync();
    return std::move(results_);
  }

 private:
  void look(std::size_t index) {
    const auto& action = dead_.actions[index];
    auto& result = results_[index];
    result.ordinal = action.ordinal;
    if (action.target.family == model::TargetFamily::package) {
      result.outcome = judge_tool(action.kind, look_at(index, result), false);
      return;
    }
    const auto found = find_place(sight_, action.target);
    const auto place = found ? *found : SharedText();
    if (place.empty()) {
      result.outcome = judge(action.kind, look_at(index, result), false);
      // A tool that outlived its host may not be done yet.
      const bool account = action.target.family == model::TargetFamily::user ||
                           action.target.family == model::TargetFamily::group;
      if (account && !find_lock_holder(sight_).empty()) {
        result.outcome = RecoveredOutcome::untellable;
        result.begun = false;
      }
      return;
    }
    const auto where = sight_.walker().locate(place);
    const auto temp = temp_name(dead_.store, dead_.pass, action.ordinal);
    result.temporary_left =
        where ? anything_left(sight_, *where, temp) : !is_missing(where.error());
    for (const auto& path : places_beside(action.target)) {
      const auto other = sight_.walker().locate(path);
      if (other && anything_left(sight_, *other, temp)) result.temporary_left = true;
    }
    const auto seen = look_at(index, result);
    const auto beside = where ? find_beside(*where, temp) : std::optional<bool>(false);
    if (beside)
      result.outcome = is_done_by_tools(action.target.family) ||
                               action.target.family == model::TargetFamily::timer
                           ? judge_tool(action.kind, seen, *beside)
                           : judge(action.kind, seen, *beside);
    if (where) remember(index, *where);
  }

  // Whether it is there; nothing where that cannot be told.
  std::optional<bool> find_beside(os::Location where, const std::string& name) const {
    where.name = name;
    const auto found = sight_.find(where);
    if (!found) return std::nullopt;
    return found->has_value();
  }

  Seen look_at(std::size_t index, core::RecoveredAction& result) {
    const auto& action = dead_.actions[index];
    const auto resource = by_target_.find(action.target);
    Seen seen;
    if (resource == by_target_.end() || removes(action.kind)) {
      const auto left = observer_.observe_leaving(action.target, {});
      result.left = {left.found, left.identity.device, left.identity.inode, left.content};
      result.traces = left.traces;
      seen.found = left.found;
      return seen;
    }
    const auto now = observer_.observe(*resource->second);
    result.left = {now.found, now.identity.device, now.identity.inode, now.content};
    result.traces = now.traces;
    result.begun = is_begun(now);
    seen.found = now.found;
    seen.declared = now.condition != core::Condition::skipped;
    seen.as_declared = is_as_declared(now);
    seen.as_before = index < dead_.observed.size() && now.digest == dead_.observed[index];
    return seen;
  }

  // A change of names is durable with its folder, one of owner, mode or bytes with the object.
  void remember(std::size_t index, const os::Location& where) {
    const auto& folder = *where.folder;
    auto& group = groups_[{folder.device, together_ ? 0 : folder.inode}];
    if (!group.folder) group.folder = where.folder;
    group.actions.push_back(index);
    const auto& result = results_[index];
    if (together_ || dead_.actions[index].kind != core::ActionKind::update ||
        result.outcome == RecoveredOutcome::did_not)
      return;
    auto& files = sight_.files();
    auto object = result.left.found == core::Found::directory
                      ? files.open_directory(folder.handle, where.name, os::Follow::no)
                      : files.open_file(folder.handle, where.name, os::Access::read);
    if (object)
      group.objects.push_back(std::move(*object));
    else if (result.left.found != core::Found::symlink)  // has nothing but its name
      group.failed = true;
  }

  void sync() {
    auto& files = sight_.files();
    for (auto& [place, group] : groups_) {
      bool durable = !group.failed;
      for (const auto& object : group.objects) durable = files.sync(object) && durable;
      const auto& folder = group.folder->handle;
      durable = (together_ ? files.sync_file_system(folder) : files.sync(folder)) && durable;
      if (!durable) doubt(group);
    }
    groups_.clear();
  }

  // What was seen may be undone by a power cut, and a temp file that was not there come back.
  void doubt(const Group& group) {
    for (const auto index : group.actions) {
      auto& result = results_[index];
      if (result.outcome == RecoveredOutcome::took_effect)
        result.outcome = RecoveredOutcome::untellable;
      result.temporary_left = true;
    }
  }

  const Declared& declared_;
  const DeadWave& dead_;
  Sight sight_;
  Observer observer_;
  std::map<model::Target, const model::Resource*> by_target_;
  bool together_ = false;  // one sync for each file system
  std::map<std::pair<std::uint64_t, std::uint64_t>, Group> groups_;
  std::vector<core::RecoveredAction> results_;
};

// --- cleaning up

// The old thing gets its name back if nothing has it, so that no crash leaves the name empty.
Status settle_aside(Sight& sight, const os::Location& where, const std::string& aside) {
  auto& files = sight.files();
  if (!is_beside(sight, where, aside)) return {};
  const auto& folder = where.folder->handle;
  const auto restored = files.rename(folder, aside, folder, where.name, true);
  if (restored || restored.error().code() != ErrorCode::already_exists) return restored;
  return remove_beside(files, where, aside);
}

// A folder whose name a power cut took back may have been filled under it, by anybody: it gets the
// name again.
Status settle_temp(Sight& sight, const os::Location& where, const std::string& temp) {
  auto& files = sight.files();
  const auto removed = remove_beside(files, where, temp);
  if (removed || removed.error().code() != ErrorCode::not_empty || !is_trusted(where))
    return removed;
  const auto& folder = where.folder->handle;
  return files.rename(folder, temp, folder, where.name, true);
}

// Goes through everything, whatever fails.
Status clean_up(Sight& sight, const os::Location& where, const std::string& temp) {
  auto& files = sight.files();
  const auto& folder = where.folder->handle;
  const auto shadow = temp + std::string(kValidateSuffix);
  const Status steps[] = {settle_aside(sight, where, temp + std::string(kAsideSuffix)),
                          is_trusted(where) ? remove_shadow(files, folder, shadow) : Status{},
                          remove_beside(files, where, temp + std::string(kBackupSuffix)),
                          settle_temp(sight, where, temp), files.sync(folder)};
  for (const auto& step : steps) DATUM_TRY(step);
  return {};
}

}  // namespace

std::vector<core::RecoveredAction> recover_actions(const Machine& machine, const Declared& declared,
                                                   const DeadWave& dead) {
  return Recovery(machine, declared, dead).run();
}

// Of files that belong to the target: only a staged one can lie there.
static bool remove_leftover_at(Sight& sight, const std::string& path, const std::string& temp) {
  const auto where = sight.walker().locate(path);
  if (!where) return is_missing(where.error());
  if (!is_beside(sight, *where, temp)) return true;
  return remove_beside(sight.files(), *where, temp) && sight.files().sync(where->folder->handle);
}

bool remove_leftover(const Machine& machine, const Id128& store, const core::Leftover& leftover) {
  const auto nothing = make_declared(std::make_shared<const model::Manifest>());
  Sight sight(borrow(machine), borrow(nothing));
  for (const auto& path : places_beside(leftover.target))
    if (!remove_leftover_at(sight, path, temp_name(store, leftover.pass, leftover.ordinal)))
      return false;
  const auto place = find_place(sight, leftover.target);
  if (!place) return is_missing(place.error());
  const auto where = sight.walker().locate(*place);
  if (!where) return is_missing(where.error());
  const auto temp = temp_name(store, leftover.pass, leftover.ordinal);
  return clean_up(sight, *where, temp) && !anything_left(sight, *where, temp);
}

}  // namespace datum::resource
