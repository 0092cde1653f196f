// What was seen of one resource on the machine, and how it differs from what is declared. Made by
// `resource`, judged here. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/base/shared_text.hpp"
#include "datum/base/time.hpp"
#include "datum/model/reference.hpp"

namespace datum::core {

// The state of one resource (design §4). Numbers are stored. The order is worst last only for
// stable output; the host's word has its own order.
enum class Condition : std::uint8_t { converged = 1, drifted = 2, unknown = 3, skipped = 4 };
[[nodiscard]] std::string_view to_string(Condition condition);

// What lies under the target's name. Numbers are stored.
enum class Found : std::uint8_t {
  absent = 1,
  file = 2,
  directory = 3,
  symlink = 4,
  special = 5 /* fifo, socket, device */,
  present = 6 /* things that are not paths */,
  unseen = 7 /* could not be looked at */,
};
[[nodiscard]] std::string_view to_string(Found found);

// One declared field that differs. Texts are ready for people and bounded (kMaxDriftText); content
// is shown as "sha256:… (N bytes)", sensitive values as "(redacted)".
inline constexpr std::size_t kMaxDriftText = 256;
struct FieldDrift {
  std::string field;
  std::string desired;
  std::string observed;
  bool operator==(const FieldDrift&) const = default;
};

// The very object that was seen; all zero where there is none. An action that finds another object
// in its place skips (design §3 "changed since it was observed"). Never part of a digest.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t ctime_ns = 0;
  bool operator==(const Identity&) const = default;
};

// What the inode of the object said of itself at that moment: when somebody changed it, by the wall
// clock of then, and whose it was. Never part of a digest.
struct Traces {
  WallNs mtime;
  WallNs ctime;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;  // permission bits
  bool operator==(const Traces&) const = default;
};

// Why an action on this target cannot succeed, as far as looking can tell.
enum class Obstacle : std::uint8_t {
  none = 0,
  mount_point = 1,    // a rename onto it is impossible; `replace: inPlace` is the way
  hard_links = 2,     // other names share the inode and `hardLinks: fail` holds
  no_content = 3,     // metadata only, and the file is missing
  not_corrected = 4,  // differs by design without correction (uid, gid)
  not_empty = 5,      // a directory with entries is in the way of removal
  immutable = 6,      // chattr +i / +a
  unresolved_secret = 7,
  unmanaged_content = 8,  // first contact with other content and `onConflict: fail`
  overridden = 9,         // a file of somebody else's wins at boot; nothing else is left to correct
  no_such_key = 10,       // the kernel has no such parameter; nothing else is left to correct
  no_password = 11,       // an account to unlock has no password; nothing else is left to correct
};
[[nodiscard]] std::string_view to_string(Obstacle obstacle);

// An entry of a purged Directory that no resource declares.
struct PurgeEntry {
  std::string name;
  Found found = Found::absent;
  Identity identity;
  bool removable = true;  // false: a full folder, a mount, or a folder without `purgeDirectories`
  bool is_drift = true;   // false: listed only (a folder without `purgeDirectories`)
  std::string reason;     // why not removable
};

// What ends a `missing_parent` that is there and is no folder.
inline constexpr std::string_view kNoFolder = ", no folder)";

// The field by which extended attributes differ; only what is put back declares any.
inline constexpr std::string_view kAttributesField = "attributes";

struct Observation {
  model::Reference reference;
  model::Target target;
  Condition condition = Condition::unknown;
  Found found = Found::unseen;
  std::vector<FieldDrift> drifts;  // in the order of the type's fields; `state` and `type` first
  SharedText reason;               // unknown and skipped: why, for people
  Obstacle obstacle = Obstacle::none;
  SharedText obstacle_detail;
  // For reports only, neither recorded nor in the digest: what a person should know of the place.
  SharedText warning;
  // Nearest folder of the target that does not exist, or what lies there and is none, with
  // kNoFolder behind it; empty if it exists.
  SharedText missing_parent;
  std::vector<PurgeEntry> purge;  // sorted by name
  std::uint32_t entries = 0;      // of a directory that is in the way: names in it; 0: not counted
  Identity identity;
  // The folder that holds the target, with the links on its way resolved; zero where there is none.
  std::uint64_t folder_device = 0;
  std::uint64_t folder_inode = 0;
  Digest content;  // of a regular file or a link's target, keyed if sensitive; zero otherwise
  std::uint64_t content_size = 0;
  bool sensitive = false;
  bool conflicting_content =
      false;                     // exists with other content than declared (first contact lists it)
  std::optional<Traces> traces;  // of a path under which something lies
  // Over all of the above but `identity`, the folder and `traces`: equal digests are equal
  // observations.
  Digest digest;
};

// A target that Datum owns and no resource declares any more, looked at once more.
struct LeavingObservation {
  model::Target target;
  Found found = Found::unseen;
  Identity identity;
  Digest content;
  std::string reason;         // unseen: why
  std::string note;           // what a removal brings with it, for people
  bool empty = true;          // directories
  std::uint32_t entries = 0;  // directories: names in it; 0 with `empty` false: not counted
  bool same_as_declared =
      false;                     // (folder inode, name) is that of a target which is still declared
  std::optional<Traces> traces;  // of what lies there
};

}  // namespace datum::core
