// See the header. Position by position of the pattern, the set of prefixes of the path that it can
// have matched so far: no backtracking, so no pattern is slow.
#include "glob.hpp"

#include <vector>

namespace datum::fleet {
namespace {

struct Token {
  enum class Kind { literal, any, star, globstar, set } kind = Kind::literal;
  char literal = 0;
  std::string_view set;  // between the brackets
};

// The token at the beginning of `pattern`, which it shortens.
Token take_token(std::string_view& pattern) {
  const char first = pattern.front();
  if (pattern.starts_with("**")) {
    // `**/` also stands for no folder at all.
    pattern.remove_prefix(pattern.starts_with("**/") ? 3 : 2);
    return {Token::Kind::globstar, 0, {}};
  }
  if (first == '[') {
    if (const auto close = pattern.find(']', 2); close != std::string_view::npos) {
      const Token token{Token::Kind::set, 0, pattern.substr(1, close - 1)};
      pattern.remove_prefix(close + 1);
      return token;
    }
  }
  pattern.remove_prefix(1);
  if (first == '*') return {Token::Kind::star, 0, {}};
  if (first == '?') return {Token::Kind::any, 0, {}};
  return {Token::Kind::literal, first, {}};
}

bool in_set(std::string_view set, char c) {
  const bool negated = !set.empty() && (set.front() == '!' || set.front() == '^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  while (!set.empty()) {
    const bool range = set.size() >= 3 && set[1] == '-';
    found = found || (range ? set[0] <= c && c <= set[2] : set[0] == c);
    set.remove_prefix(range ? 3 : 1);
  }
  return found != negated;
}

bool takes(const Token& token, char c) {
  switch (token.kind) {
    case Token::Kind::literal:
      return c == token.literal;
    case Token::Kind::set:
      return c != '/' && in_set(token.set, c);
    case Token::Kind::globstar:
      return true;
    default:
      return c != '/';
  }
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) {
  // reached[i]: the pattern so far can have matched the first i bytes.
  std::vector<bool> reached(path.size() + 1, false);
  reached[0] = true;
  while (!pattern.empty()) {
    const auto before = pattern;
    const auto token = take_token(pattern);
    const bool whole_folders = before.starts_with("**/");
    const bool repeats = token.kind == Token::Kind::star || token.kind == Token::Kind::globstar;
    std::vector<bool> next(path.size() + 1, false);
    if (repeats) next = reached;
    bool running = false;
    for (std::size_t i = 0; i < path.size(); ++i) {
      running = reached[i] || (repeats && running);
      if (!running || !takes(token, path[i])) {
        running = false;
        continue;
      }
      if (!whole_folders || path[i] == '/') next[i + 1] = true;
    }
    reached = std::move(next);
  }
  return reached[path.size()];
}

bool glob_excludes(std::string_view pattern, std::string_view path) {
  while (pattern.ends_with('/')) pattern.remove_suffix(1);
  if (pattern.starts_with("./")) pattern.remove_prefix(2);
  const bool anchored = pattern.starts_with('/');
  if (anchored) pattern.remove_prefix(1);
  if (pattern.empty()) return false;
  if (anchored || pattern.find('/') != std::string_view::npos) return glob_matches(pattern, path);
  const auto slash = path.rfind('/');
  return glob_matches(pattern, slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace datum::fleet
