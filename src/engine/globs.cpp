#include "globs.hpp"

#include <algorithm>

namespace datum::engine {

bool glob_matches(std::string_view glob, std::string_view text) {
  // Greedy with one point to come back to: linear but for the number of stars.
  std::size_t g = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      mark = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

std::vector<model::Reference> match_references(const model::Manifest& manifest,
                                               const std::vector<std::string>& globs) {
  std::vector<model::Reference> matched;
  if (globs.empty()) return matched;
  for (const auto& resource : manifest.resources) {
    const auto text = resource->reference.text();
    if (std::any_of(globs.begin(), globs.end(),
                    [&text](const auto& glob) { return glob_matches(glob, text); }))
      matched.push_back(resource->reference);
  }
  return matched;
}

}  // namespace datum::engine
