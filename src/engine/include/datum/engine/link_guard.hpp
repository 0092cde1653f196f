// A declaration may say that its pass is undone unless the node is heard upstream within a time
// after it. What has to be known of that over a death lies in a file of its own beside the node's
// identity: which pass, when it ended, how it came out. Calls block on the disk.
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
  waiting = 1,   // nobody upstream has said that it knows of the pass's end
  linked = 2,    // somebody has
  reverted = 3,  // nobody did in time
};

struct LinkGuard {
  std::uint64_t epoch = 0, number = 0;  // of the declaration
  PassId pass = 0;
  Seq finished_at = 0;  // the record of its end
  WallNs finished;
  std::int64_t within_ns = 0;
  GuardStand stand = GuardStand::waiting;
  bool operator==(const LinkGuard&) const = default;
};

// nullopt: there is none. `corrupt`: it lies there and is none.
[[nodiscard]] Result<std::optional<LinkGuard>> read_link_guard(os::Files& files,
                                                               const std::string& store_folder);
// Durable on success; what was there before stays until then.
[[nodiscard]] Status write_link_guard(os::Files& files, const std::string& store_folder,
                                      const LinkGuard& guard);

// How long is left at `now`. After a start of the service, which may have taken all of the time, at
// least a minute is given to the way up, or all of the time where that is shorter. A wall clock
// that was set back gives no more than the whole time.
inline constexpr std::int64_t kLeastAfterStartNs = 60 * kNsPerSecond;
[[nodiscard]] std::int64_t time_left(const LinkGuard& guard, WallNs now, bool is_start);

}  // namespace datum::engine
