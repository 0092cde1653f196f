// Bounded capture: a plain head, then a ring for the tail.
#include "datum/loop/output.hpp"

#include <algorithm>

namespace datum::loop {

BoundedOutput::BoundedOutput(std::size_t limit)
    : head_limit_(limit / 2), tail_limit_(limit - limit / 2) {}

void BoundedOutput::add(std::string_view bytes) {
  const auto for_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, for_head));
  bytes.remove_prefix(for_head);
  if (bytes.size() > tail_limit_) {
    left_out_ += bytes.size() - tail_limit_;
    bytes.remove_prefix(bytes.size() - tail_limit_);
  }
  const auto for_growth = std::min(bytes.size(), tail_limit_ - ring_.size());
  ring_.append(bytes.substr(0, for_growth));
  bytes.remove_prefix(for_growth);
  left_out_ += bytes.size();
  while (!bytes.empty()) {
    const auto part = std::min(bytes.size(), tail_limit_ - oldest_);
    ring_.replace(oldest_, part, bytes.substr(0, part));
    oldest_ = (oldest_ + part) % tail_limit_;
    bytes.remove_prefix(part);
  }
}

std::string BoundedOutput::text() const {
  std::string text;
  text.reserve(head_.size() + ring_.size());
  text.append(head_).append(ring_, oldest_).append(ring_, 0, oldest_);
  return text;
}

}  // namespace datum::loop
