// A declaration may say that it is undone unless the node is heard upstream within a time after it.
// What has to be known of that over a death, and the journal does not say, lies in a file beside
// the node's identity: it is written before the declaration is accepted. Calls block on the disk.
#pragma once

#include <optional>
#include <string>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/core/facts.hpp"
#include "datum/engine/store.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

enum class GuardStand : std::uint8_t {
  waiting = 1,   // nobody upstream has said that it knows of the end of a pass
  linked = 2,    // somebody has
  undoing = 3,   // nobody did in time: it is undone to its end, whatever the link does
  reverted = 4,  // that has ended; the journal says how
};

struct LinkGuard {
  Id128 mesh;  // of the declaration, as the next two
  std::uint64_t epoch = 0, number = 0;
  Seq since = 0;  // its acceptance and its passes are above this record
  std::int64_t within_ns = 0;
  GuardStand stand = GuardStand::waiting;
  bool operator==(const LinkGuard&) const = default;
};

[[nodiscard]] bool is_of(const LinkGuard& guard, const core::DeclarationId& id);

// nullopt: there is none. `corrupt`: it lies there and is none.
[[nodiscard]] Result<std::optional<LinkGuard>> read_link_guard(os::Files& files,
                                                               const std::string& store_folder);
// Durable on success; what was there before stays until then.
[[nodiscard]] Status write_link_guard(os::Files& files, const std::string& store_folder,
                                      const LinkGuard& guard);

// Of the accepted declaration, and what was wrong with the file: then it is that of a declaration
// of which nothing is known but what it says itself, and none where that says nothing.
struct FoundGuard {
  std::optional<LinkGuard> guard;
  std::string problem;
};
[[nodiscard]] FoundGuard find_link_guard(os::Files& files, const std::string& store_folder,
                                         const core::DeclarationId& accepted);
// What lies there is of no use any more.
[[nodiscard]] Status drop_link_guard(os::Files& files, const std::string& store_folder);

// How long is left at `now` of the time that counts from `from`. A wall clock that was set back
// gives no more than the whole time.
[[nodiscard]] std::int64_t time_left(std::int64_t within_ns, WallNs from, WallNs now);

// What the way up has after a start of the service, whatever is left of the time, which may have
// passed while nothing ran.
inline constexpr std::int64_t kLeastAfterStartNs = 60 * kNsPerSecond;
[[nodiscard]] std::int64_t least_after_start(std::int64_t within_ns);

}  // namespace datum::engine
