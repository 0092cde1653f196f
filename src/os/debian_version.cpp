// Epoch, upstream version and revision; in each, runs of other characters and runs of digits take
// turns. Letters sort before everything else, and `~` before the end itself.
#include <algorithm>

#include "datum/os/packages.hpp"

namespace datum::os {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Of a character outside a number; of the end it is 0.
int order_of(std::string_view text, std::size_t at) {
  if (at >= text.size() || is_digit(text[at])) return 0;
  const char c = text[at];
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return static_cast<unsigned char>(c);
  if (c == '~') return -1;
  return static_cast<unsigned char>(c) + 256;
}

std::string_view take_number(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const auto begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

// Of any length: the longer one is larger, since zeros in front are gone.
int compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int compare_parts(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    while ((i < a.size() && !is_digit(a[i])) || (j < b.size() && !is_digit(b[j]))) {
      const int left = order_of(a, i);
      const int right = order_of(b, j);
      if (left != right) return left < right ? -1 : 1;
      ++i;
      ++j;
    }
    const auto left = take_number(a, i);
    if (const int order = compare_numbers(left, take_number(b, j)); order != 0) return order;
  }
  return 0;
}

struct Parts {
  std::string_view epoch, upstream, revision;
};

Parts split(std::string_view version) {
  Parts parts;
  if (const auto colon = version.find(':'); colon != std::string_view::npos) {
    parts.epoch = version.substr(0, colon);
    version.remove_prefix(colon + 1);
  }
  const auto dash = version.rfind('-');
  parts.upstream = version.substr(0, dash);
  if (dash != std::string_view::npos) parts.revision = version.substr(dash + 1);
  return parts;
}

}  // namespace

int compare_debian_versions(std::string_view a, std::string_view b) {
  const auto left = split(a);
  const auto right = split(b);
  if (const int order = compare_parts(left.epoch, right.epoch); order != 0) return order;
  if (const int order = compare_parts(left.upstream, right.upstream); order != 0) return order;
  return compare_parts(left.revision, right.revision);
}

}  // namespace datum::os
