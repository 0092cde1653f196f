// What File, Directory and Symlink observe alike: the way to the target, presence, type, owner,
// group and mode.
#pragma once

#include "sight.hpp"

namespace datum::resource {

// The path under which the thing lies that a wave of file actions makes, changes or removes: of a
// Sysctl its drop-in, of a Repository its list. Empty for what is no such thing.
[[nodiscard]] SharedText place_of(const model::Target& target);
// The same where it takes a look at the machine: of an AuthorizedKey the user's file. `not_found`
// where there is no such user.
[[nodiscard]] Result<SharedText> find_place(Sight& sight, const model::Target& target);
// Whether several targets lie in the file of this one.
[[nodiscard]] bool shares_file(const model::Target& target);
// Paths of further files that belong to it.
[[nodiscard]] std::vector<std::string> places_beside(const model::Target& target);
// The target's folder and name. Nothing if the question is settled without looking further: `seen`
// then says why (a parent is missing, a link that may not be followed, Datum's own file).
[[nodiscard]] std::optional<os::Location> reach(Sight& sight, const model::Resource& resource,
                                                core::Observation& seen);
// The folder in which, or above which, somebody else than root can change names, in words for a
// report; empty where nobody can.
[[nodiscard]] std::string describe_untrusted(const os::Folder& folder);
// With `trust.strictPaths` an untrusted folder is `refused`, in words that say what was not done.
[[nodiscard]] Status check_strict(const Sight& sight, const os::Folder& folder);
// Refuses Datum's own files; otherwise records what lies there and which object it is. False if
// nothing more is to be said.
[[nodiscard]] bool accept(Sight& sight, const os::Location& where,
                          const std::optional<os::FileStat>& stat, core::Observation& seen);
// A file that a provider writes as a whole, and the folders on its way may be missing.
struct OwnPlace {
  std::optional<os::Location> where;
  std::optional<os::FileStat> stat;  // nothing: nothing lies there
};
// Records what lies there; nothing if the question is settled: it cannot be looked at, and `seen`
// says why.
[[nodiscard]] std::optional<OwnPlace> look_at_own_place(Sight& sight, std::string_view path,
                                                        core::Observation& seen);
[[nodiscard]] core::Traces traces_of(const os::FileStat& stat);
void set_unknown(core::Observation& seen, std::string reason);
void set_unknown(core::Observation& seen, std::string_view what, const Error& error);

void add_drift(core::Observation& seen, std::string_view field, std::string desired,
               std::string observed);
// `state`: declared present, nothing there; or declared absent, something there.
void add_state_drift(core::Observation& seen, bool declared_absent);
void add_type_drift(core::Observation& seen, os::FileType declared, os::FileType found);
// `owner`, `group`, `mode`, those that are declared.
void add_metadata_drifts(Sight& sight, const model::Resource& resource, const os::FileStat& stat,
                         core::Observation& seen);
// `attributes`, in a reverting pass: what is kept of them is not as it was.
void add_attributes_drift(const Sight& sight, const os::Handle& object, core::Observation& seen);
// What makes any change of a drifted thing impossible, whatever its type.
void add_immutable_obstacle(const os::FileStat& stat, core::Observation& seen);
// Sets the obstacle if there is none yet.
void add_obstacle(core::Observation& seen, core::Obstacle obstacle, std::string detail);

// Of a thing of another type that Datum may replace if it is still as Datum left it: its content,
// so that it can be told.
void record_owned_content(Sight& sight, const os::Location& where, const os::FileStat& stat,
                          core::Observation& seen);
// How many names a folder has.
[[nodiscard]] Result<std::uint32_t> count_entries(const Sight& sight, const os::Location& where);
// Digest of a link's target text.
[[nodiscard]] Result<Digest> hash_link(const Sight& sight, const os::Location& where);

// Neither the thing nor, perhaps, a folder on the way to it.
[[nodiscard]] bool is_missing(const Error& error);
// Whether the thing is to be gone, or nobody's.
[[nodiscard]] bool removes(core::ActionKind kind);

}  // namespace datum::resource
