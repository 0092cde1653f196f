#include "datum/link/journal_feed.hpp"

#include <algorithm>

namespace datum::link {

void JournalFeed::begin(Seq kept) {
  kept_ = kept;
  next_ = kept + 1;
  unanswered_.clear();
  beats_ = 0;
}

void JournalFeed::kept(Seq through) {
  if (through <= kept_) return;
  kept_ = through;
  next_ = std::max(next_, through + 1);
  while (!unanswered_.empty() && unanswered_.front() <= through) unanswered_.pop_front();
  beats_ = 0;
}

void JournalFeed::sent(Seq first, std::uint32_t count) {
  next_ = first + count;
  unanswered_.push_back(next_ - 1);
}

void JournalFeed::beat() {
  constexpr std::uint32_t kPatience = 2;
  if (unanswered_.empty()) {
    beats_ = 0;
    return;
  }
  if (++beats_ > kPatience) begin(kept_);
}

}  // namespace datum::link
