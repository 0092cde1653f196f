#include "corrected_line.hpp"

#include <algorithm>
#include <cctype>

namespace datum::yaml {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t';
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Walks a line outside quotes and comments: where values may begin, and how deep in `[…]` or `{…}`.
class Walker {
 public:
  explicit Walker(std::string_view line) : line_(line) {}

  // Moves to the next character outside quotes; false at the end of the line or at a comment.
  bool next() {
    if (started_) step();
    started_ = true;
    while (at_ < line_.size() && opens_quote()) skip_quoted();
    return at_ < line_.size() && !opens_comment();
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] int depth() const { return depth_; }
  // Whether a value may begin here: after an indicator and spaces, or first in the line.
  [[nodiscard]] bool at_value() const { return at_value_; }

 private:
  void step() {
    const char c = line_[at_];
    const bool before_space = at_ + 1 == line_.size() || is_space(line_[at_ + 1]);
    if (c == '[' || c == '{') {
      ++depth_;
      at_value_ = true;
    } else if (c == ']' || c == '}') {
      depth_ = std::max(0, depth_ - 1);
      at_value_ = false;
    } else if ((c == ':' && before_space) || (c == ',' && depth_ > 0)) {
      at_value_ = true;
    } else if (c == '-' || c == '?') {
      at_value_ = at_value_ && before_space;
    } else if (!is_space(c)) {
      at_value_ = false;
    }
    ++at_;
  }
  [[nodiscard]] bool opens_quote() const {
    return at_value_ && (line_[at_] == '"' || line_[at_] == '\'');
  }
  [[nodiscard]] bool opens_comment() const {
    return line_[at_] == '#' && (at_ == 0 || is_space(line_[at_ - 1]));
  }
  void skip_quoted() {
    const char quote = line_[at_++];
    const auto escapes = [&](std::size_t at) {
      return quote == '"' ? line_[at] == '\\' : line_.substr(at, 2) == "''";
    };
    while (at_ < line_.size() && (line_[at_] != quote || escapes(at_))) at_ += escapes(at_) ? 2 : 1;
    at_ = std::min(at_ + 1, line_.size());
    at_value_ = false;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool at_value_ = true;
  bool started_ = false;
};

std::string in_quotes(std::string_view value) {
  if (value.find_first_of("\"\\") == std::string_view::npos) return '"' + std::string(value) + '"';
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
  return text + "'";
}

// Length of an unquoted `Type[name]` at the beginning of `text`, 0 if there is none.
std::size_t reference_size(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_letter(text[at])) ++at;
  if (at == 0 || at == text.size() || text[at] != '[') return 0;
  const auto close = text.find_first_of("[],\"' ", at + 1);
  if (close == std::string_view::npos || text[close] != ']' || close == at + 1) return 0;
  return close + 1;
}

// Where the value that begins at `at`, `depth` deep in brackets, ends.
std::size_t value_end(std::string_view line, std::size_t at, int depth) {
  std::size_t end = at;
  int braces = 0;
  for (; end < line.size(); ++end) {
    const char c = line[end];
    if (c == '#' && end > at && is_space(line[end - 1])) break;
    if (c == '{') ++braces;
    if (depth > 0 && braces == 0 && (c == ',' || c == ']' || c == '}')) break;
    if (c == '}' && braces > 0) --braces;
  }
  while (end > at && is_space(line[end - 1])) --end;
  return end;
}

}  // namespace

std::optional<std::size_t> find_bare_braces(std::string_view line) {
  for (Walker walker(line); walker.next();)
    if (walker.at_value() && line.substr(walker.at()).starts_with("{{")) return walker.at();
  return std::nullopt;
}

std::optional<std::string> quote_references(std::string_view line) {
  std::string text;
  std::size_t copied = 0;
  for (Walker walker(line); walker.next();) {
    if (!walker.at_value() || walker.at() < copied) continue;
    const auto size = reference_size(line.substr(walker.at()));
    if (size == 0) continue;
    text += line.substr(copied, walker.at() - copied);
    text += in_quotes(line.substr(walker.at(), size));
    copied = walker.at() + size;
  }
  if (copied == 0) return std::nullopt;
  text += line.substr(copied);
  return std::string(trim(text));
}

std::string quote_value(std::string_view line, std::size_t at) {
  int depth = 0;
  for (Walker walker(line); walker.next() && walker.at() <= at;) depth = walker.depth();
  const auto end = value_end(line, at, depth);
  std::string text(line.substr(0, at));
  text += in_quotes(line.substr(at, end - at));
  text += line.substr(end);
  return std::string(trim(text));
}

static bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::size_t byte_of_column(std::string_view line, std::size_t column) {
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    if (begins_character(line[at]) && column-- == 0) break;
  }
  return at;
}

std::size_t character_count(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), begins_character));
}

}  // namespace datum::yaml
