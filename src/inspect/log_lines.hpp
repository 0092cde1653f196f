// Lines and dates of logs. Internal to inspect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datum/inspect/attribution.hpp"

namespace datum::inspect {

// Takes the first line, without its end, off `text`.
[[nodiscard]] std::string_view take_line(std::string_view& text);
// Takes what stands before the first space, and the spaces, off `text`.
[[nodiscard]] std::string_view take_word(std::string_view& text);
// "2026-11-29" and "16:22:42" by the clock of the log.
[[nodiscard]] std::optional<WallNs> read_local_time(std::string_view date, std::string_view time,
                                                    const LocalClock& clock);
// At most kMaxLogText bytes, cut with an ellipsis.
[[nodiscard]] std::string bounded_text(std::string_view text);

}  // namespace datum::inspect
