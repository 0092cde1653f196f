#include "datum/text/human.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "datum/base/assert.hpp"

namespace datum::text {
namespace {

constexpr std::int64_t kMinute = 60 * kNsPerSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), format, values...);
  DATUM_ASSERT(size >= 0 && static_cast<std::size_t>(size) < buffer.size());
  return buffer.data();
}

std::string two_units(std::uint64_t ns, std::int64_t large, char large_name, std::int64_t small,
                      char small_name) {
  const auto whole = ns / static_cast<std::uint64_t>(large);
  const auto rest = ns % static_cast<std::uint64_t>(large) / static_cast<std::uint64_t>(small);
  auto text = std::to_string(whole) + large_name;
  return rest == 0 ? text : text + std::to_string(rest) + small_name;
}

std::string format_positive(std::uint64_t ns) {
  if (ns == 0) return "0s";
  if (ns < kNsPerMs) return "<1ms";
  if (ns < kNsPerSecond) return std::to_string(ns / kNsPerMs) + "ms";
  if (ns < 10 * kNsPerSecond) {
    const auto tenths = ns / (kNsPerSecond / 10);
    if (tenths % 10 == 0) return std::to_string(tenths / 10) + "s";
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
  }
  if (ns < kMinute) return std::to_string(ns / kNsPerSecond) + "s";
  if (ns < kHour) return two_units(ns, kMinute, 'm', kNsPerSecond, 's');
  if (ns < kDay) return two_units(ns, kHour, 'h', kMinute, 'm');
  return two_units(ns, kDay, 'd', kHour, 'h');
}

constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  std::uint64_t tenths = 0;  // of the unit, below ten of it
  for (; bytes >= 1024; ++unit) {
    tenths = bytes % 1024 * 10 / 1024;
    bytes /= 1024;
  }
  if (unit > 0 && bytes < 10)
    return std::to_string(bytes) + "." + std::to_string(tenths) + " " + kUnits[unit];
  return std::to_string(bytes) + " " + kUnits[unit];
}

std::string format_duration(std::int64_t ns) {
  if (ns >= 0) return format_positive(static_cast<std::uint64_t>(ns));
  return "-" + format_positive(0 - static_cast<std::uint64_t>(ns));
}

std::string format_count(std::uint64_t count, std::string_view noun, std::string_view plural) {
  auto text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  text += ' ';
  if (count == 1) return text.append(noun);
  return plural.empty() ? text.append(noun).append("s") : text.append(plural);
}

std::tm local_time(WallNs at) {
  auto seconds = at.ns / kNsPerSecond;
  if (at.ns % kNsPerSecond < 0) --seconds;
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  DATUM_ASSERT(localtime_r(&time, &local) != nullptr);
  return local;
}

std::string format_local(const std::tm& at, const std::tm& now) {
  if (at.tm_year != now.tm_year)
    return print("%04d-%02d-%02d %02d:%02d", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday,
                 at.tm_hour, at.tm_min);
  if (at.tm_yday != now.tm_yday) {
    DATUM_ASSERT(at.tm_mon >= 0 && at.tm_mon < 12);
    return print("%d %s %02d:%02d", at.tm_mday, kMonths[static_cast<std::size_t>(at.tm_mon)],
                 at.tm_hour, at.tm_min);
  }
  return print("%02d:%02d:%02d", at.tm_hour, at.tm_min, at.tm_sec);
}

}  // namespace datum::text
