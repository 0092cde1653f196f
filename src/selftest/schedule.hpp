// What each round of a run is: which processes end where. It learns from processes that ended by
// themselves which points there are in which kind of pass. Internal to selftest; pure but for the
// seed that it was given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "datum/selftest/crash_points.hpp"
#include "datum/selftest/crash_recovery.hpp"
#include "datum/selftest/scenario.hpp"

namespace datum::selftest {

// How a process of a round is ended.
struct Cut {
  CutOrder order;
  std::int64_t after_ns = 0;  // by time instead; 0: by its order
};
struct RoundPlan {
  Size size = Size::small;
  bool is_birth = false;  // in a new store and an empty tree
  bool is_fault = false;  // its order is a failure, not an end
  std::vector<Cut> cuts;  // of one process after the other; the next one then runs to its end
  std::string
      first_look;  // the kind of its last process, for `learn`; empty if nothing is to learn
};

class Schedule {
 public:
  explicit Schedule(std::uint64_t seed);

  // The next round; nothing once each point was tried as often as pays, and `rounds` were planned.
  [[nodiscard]] std::optional<RoundPlan> next(std::uint32_t rounds);
  // How many rounds there will be at least.
  [[nodiscard]] std::uint32_t expected(std::uint32_t rounds) const;

  // From a process that ended by itself.
  void learn(const std::string& kind, const std::map<std::string, std::uint64_t>& hits,
             std::int64_t duration_ns);
  // From one that ended at a point.
  void count(const std::string& point);

  [[nodiscard]] std::vector<PointHits> points() const;

 private:
  struct Learnt {
    std::map<std::string, std::uint64_t> hits;
    std::uint64_t all_hits = 0;
    std::int64_t duration_ns = 0;
  };
  [[nodiscard]] std::uint64_t draw(std::uint64_t below);
  [[nodiscard]] std::optional<RoundPlan> plan_point();
  [[nodiscard]] RoundPlan plan_random();
  [[nodiscard]] Cut random_cut(const std::string& kind);

  std::mt19937_64 random_;
  std::vector<std::string> points_;
  std::map<std::string, std::uint64_t> ended_;
  std::map<std::string, std::uint32_t> tried_;
  std::map<std::string, Learnt> learnt_;
  std::uint32_t planned_ = 0;
  std::size_t first_looks_ = 0;
};

}  // namespace datum::selftest
