// Named places of a pass at which a process of the self-test ends or a sync fails: before and after
// each append, sync, rename and removal, and the steps of a wave. Owns the table of names, the
// count of how often each was reached, and the one order that a process may have. It ends nothing
// itself: whoever makes it says how.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"

namespace datum::selftest {

// Every point that a run must have ended a process at, in the order of a report.
[[nodiscard]] std::vector<std::string> all_points();

// What a process is told to do to itself. Nothing: it only counts.
struct CutOrder {
  std::string point;      // empty: any
  std::uint64_t hit = 0;  // the n-th time it is reached, from 1; 0: never
  bool fails = false;     // the step at the point fails; the process goes on
  // Files of this process may not grow beyond that; 0: no limit. A journal then cannot be written.
  std::uint64_t file_limit = 0;

  bool operator==(const CutOrder&) const = default;
};
// As lines of text, and back: how the order reaches the process. `invalid_argument` for anything
// that was not written by `to_text`.
[[nodiscard]] std::string to_text(const CutOrder& order);
[[nodiscard]] Result<CutOrder> parse_order(std::string_view text);

// Any thread.
class CrashPoints {
 public:
  // `end` is called at the ordered place, with its name and hit, on the thread that reached it,
  // while no other thread passes a point; it does not return in the self-test.
  using End = std::function<void(std::string_view point, std::uint64_t hit)>;
  CrashPoints(CutOrder order, End end);

  void reach(std::string_view point);
  // Whether the step behind the point that was just reached is ordered to fail.
  [[nodiscard]] bool reach_and_fails(std::string_view point);
  // How often each was reached.
  [[nodiscard]] std::map<std::string, std::uint64_t> hits() const;

 private:
  bool count(std::string_view point);

  const CutOrder order_;
  const End end_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> hits_;
  std::uint64_t all_ = 0;
};

}  // namespace datum::selftest
