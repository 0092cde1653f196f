// Which actions may run together. Everything that must come before an action is in its `after`, so
// that two actions of one wave can only meet in folders: that is checked here once more.
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "planning.hpp"

namespace datum::core {
namespace {

using PathSet = std::unordered_set<std::string_view>;

class Wave {
 public:
  Wave(const Plan& plan, std::span<const Phase> phases, const WaveLimits& limits)
      : plan_(plan), phases_(phases), limits_(limits) {}

  std::vector<std::uint32_t> run() {
    auto turn = Turn::own_package;
    for (const auto& action : plan_.actions)
      if (can_run(action)) turn = std::min(turn, turn_of(action));
    for (const auto& action : plan_.actions) {
      if (members_.size() >= limits_.actions) break;
      if (turn_of(action) != turn || !can_run(action) || !fits(action)) continue;
      take(action);
      if (!action.repeatable && !is_package(action)) break;
    }
    return std::move(members_);
  }

 private:
  // Scripts of packages may change anything: what else can run comes after them, looked at again.
  // The upgrade of Datum's own ends the service: it comes once nothing else can run.
  enum class Turn : std::uint8_t { packages, others, own_package };
  static Turn turn_of(const Action& action) {
    if (is_own_package(action.target)) return Turn::own_package;
    return is_package(action) ? Turn::packages : Turn::others;
  }

  [[nodiscard]] Phase phase_of(std::uint32_t ordinal) const {
    return ordinal < phases_.size() ? phases_[ordinal] : Phase::waiting;
  }

  [[nodiscard]] bool can_run(const Action& action) const {
    if (!is_mutating(action.kind) || action.observe_only || !action.refusal.empty() ||
        !action.blocked_on.empty() || phase_of(action.ordinal) != Phase::waiting)
      return false;
    for (const auto before : action.after)
      if (phase_of(before) != Phase::succeeded) return false;
    return true;
  }

  static bool is_package(const Action& action) {
    return action.target.family == model::TargetFamily::package;
  }

  // The first member decides what kind of wave it is.
  [[nodiscard]] bool fits(const Action& action) const {
    if (members_.empty()) return true;
    const auto& first = plan_.actions[members_.front()];
    if (is_own_package(first.target)) return false;
    if (is_package(first)) return is_package(action);
    return action.repeatable && staged_ + action.staged_bytes <= limits_.staged_bytes &&
           !meets_in_folders(action);
  }

  // Anything but an update may make a folder come or go.
  static bool moves(const Action& action) { return action.kind != ActionKind::update; }

  [[nodiscard]] bool meets_in_folders(const Action& action) const {
    if (action.target.family != model::TargetFamily::path) return false;
    if (moves(action) && above_.contains(action.target.name)) return true;
    bool meets = false;
    for_each_ancestor(action.target.name,
                      [&](std::string_view path) { meets = meets || moving_.contains(path); });
    return meets;
  }

  void take(const Action& action) {
    members_.push_back(action.ordinal);
    staged_ += action.staged_bytes;
    if (action.target.family != model::TargetFamily::path) return;
    if (moves(action)) moving_.insert(action.target.name);
    for_each_ancestor(action.target.name, [&](std::string_view path) { above_.insert(path); });
  }

  const Plan& plan_;
  std::span<const Phase> phases_;
  const WaveLimits& limits_;
  std::vector<std::uint32_t> members_;
  std::uint64_t staged_ = 0;
  PathSet moving_, above_;
};

}  // namespace

std::vector<std::uint32_t> next_wave(const Plan& plan, std::span<const Phase> phases,
                                     const WaveLimits& limits) {
  return Wave(plan, phases, limits).run();
}

}  // namespace datum::core
