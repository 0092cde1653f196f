#include "datum/host/log_line.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "datum/base/bytes.hpp"

namespace datum::host {
namespace {

constexpr std::string_view kCut = " [cut]";

std::string cut(std::string_view text) {
  if (text.size() <= kMaxLogText) return std::string(text);
  return std::string(text.substr(0, kMaxLogText)).append(kCut);
}

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  if (value.find('\n') == std::string_view::npos) {
    out.append("=").append(value).append("\n");
    return;
  }
  std::array<std::byte, sizeof(std::uint64_t)> size{};
  store_le<std::uint64_t>(size.data(), value.size());
  out.append("\n").append(as_text(size)).append(value).append("\n");
}

}  // namespace

std::string journal_datagram(Priority priority, std::string_view text,
                             std::span<const LogField> fields) {
  std::string out;
  add_field(out, "MESSAGE", cut(text));
  add_field(out, "PRIORITY", std::to_string(static_cast<int>(priority)));
  add_field(out, "SYSLOG_IDENTIFIER", "datum-host");
  for (const auto& field : fields) add_field(out, field.name, cut(field.value));
  return out;
}

std::string manager_mark(Priority priority) {
  return "<" + std::to_string(static_cast<int>(priority)) + ">";
}

std::string in_one_line(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n') {
      out += text[at];
      continue;
    }
    at = std::min(text.find_first_not_of("\n ", at), text.size());
    if (at < text.size()) out.append("; ").append(1, text[at]);
  }
  return out;
}

std::string error_line(std::string_view before, std::string_view text) {
  std::string out(before);
  for (const char letter : cut(text)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20 && byte != 0x7f) {
      out += letter;
      continue;
    }
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
    out += escaped.data();
  }
  return out + "\n";
}

}  // namespace datum::host
