// The local hold: a file `hold` beside agent.yaml that any script can drop. While it is in force
// the host only observes. Whatever is unclear about it means held: a hold can only weaken.
//
// The file is empty (held without end) or has lines `until: 2026-11-29T18:00:00Z`,
// `reason: database migration` and `now: true`, each at most once; blank lines and lines that begin
// with # are skipped. With `now` a pass that runs ends before its next action, else after its wave.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/base/time.hpp"
#include "datum/os/files.hpp"

namespace datum::config {

inline constexpr std::string_view kHoldName = "hold";
// A few lines; whatever is larger was not meant for this.
inline constexpr std::size_t kMaxHoldBytes = 4096;
// Of the reason: a line for status, events and alerts.
inline constexpr std::size_t kMaxHoldReason = 512;

struct Hold {
  bool present = false;         // the name exists
  std::optional<WallNs> until;  // none: without end
  std::string reason;           // as written, untrusted; may be empty
  bool now = false;             // nothing more is begun, not even of a wave that runs
  std::string fault;            // why the file counts as held without end although it is not valid
};

// Present, and not past its end at `now`.
[[nodiscard]] bool is_in_force(const Hold& hold, WallNs now);
// "database migration, until 2026-11-29T18:00:00Z", "no reason given, without end", …
[[nodiscard]] std::string describe(const Hold& hold);

// Never fails: bytes that are not of the form above are a hold without end that has a fault.
[[nodiscard]] Hold parse_hold(std::string_view bytes);
// `directory`/hold. Only a name that does not exist is no hold; one that cannot be opened or read,
// a link or a folder is one without end that has a fault. Blocks on the disk; any thread.
[[nodiscard]] Hold read_hold(os::Files& files, const os::Handle& directory);

// Replaces the file by one that reads back as `until`, `reason` and `now`; durable on return.
// Errors: `invalid_argument` for a reason of several lines or over the limit (nothing was changed),
// and what writing returns (the former hold, if any, is then still in force or the new one is).
[[nodiscard]] Status write_hold(os::Files& files, const os::Handle& directory,
                                std::optional<WallNs> until, std::string_view reason,
                                bool now = false);
// Removes it; durable on return. `not_found` if there was none.
[[nodiscard]] Status lift_hold(os::Files& files, const os::Handle& directory);

}  // namespace datum::config
