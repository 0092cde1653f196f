// Distance by Damerau and Levenshtein, over words of a dozen letters.
#include "nearest.hpp"

#include <algorithm>

namespace datum::program {

namespace {

constexpr std::size_t kMaxWord = 64;  // longer than any command: nobody meant one

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string find_nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = kMaxWord;
  if (word.size() > kMaxWord) return nearest;
  for (const auto& name : names) {
    const auto far = distance(word, name);
    if (far >= least || far * 3 > std::max<std::size_t>(name.size(), 3)) continue;
    least = far;
    nearest = name;
  }
  return nearest;
}

}  // namespace datum::program
