#include "datum/host/release_notes.hpp"

namespace datum::host {
namespace {

// The value of the one line `KEY=value`.
std::optional<std::string> find_value(std::string_view text, std::string_view key) {
  std::optional<std::string> found;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;  // cut off
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.size() <= key.size() || line[key.size()] != '=' || !line.starts_with(key)) continue;
    if (found) return std::nullopt;
    found = std::string(line.substr(key.size() + 1));
  }
  return found;
}

}  // namespace

std::optional<RolledBackNote> parse_rolled_back(std::string_view text) {
  auto from = find_value(text, "from");
  auto to = find_value(text, "to");
  auto cause = find_value(text, "cause");
  if (!from || !to || !cause || from->empty() || to->empty()) return std::nullopt;
  return RolledBackNote{std::move(*from), std::move(*to), std::move(*cause)};
}

std::string release_folder(std::string_view version) {
  std::string name(version);
  for (char& c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_kept = is_letter || (c >= '0' && c <= '9') ||
                         std::string_view(".+~-").find(c) != std::string_view::npos;
    if (!is_kept) c = '_';
  }
  return name;
}

}  // namespace datum::host
