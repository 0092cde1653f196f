// The local hold: a file `hold` beside agent.yaml that any script can drop. While it is in force
// the host only observes. Whatever is unclear about it means held: a hold can only weaken.
//
// The file is empty (held without end) or has lines `until: 2026-11-29T18:00:00Z`,
// `reason: database migration`, `now: true` and `by: 1000`, each at most once; blank lines and
// lines that begin with # are skipped. With `now` a pass that runs ends before its next action,
// else after its wave. `by` is the user id of who asked the command for it, which writes it so that
// whoever sees the file first knows; it weighs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
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
  bool present = false;             // the name exists
  std::optional<WallNs> until;      // none: without end
  std::string reason;               // as written, untrusted; may be empty
  bool now = false;                 // nothing more is begun, not even of a wave that runs
  std::optional<std::uint32_t> by;  // who set it, where the file can be believed in that
  std::string fault;  // why the file counts as held without end although it is not valid
};

// Present, and not past its end at `now`.
[[nodiscard]] bool is_in_force(const Hold& hold, WallNs now);
// "database migration, until 2026-11-29T18:00:00Z", "no reason given, without end", …
[[nodiscard]] std::string describe(const Hold& hold);
// What is recorded as its reason, beside how long it lasts.
[[nodiscard]] std::string reason_of(const Hold& hold);

// Never fails: bytes that are not of the form above are a hold without end that has a fault.
[[nodiscard]] Hold parse_hold(std::string_view bytes);
// `directory`/hold. Only a name that does not exist is no hold; one that cannot be opened or read,
// a link or a folder is one without end that has a fault. `by` only of a file that `trusted_uid`
// owns and nobody else can write. Blocks on the disk; any thread.
[[nodiscard]] Hold read_hold(os::Files& files, const os::Handle& directory,
                             std::uint32_t trusted_uid = 0);

// Replaces the file by one that reads back as `until`, `reason`, `now` and `by`; durable on return.
// Errors: `invalid_argument` for a reason of several lines or over the limit (nothing was changed),
// and what writing returns (the former hold, if any, is then still in force or the new one is).
[[nodiscard]] Status write_hold(os::Files& files, const os::Handle& directory,
                                std::optional<WallNs> until, std::string_view reason,
                                bool now = false, std::optional<std::uint32_t> by = {});
// Removes it; durable on return. `not_found` if there was none. With `by` who lifts it is left
// beside it before, as far as there is room for that, for whoever sees first that it is gone.
[[nodiscard]] Status lift_hold(os::Files& files, const os::Handle& directory,
                               std::optional<std::uint32_t> by = {});
// Who lifted the hold that is gone, if that was left and can be believed as in read_hold. It is
// removed: it is about one hold.
[[nodiscard]] std::optional<std::uint32_t> take_lifter(os::Files& files,
                                                       const os::Handle& directory,
                                                       std::uint32_t trusted_uid);

}  // namespace datum::config
