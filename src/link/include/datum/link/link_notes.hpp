// Which of a link's ups and downs the journal is told: each that lasts, and of those that come
// faster than a pair a minute only how many there were (design, 2). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datum/base/time.hpp"
#include "datum/core/decide.hpp"

namespace datum::link {

inline constexpr std::int64_t kOnePairNs = 60 * kNsPerSecond;

class LinkNotes {
 public:
  // What is to be recorded now.
  [[nodiscard]] std::vector<core::Command> up(const std::string& address, BootNs now);
  [[nodiscard]] std::vector<core::Command> down(const std::string& reason, BootNs now);
  // When `tick` has something to say, if nothing happens until then.
  [[nodiscard]] std::optional<BootNs> due() const;
  [[nodiscard]] std::vector<core::Command> tick(BootNs now);

 private:
  [[nodiscard]] std::vector<core::Command> tell_up(BootNs now);
  std::optional<BootNs> told_at_;  // the last up that was told
  bool is_told_up_ = false;
  bool is_up_ = false;
  std::string address_;
  std::uint32_t untold_ = 0;  // pairs
};

}  // namespace datum::link
