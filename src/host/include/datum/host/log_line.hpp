// One line of the service's log, as the system journal takes it (its native protocol, with fields)
// and as a standard error takes it. Pure; who writes it where is the program's matter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace datum::host {

// As syslog numbers them.
enum class Priority : std::uint8_t { error = 3, warning = 4, notice = 5, info = 6 };

// `name` in capitals, digits and _, not at its beginning: DATUM_PASS, DATUM_EVENT, …
struct LogField {
  std::string_view name;
  std::string value;
};

// More of a text is no line any more; a journal's datagram has to fit.
inline constexpr std::size_t kMaxLogText = 8 * 1024;

// A datagram for /run/systemd/journal/socket: one KEY=value a line, and values with line ends in
// the form with a length. Texts beyond kMaxLogText are cut, and say so.
[[nodiscard]] std::string journal_datagram(Priority priority, std::string_view text,
                                           std::span<const LogField> fields);
// "<6>": what a service manager takes off a line of standard error and reads its priority from.
[[nodiscard]] std::string manager_mark(Priority priority);
// Of words that stand in several lines for people, as faults of a file: parted by "; ".
[[nodiscard]] std::string in_one_line(std::string_view text);
// Both and "\n": control characters of the text as \xNN, so that it is one line whatever it holds.
// `before` is a manager's mark, or the program's name where a person reads.
[[nodiscard]] std::string error_line(std::string_view before, std::string_view text);

}  // namespace datum::host
