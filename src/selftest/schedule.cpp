#include "schedule.hpp"

#include <algorithm>
#include <utility>

namespace datum::selftest {
namespace {

// A point that a kind of pass did not come to again is tried in others, and not for ever.
constexpr std::uint32_t kMaxTries = 4;

// Kinds of passes that have points of their own. A restart has those of recovery: after a cut among
// staged files it removes them, after a cut among renamed ones it makes durable what it finds.
struct KindOfPass {
  std::string_view name;
  Size size;
  bool is_birth;
  std::string_view first_cut;
  std::uint64_t first_hit;
};
constexpr KindOfPass kKinds[] = {
    {"birth", Size::small, true, "", 0},
    {"change", Size::small, false, "", 0},
    {"restart after staging", Size::small, false, "wave: staged", 20},
    {"restart after renaming", Size::small, false, "wave: observe", 1},
    {"birth, large", Size::large, true, "", 0},
    {"change, large", Size::large, false, "", 0},
    {"restart after renaming, large", Size::large, false, "wave: observe", 1},
};
constexpr std::string_view kChange = "change";
constexpr std::string_view kRestart = "restart after renaming";

RoundPlan plan_of(const KindOfPass& kind) {
  RoundPlan plan;
  plan.size = kind.size;
  plan.is_birth = kind.is_birth;
  plan.first_look = kind.name;
  if (!kind.first_cut.empty())
    plan.cuts.push_back({{std::string(kind.first_cut), kind.first_hit, false, 0}, 0});
  return plan;
}

}  // namespace

Schedule::Schedule(std::uint64_t seed) : random_(seed), points_(all_points()) {}

std::uint64_t Schedule::draw(std::uint64_t below) {
  return below == 0 ? 0 : random_() % below;
}

std::uint32_t Schedule::expected(std::uint32_t rounds) const {
  return std::max(rounds, static_cast<std::uint32_t>(points_.size() + std::size(kKinds)));
}

void Schedule::learn(const std::string& kind, const std::map<std::string, std::uint64_t>& hits,
                     std::int64_t duration_ns) {
  Learnt& learnt = learnt_[kind];
  learnt = {hits, 0, duration_ns};
  for (const auto& [point, count] : hits) learnt.all_hits += count;
}

void Schedule::count(const std::string& point) {
  ++ended_[point];
}

std::vector<PointHits> Schedule::points() const {
  std::vector<PointHits> points;
  for (const auto& point : points_) {
    const auto found = ended_.find(point);
    points.push_back({point, found == ended_.end() ? 0 : found->second});
  }
  return points;
}

// The first point that no process ended at yet, in a pass that comes to it.
std::optional<RoundPlan> Schedule::plan_point() {
  for (const auto& point : points_) {
    if (ended_.contains(point) || tried_[point] >= kMaxTries) continue;
    std::vector<const KindOfPass*> kinds;
    for (const auto& kind : kKinds) {
      const auto learnt = learnt_.find(std::string(kind.name));
      if (learnt != learnt_.end() && learnt->second.hits.contains(point)) kinds.push_back(&kind);
    }
    if (kinds.empty()) continue;
    const auto& kind = *kinds[tried_[point]++ % kinds.size()];
    auto plan = plan_of(kind);
    const auto most = learnt_[std::exchange(plan.first_look, {})].hits[point];
    // Of few times any; of many one in the first half, which a pass surely comes to again.
    const auto hit = 1 + draw(most < 4 ? most : most / 2);
    plan.cuts.push_back({{point, hit, false, 0}, 0});
    return plan;
  }
  return std::nullopt;
}

Cut Schedule::random_cut(const std::string& kind) {
  const auto& learnt = learnt_[kind];
  Cut cut;
  if (draw(2) == 0)
    cut.after_ns =
        1 + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(learnt.duration_ns) + 1));
  else
    cut.order.hit = 1 + draw(learnt.all_hits);
  return cut;
}

RoundPlan Schedule::plan_random() {
  constexpr std::uint64_t kOneIsLarge = 24, kOneIsBirth = 16, kOneEndsTwice = 4;
  RoundPlan plan;
  std::string suffix;
  if (draw(kOneIsLarge) == 0) {
    plan.size = Size::large;
    suffix = ", large";
  }
  plan.is_birth = draw(kOneIsBirth) == 0;
  plan.cuts.push_back(random_cut((plan.is_birth ? "birth" : std::string(kChange)) + suffix));
  if (draw(kOneEndsTwice) == 0) plan.cuts.push_back(random_cut(std::string(kRestart) + suffix));
  return plan;
}

std::optional<RoundPlan> Schedule::next(std::uint32_t rounds) {
  if (first_looks_ < std::size(kKinds)) {
    ++planned_;
    return plan_of(kKinds[first_looks_++]);
  }
  if (auto plan = plan_point()) {
    ++planned_;
    return plan;
  }
  if (planned_ >= rounds) return std::nullopt;
  ++planned_;
  return plan_random();
}

}  // namespace datum::selftest
