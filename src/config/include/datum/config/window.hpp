// Maintenance windows: when, in local time, a host may change its machine. Pure functions of a
// broken down local time, so that no clock and no time zone is read here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace datum::config {

inline constexpr std::uint16_t kMinutesPerDay = 24 * 60;

// Days as in std::tm::tm_wday: 0 is Sunday.
struct LocalTime {
  std::uint8_t weekday = 0;  // 0 to 6
  std::uint16_t minute = 0;  // of the day, 0 to 1439
  bool operator==(const LocalTime&) const = default;
};

// From `from` on each of `days` up to, not including, `to`; where `to` is not after `from`, of the
// next day. They are never equal.
struct Window {
  std::array<bool, 7> days{};  // in which it begins, by weekday
  std::uint16_t from = 0;      // minute of the day, 0 to 1439
  std::uint16_t to = 0;        // 1 to 1440
  bool operator==(const Window&) const = default;
};

// Whether any window is open. No window at all: always. Where local time jumps, the clock on the
// wall decides: a window inside a skipped hour does not open that day.
[[nodiscard]] bool is_open(std::span<const Window> windows, LocalTime now);

// The next time on the clock at which a closed window opens, within a week; nullopt if one is open
// or none ever opens.
[[nodiscard]] std::optional<LocalTime> find_next_opening(std::span<const Window> windows,
                                                         LocalTime now);

[[nodiscard]] std::string describe(const Window& window);  // "mon,tue 22:00-04:00"
[[nodiscard]] std::string describe(LocalTime time);        // "mon 22:00"

// "mon" to "sun", exact in case.
[[nodiscard]] std::optional<std::uint8_t> find_weekday(std::string_view name);
// "HH:MM", 00:00 to 24:00, as minutes.
[[nodiscard]] std::optional<std::uint16_t> find_time_of_day(std::string_view text);

}  // namespace datum::config
