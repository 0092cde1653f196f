#include "datum/text/human.hpp"

#include <array>
#include <chrono>
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

// Reads fixed forms from the left; after the first mismatch nothing more is read.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && text_.empty(); }
  [[nodiscard]] bool sees(char c) const { return ok_ && !text_.empty() && text_.front() == c; }

  void expect(std::string_view any_of) {
    ok_ = ok_ && !text_.empty() && any_of.find(text_.front()) != std::string_view::npos;
    if (ok_) text_.remove_prefix(1);
  }
  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) value = value * 10 + digit();
    return value;
  }
  // One to nine digits as a part of a second.
  std::int64_t fraction_ns() {
    std::int64_t value = digit();
    std::size_t digits = 1;
    for (; digits < 9 && sees_digit(); ++digits) value = value * 10 + digit();
    for (; digits < 9; ++digits) value *= 10;
    return value;
  }

 private:
  [[nodiscard]] bool sees_digit() const {
    return ok_ && !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
  }
  int digit() {
    ok_ = sees_digit();
    if (!ok_) return 0;
    const int value = text_.front() - '0';
    text_.remove_prefix(1);
    return value;
  }

  std::string_view text_;
  bool ok_ = true;
};

// Seconds that local time is ahead of UTC.
std::int64_t scan_offset(Scanner& scanner) {
  if (scanner.sees('Z') || scanner.sees('z')) {
    scanner.expect("Zz");
    return 0;
  }
  const bool behind = scanner.sees('-');
  scanner.expect("+-");
  const int hours = scanner.number(2);
  scanner.expect(":");
  const int minutes = scanner.number(2);
  if (hours > 23 || minutes > 59) scanner.expect("");
  const std::int64_t seconds = (hours * 60 + minutes) * 60;
  return behind ? -seconds : seconds;
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

std::string format_rfc3339(WallNs at, Precision precision) {
  using namespace std::chrono;
  const auto whole = floor<seconds>(sys_time<nanoseconds>(nanoseconds(at.ns)));
  const auto day = floor<days>(whole);
  const year_month_day date(day);
  const hh_mm_ss time(whole - day);
  auto text =
      print("%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
            static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
            static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
            static_cast<int>(time.seconds().count()));
  if (precision == Precision::milliseconds) {
    const auto rest = nanoseconds(at.ns) - whole.time_since_epoch();
    text += print(".%03d", static_cast<int>(duration_cast<milliseconds>(rest).count()));
  }
  return text + "Z";
}

std::optional<WallNs> find_rfc3339(std::string_view text) {
  using namespace std::chrono;
  Scanner scanner(text);
  const int year_number = scanner.number(4);
  scanner.expect("-");
  const int month_number = scanner.number(2);
  scanner.expect("-");
  const int day_number = scanner.number(2);
  scanner.expect("Tt ");
  const int hour = scanner.number(2);
  scanner.expect(":");
  const int minute = scanner.number(2);
  scanner.expect(":");
  const int second = scanner.number(2);
  std::int64_t fraction = 0;
  if (scanner.sees('.')) {
    scanner.expect(".");
    fraction = scanner.fraction_ns();
  }
  const auto offset = scan_offset(scanner);
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number)));
  if (!scanner.at_end() || !date.ok() || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  // Within the years that nanoseconds in 64 bits reach, with a year to spare at both ends.
  if (year_number < 1679 || year_number > 2260) return std::nullopt;
  const auto days_since = sys_days(date).time_since_epoch().count();
  const auto seconds_since =
      std::int64_t{days_since} * 86'400 + hour * 3'600 + minute * 60 + second - offset;
  return WallNs{seconds_since * kNsPerSecond + fraction};
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
