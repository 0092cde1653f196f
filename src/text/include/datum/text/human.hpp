// Sizes, durations and times as people read them. Pure but for `local_time`, which reads the time
// zone of the process; any thread.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "datum/base/rfc3339.hpp"
#include "datum/base/time.hpp"

namespace datum::text {

// "0 B", "1023 B", "1.0 KiB", "417 MiB": a decimal below ten, powers of 1024, rounded down so that
// nothing reads as more than it is.
[[nodiscard]] std::string format_size(std::uint64_t bytes);

// "0s", "350ms", "1.2s", "45s", "12m5s", "2h", "2h5m", "3d4h": two units at most, rounded down.
// Below a millisecond "<1ms". A negative one has a minus sign.
[[nodiscard]] std::string format_duration(std::int64_t ns);

// "1 file", "2 files": `plural` defaults to the noun with an s. Thousands are separated by commas.
[[nodiscard]] std::string format_count(std::uint64_t count, std::string_view noun,
                                       std::string_view plural = {});

// Of datum/base/rfc3339.hpp, for callers that show times.
using datum::find_rfc3339;
using datum::format_rfc3339;
using datum::Precision;

// `at` in the time zone of this process.
[[nodiscard]] std::tm local_time(WallNs at);

// Short local form: "16:22:42" on the day of `now`, "29 Nov 16:22" within its year, else
// "2026-11-29 16:22".
[[nodiscard]] std::string format_local(const std::tm& at, const std::tm& now);

}  // namespace datum::text
