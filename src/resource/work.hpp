// One action on its way through a wave, and what all of them share. Internal to resource.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "datum/resource/wave.hpp"
#include "sight.hpp"

namespace datum::resource {

// Everything that may lie beside a target while it is worked on. The engine knows only the first.
inline constexpr std::string_view kAsideSuffix = "-old";       // what made room for another type
inline constexpr std::string_view kBackupSuffix = "-bak";      // a backup that has no name yet
inline constexpr std::string_view kValidateSuffix = "-check";  // folder with a copy for a validator

struct Work {
  const core::Action* action = nullptr;
  const model::Resource* resource = nullptr;  // null: a purge, or a target that left
  os::Location where;
  std::optional<os::FileStat> before;  // the very object that was observed

  std::string temp;  // beside the target, to be renamed or removed; empty if there is none
  bool temp_is_folder = false;
  std::string backup;           // beside the target, still without its name
  os::Handle handle;            // staged or live, open until it is synced
  bool staged = false;          // `temp` has bytes that must be durable before they go live
  bool live = false;            // the target was changed
  bool object_changed = false;  // the object itself, not its name: `handle` is open on it
  bool folder_changed = false;  // names in its folder were changed
  bool atomic = true;
  bool undurable = false;    // the last sync that concerned it failed
  bool left_behind = false;  // a temp file is there, or may come back with a power cut

  std::optional<Error> error;  // failed
  std::string skipped;         // why
  std::string output;          // of a validator
  std::int64_t spent_ns = 0;

  [[nodiscard]] bool going() const { return !error && skipped.empty(); }
  [[nodiscard]] bool has_change(std::string_view field) const {
    for (const auto& change : action->changes)
      if (change.field == field) return true;
    return false;
  }
  // Nothing was there: that nothing has appeared since is not looked at, the rename refuses it.
  [[nodiscard]] bool creates() const { return action->found == core::Found::absent && !removes(); }
  [[nodiscard]] bool removes() const {
    return action->kind == core::ActionKind::remove || action->kind == core::ActionKind::purge ||
           action->kind == core::ActionKind::leave;
  }
};

struct Bench {
  Sight& sight;
  const WaveOptions& options;
  // Devices on which more is staged than is synced one by one: handles are closed after staging.
  std::map<std::uint64_t, bool> batched;

  [[nodiscard]] os::Files& files() const { return sight.files(); }
  [[nodiscard]] bool is_batched(std::uint64_t device) const {
    const auto found = batched.find(device);
    return found != batched.end() && found->second;
  }
  [[nodiscard]] std::string temp_name_of(const Work& work) const {
    return temp_name(options.store, options.pass, work.action->ordinal);
  }
  void crash_point(const char* name, const Work& work) const {
    if (options.crash_point) options.crash_point(name, work.action->ordinal);
  }
};

// A new file beside the target under the action's temp name (with `suffix`). A dead one of the same
// action is removed first: no other has that name.
[[nodiscard]] Result<os::Handle> create_temp(Bench& bench, const Work& work,
                                             std::string_view suffix = {});
// Removes whatever has that name beside the target: a file, a link, an empty folder.
[[nodiscard]] Status remove_beside(os::Files& files, const os::Location& where,
                                   const std::string& name);
// Whether something has that name beside the target. What cannot be looked at may well be there.
[[nodiscard]] bool is_beside(Sight& sight, os::Location where, const std::string& name);
// A shadow is only ever made in a folder of root's, and a filled folder only trusted there. What
// has such a name elsewhere is not ours: it could be a folder of root's that somebody moved there
// to have it emptied or moved.
[[nodiscard]] bool is_trusted(const os::Location& where);
// Whether anything of an action with this temp name lies beside its target.
[[nodiscard]] bool anything_left(Sight& sight, const os::Location& where, const std::string& temp);
// Removes what is staged. Part of every way out that did not go live.
void discard(Bench& bench, Work& work);

// Whether the target still is what was observed. Nothing if it is, otherwise what a person is told.
[[nodiscard]] std::optional<std::string> find_change(const Work& work,
                                                     const std::optional<os::FileStat>& now);
// For whoever opened the target and found another object: the action is skipped, not failed.
[[nodiscard]] tl::unexpected<Error> changed_meanwhile(Work& work);

// --- going live
// The staged thing under the target's name: where nothing was, nothing may be; otherwise it takes
// the place of what was observed. Folders cannot be exchanged in one step: `atomic` is then false.
[[nodiscard]] Status put_in_place(Bench& bench, Work& work);
// Removes exactly what was observed: a name, or an empty folder.
[[nodiscard]] Status remove_observed(Bench& bench, Work& work);

}  // namespace datum::resource
