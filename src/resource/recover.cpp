// After a crash: what became of one announced action. A temp file that is still there proves that
// the name was not changed yet.
#include "observation_digest.hpp"
#include "provider.hpp"
#include "unit_shadow.hpp"
#include "work.hpp"

namespace datum::resource {

namespace {

using core::RecoveredOutcome;

// Whoever lends something for one call.
template <class T>
std::shared_ptr<const T> borrow(const T& value) {
  return {std::shared_ptr<const T>(), &value};
}

bool removes(core::ActionKind kind) {
  return kind == core::ActionKind::remove || kind == core::ActionKind::purge ||
         kind == core::ActionKind::leave;
}

bool is_there(Sight& sight, os::Location where, std::string name) {
  where.name = std::move(name);
  const auto found = sight.find(where);
  return found && found->has_value();
}

// The old thing gets its name back if nothing has it, so that no crash leaves the name empty.
Status settle_aside(Sight& sight, const os::Location& where, const std::string& aside) {
  auto& files = sight.files();
  if (!is_there(sight, where, aside)) return {};
  const auto& folder = where.folder->handle;
  const auto restored = files.rename(folder, aside, folder, where.name, true);
  if (restored || restored.error().code() != ErrorCode::already_exists) return restored;
  return remove_beside(files, where, aside);
}

// Best effort: what cannot be removed is found by the next recovery or by a person.
void clean_up(Sight& sight, const os::Location& where, const std::string& temp) {
  auto& files = sight.files();
  static_cast<void>(settle_aside(sight, where, temp + std::string(kAsideSuffix)));
  // A shadow is only ever made in a folder of root's. What has its name elsewhere is not ours: it
  // could be a folder of root's that somebody moved there to have it emptied.
  if (where.folder->untrusted.empty())
    static_cast<void>(
        remove_shadow(files, where.folder->handle, temp + std::string(kValidateSuffix)));
  static_cast<void>(remove_beside(files, where, temp + std::string(kBackupSuffix)));
  static_cast<void>(remove_beside(files, where, temp));
  static_cast<void>(files.sync(where.folder->handle));
}

bool anything_left(Sight& sight, const os::Location& where, const std::string& temp) {
  for (const auto suffix : {std::string_view(), kAsideSuffix, kBackupSuffix})
    if (is_there(sight, where, temp + std::string(suffix))) return true;
  return where.folder->untrusted.empty() &&
         is_there(sight, where, temp + std::string(kValidateSuffix));
}

const model::Resource* find_resource(const Declared& declared, const model::Target& target) {
  for (const auto& resource : declared.manifest->resources)
    if (resource->target == target) return resource.get();
  return nullptr;
}

core::Left left_of(const core::Observation& seen) {
  return {seen.found, seen.identity.device, seen.identity.inode, seen.content};
}

RecoveredOutcome judge_observed(const core::Observation& seen, bool temp_there) {
  if (seen.condition == core::Condition::unknown) return RecoveredOutcome::untellable;
  bool differs = false;
  for (const auto& drift : seen.drifts) differs = differs || drift.field != "purge";
  if (!differs) return RecoveredOutcome::took_effect;
  return temp_there || seen.found == core::Found::absent ? RecoveredOutcome::did_not
                                                         : RecoveredOutcome::untellable;
}

RecoveredOutcome judge_unknown(const core::AnnouncedState& action, core::Found found,
                               bool temp_there) {
  if (removes(action.kind))
    return found == core::Found::absent ? RecoveredOutcome::took_effect : RecoveredOutcome::did_not;
  if (temp_there || found == core::Found::absent) return RecoveredOutcome::did_not;
  if (action.kind == core::ActionKind::create || found != action.before)
    return RecoveredOutcome::took_effect;
  return RecoveredOutcome::untellable;
}

}  // namespace

core::RecoveredAction recover_action(const Machine& machine, const Declared& declared,
                                     const Id128& store, PassId pass,
                                     const core::AnnouncedState& action, bool enforce) {
  core::RecoveredAction recovered;
  recovered.ordinal = action.ordinal;
  if (action.target.family != model::TargetFamily::path) return recovered;
  Sight sight(borrow(machine), borrow(declared));
  auto where = sight.walker().locate(action.target.name);
  const auto temp = temp_name(store, pass, action.ordinal);
  const bool temp_there = where && is_there(sight, *where, temp);
  if (where && enforce) clean_up(sight, *where, temp);
  recovered.temporary_left = where && anything_left(sight, *where, temp);

  Observer observer(borrow(machine), borrow(declared));
  const auto* resource = find_resource(declared, action.target);
  if (resource != nullptr && !removes(action.kind)) {
    const auto seen = observer.observe(*resource);
    recovered.outcome = judge_observed(seen, temp_there);
    recovered.left = left_of(seen);
    return recovered;
  }
  const auto seen = observer.observe_leaving(action.target, {});
  recovered.left = {seen.found, seen.identity.device, seen.identity.inode, seen.content};
  if (seen.found != core::Found::unseen)
    recovered.outcome = judge_unknown(action, seen.found, temp_there);
  return recovered;
}

bool remove_leftover(const Machine& machine, const Id128& store, const core::Leftover& leftover) {
  const auto nothing = make_declared(std::make_shared<const model::Manifest>());
  Sight sight(borrow(machine), borrow(nothing));
  const auto where = sight.walker().locate(leftover.target.name);
  // With its folder gone, what lay in it is gone too.
  if (!where) return where.error().code() == ErrorCode::not_found;
  const auto temp = temp_name(store, leftover.pass, leftover.ordinal);
  clean_up(sight, *where, temp);
  return !anything_left(sight, *where, temp);
}

}  // namespace datum::resource
