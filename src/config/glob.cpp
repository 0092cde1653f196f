#include "datum/config/glob.hpp"

#include <algorithm>

#include "datum/model/reference.hpp"

namespace datum::config {

bool matches(std::string_view glob, std::string_view text) {
  std::size_t at_glob = 0;
  std::size_t at_text = 0;
  // After the last star: where the pattern goes on, and up to where the star has eaten.
  std::size_t after_star = std::string_view::npos;
  std::size_t eaten = 0;
  while (at_text < text.size()) {
    if (at_glob < glob.size() && glob[at_glob] == '*') {
      after_star = ++at_glob;
      eaten = at_text;
    } else if (at_glob < glob.size() && (glob[at_glob] == '?' || glob[at_glob] == text[at_text])) {
      ++at_glob;
      ++at_text;
    } else if (after_star != std::string_view::npos) {
      at_glob = after_star;
      at_text = ++eaten;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', at_glob) == std::string_view::npos;
}

bool matches_any(std::span<const std::string> globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches(glob, text); });
}

static bool names_a_type(std::string_view glob) {
  for (int number = 1; number <= 255; ++number) {
    const auto type = static_cast<model::ResourceType>(number);
    if (number > static_cast<int>(model::kLastResourceType)) break;
    if (matches(glob, model::to_string(type))) return true;
  }
  return false;
}

std::optional<std::string> find_glob_fault(std::string_view glob) {
  if (glob.empty()) return "an empty pattern matches nothing";
  if (glob.size() > kMaxGlob)
    return "longer than " + std::to_string(kMaxGlob) + " bytes, which no reference is";
  if (glob.find_first_of("*?") == std::string_view::npos) {
    if (model::find_reference(glob)) return std::nullopt;
    return "is no reference: write Type[name], as in Package[nginx]";
  }
  if (glob.back() != ']' && glob.back() != '*' && glob.back() != '?')
    return "matches no reference: every reference ends with ]";
  const auto bracket = glob.find('[');
  if (bracket == std::string_view::npos) {
    if (glob.find('*') != std::string_view::npos) return std::nullopt;
    return "matches no reference: write Type[name], as in Package[nginx*]";
  }
  const auto type = glob.substr(0, bracket);
  if (!names_a_type(type)) return "\"" + std::string(type) + "\" matches no type of resource";
  return std::nullopt;
}

}  // namespace datum::config
