#include "datum/base/rfc3339.hpp"

#include <array>
#include <chrono>
#include <cstdio>

#include "datum/base/assert.hpp"

namespace datum {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), format, values...);
  DATUM_ASSERT(size >= 0 && static_cast<std::size_t>(size) < buffer.size());
  return buffer.data();
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

}  // namespace

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

}  // namespace datum
