// Which records of a node's journal go up next: everything behind what is kept there, in order, a
// few parts ahead of the answers. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "datum/base/ids.hpp"

namespace datum::link {

// Parts without an answer: a megabyte is on its way at most, which fills a line of 80 ms at
// 100 Mbit/s, and is what is sent again when a connection breaks.
inline constexpr std::size_t kMostUnansweredParts = 8;

class JournalFeed {
 public:
  // A connection begins: everything through `kept` is kept there.
  void begin(Seq kept);
  // The other end's word. What it kept once it never gives back: a lower one changes nothing.
  void kept(Seq through);
  void sent(Seq first, std::uint32_t count);
  // One for each heartbeat. A part that stays without an answer for two of them was not taken:
  // sending goes on behind what is kept.
  void beat();

  [[nodiscard]] bool may_send() const { return unanswered_.size() < kMostUnansweredParts; }
  [[nodiscard]] Seq next() const { return next_; }
  [[nodiscard]] Seq kept() const { return kept_; }

 private:
  Seq kept_ = 0;
  Seq next_ = 1;
  std::deque<Seq> unanswered_;  // the last record of each part
  std::uint32_t beats_ = 0;     // since the last answer that moved something, or none was due
};

}  // namespace datum::link
