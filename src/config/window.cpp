#include "datum/config/window.hpp"

#include <algorithm>
#include <cstdio>

#include "datum/base/assert.hpp"

namespace datum::config {
namespace {

constexpr std::array<std::string_view, 7> kDayNames = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

// Whether `window`, begun on `weekday`, holds a minute counted from the beginning of that day.
bool holds(const Window& window, std::size_t weekday, int minute) {
  const int end = window.to > window.from ? window.to : window.to + kMinutesPerDay;
  return window.days[weekday] && minute >= window.from && minute < end;
}

bool is_open(const Window& window, LocalTime now) {
  const std::size_t yesterday = (now.weekday + 6U) % 7U;
  return holds(window, now.weekday, now.minute) ||
         holds(window, yesterday, now.minute + kMinutesPerDay);
}

// Minutes from `now` to the next beginning of `window`, 1 to a week; nullopt without any day.
std::optional<int> minutes_to_begin(const Window& window, LocalTime now) {
  for (unsigned ahead = 0; ahead <= 7; ++ahead) {
    const int minutes = static_cast<int>(ahead) * kMinutesPerDay + window.from - now.minute;
    if (minutes > 0 && window.days[(now.weekday + ahead) % 7U]) return minutes;
  }
  return std::nullopt;
}

std::string describe_minute(std::uint16_t minute) {
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%02d:%02d", minute / 60 % 100, minute % 60);
  return buffer.data();
}

}  // namespace

bool is_open(std::span<const Window> windows, LocalTime now) {
  DATUM_ASSERT(now.weekday < 7 && now.minute < kMinutesPerDay);
  return windows.empty() || std::any_of(windows.begin(), windows.end(),
                                        [&](const Window& window) { return is_open(window, now); });
}

std::optional<LocalTime> find_next_opening(std::span<const Window> windows, LocalTime now) {
  if (is_open(windows, now)) return std::nullopt;
  std::optional<int> next;
  for (const auto& window : windows) {
    const auto minutes = minutes_to_begin(window, now);
    if (minutes && (!next || *minutes < *next)) next = minutes;
  }
  if (!next) return std::nullopt;
  const auto total = static_cast<unsigned>(now.minute + *next);
  return LocalTime{static_cast<std::uint8_t>((now.weekday + total / kMinutesPerDay) % 7U),
                   static_cast<std::uint16_t>(total % kMinutesPerDay)};
}

std::string describe(const Window& window) {
  std::string text;
  for (const std::size_t day : {1U, 2U, 3U, 4U, 5U, 6U, 0U}) {  // weeks begin on Monday
    if (!window.days[day]) continue;
    if (!text.empty()) text += ',';
    text += kDayNames[day];
  }
  return text + " " + describe_minute(window.from) + "-" + describe_minute(window.to);
}

std::string describe(LocalTime time) {
  DATUM_ASSERT(time.weekday < 7);
  return std::string(kDayNames[time.weekday]) + " " + describe_minute(time.minute);
}

std::optional<std::uint8_t> find_weekday(std::string_view name) {
  const auto found = std::find(kDayNames.begin(), kDayNames.end(), name);
  if (found == kDayNames.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - kDayNames.begin());
}

std::optional<std::uint16_t> find_time_of_day(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t at : {0U, 1U, 3U, 4U})
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  const int total = hour * 60 + minute;
  if (minute > 59 || total > kMinutesPerDay) return std::nullopt;
  return static_cast<std::uint16_t>(total);
}

}  // namespace datum::config
