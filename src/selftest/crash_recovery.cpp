#include "datum/selftest/crash_recovery.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "life.hpp"
#include "schedule.hpp"
#include "small_disk.hpp"

namespace datum::selftest {
namespace {

// Checking reads the whole journal of a life: it is kept short.
constexpr std::uint32_t kRoundsOfALife = 16;
// Enough to see what is wrong; the rest would be the same.
constexpr std::size_t kMaxViolations = 40;

std::string describe(const RoundPlan& plan) {
  std::string text = plan.is_birth ? "a new store" : "a change";
  if (plan.size == Size::large) text += ", large";
  for (const auto& cut : plan.cuts) {
    if (cut.after_ns > 0)
      text += "; ended after " + std::to_string(cut.after_ns / 1000) + " us";
    else if (cut.order.file_limit > 0)
      text += "; files limited to " + std::to_string(cut.order.file_limit) + " bytes";
    else
      text += std::string(cut.order.fails ? "; failed at " : "; ended at ") +
              (cut.order.point.empty() ? "any point" : "\"" + cut.order.point + "\"") + ", hit " +
              std::to_string(cut.order.hit);
  }
  return text;
}

class Run {
 public:
  Run(loop::Loop& loop, os::Files& files, const CrashTest& test, const CrashTestWatch& watch)
      : loop_(loop), files_(files), test_(test), watch_(watch), schedule_(test.seed) {
    report_.seed = test.seed;
  }

  Result<CrashReport> run() {
    const auto began = loop_.clock().boot_now();
    while (goes_on()) {
      const auto plan = schedule_.next(test_.rounds);
      if (!plan) break;
      DATUM_TRY(round(*plan, life_for(*plan)));
    }
    if (goes_on()) DATUM_TRY(failing_syncs());
    if (goes_on()) DATUM_TRY(limited_files());
    if (goes_on()) DATUM_TRY(full_disks());
    for (auto* const life : {&small_, &large_})
      if (*life) retire(*life);
    report_.points = schedule_.points();
    std::sort(report_.recovery_ns.begin(), report_.recovery_ns.end());
    report_.duration_ns = loop_.clock().boot_now().ns - began.ns;
    return std::move(report_);
  }

 private:
  bool goes_on() {
    if (watch_.stopped && watch_.stopped()) report_.was_stopped = true;
    return !report_.was_stopped && report_.violations.size() < kMaxViolations;
  }

  // The life that stands for the plan's size; a new one where it is to be born or has grown old.
  std::unique_ptr<Life>& life_for(const RoundPlan& plan) {
    auto& life = plan.size == Size::small ? small_ : large_;
    if (life && (plan.is_birth || life->rounds() >= kRoundsOfALife)) retire(life);
    return life;
  }
  // What violated something stays; everything else goes.
  void retire(std::unique_ptr<Life>& life) {
    std::error_code ignored;
    if (!is_evidence_) std::filesystem::remove_all(life->folder(), ignored);
    is_evidence_ = false;
    life.reset();
  }

  Status make_life(std::unique_ptr<Life>& life, const std::string& folder, Size size) {
    life = std::make_unique<Life>(loop_, files_, test_, folder, size);
    return life->begin();
  }
  std::string next_folder() { return test_.scratch + "/life-" + std::to_string(++lives_); }

  Status round(const RoundPlan& plan, std::unique_ptr<Life>& life) {
    if (!life) DATUM_TRY(make_life(life, next_folder(), plan.size));
    // A change needs something to change.
    if (life->is_new() && !plan.is_birth) {
      RoundPlan birth;
      birth.size = plan.size;
      DATUM_TRY(judged_round(birth, *life));
    }
    DATUM_TRY(judged_round(plan, *life));
    // What an action that failed has left is adopted, not created: the next version would keep it.
    if (is_evidence_ || plan.is_fault) retire(life);
    return {};
  }

  Status judged_round(const RoundPlan& plan, Life& life) {
    ++report_.rounds;
    DATUM_TRY(life.declare_next());
    if (!life.is_new() && life.rounds() > 1)
      report_.fewest_actions = report_.fewest_actions == 0
                                   ? life.changes()
                                   : std::min(report_.fewest_actions, life.changes());
    if (plan.is_fault) life.expect_failure();
    bool is_cut = false;
    for (const auto& cut : plan.cuts) {
      DATUM_ASSIGN(const auto end, life.run(cut.order, cut.after_ns));
      count(cut, end, is_cut);
      if (!end.was_killed && !plan.is_fault) {
        // Not reached, or too late: it went to its end.
        note(plan, life, life.judge_end(end));
        return progress();
      }
      is_cut = true;
      note(plan, life, life.judge_cut(end));
      if (is_evidence_) return progress();
    }
    DATUM_ASSIGN(const auto end, life.run({}, 0));
    if (is_cut && end.recovered_ns > 0) report_.recovery_ns.push_back(end.recovered_ns);
    if (!plan.first_look.empty() && !end.was_killed)
      schedule_.learn(plan.first_look, end.hits, end.duration_ns);
    note(plan, life, life.judge_end(end));
    return progress();
  }

  void count(const Cut& cut, const ProcessEnd& end, bool is_restart) {
    if (!end.was_killed) return;
    if (!end.point.empty()) {
      schedule_.count(end.point);
      ++report_.ended_at_points;
    }
    if (cut.after_ns > 0) ++report_.ended_by_time;
    if (is_restart) ++report_.recoveries_ended;
  }

  void note(const RoundPlan& plan, const Life& life, const Violations& violations) {
    for (const auto& words : violations)
      report_.violations.push_back({report_.rounds, describe(plan), words, life.folder()});
    is_evidence_ = is_evidence_ || !violations.empty();
  }

  Status progress() {
    if (watch_.progress)
      watch_.progress(report_.rounds, schedule_.expected(test_.rounds), report_.violations.size());
    return {};
  }

  // A sync that says it failed, of each sort, early and late in a pass.
  Status failing_syncs() {
    FaultTried fault{"a sync that fails", 0, {}};
    for (const auto* point :
         {"tree: before sync of a file", "tree: before sync of a folder",
          "store: before sync of a file", "store: before sync of a folder",
          "tree: before sync of the file system", "store: before sync of the file system"}) {
      RoundPlan plan;
      const std::string name(point);
      plan.size = name.ends_with("system") ? Size::large : Size::small;
      plan.is_fault = true;
      for (const std::uint64_t hit : {1, 2}) {
        if (!goes_on()) break;
        plan.cuts = {{{name, hit, true, 0}, 0}};
        ++fault.rounds;
        DATUM_TRY(round(plan, life_for(plan)));
      }
    }
    report_.faults.push_back(std::move(fault));
    return {};
  }

  // The journal's file may not grow: the same as a full disk for it, wherever one is.
  Status limited_files() {
    FaultTried fault{"a journal that cannot grow", 0, {}};
    constexpr std::uint64_t kRoom[] = {0, 64 * 1024, 640 * 1024};
    for (const auto room : kRoom) {
      if (!goes_on()) break;
      RoundPlan plan;
      plan.is_fault = true;
      auto& life = life_for(plan);
      CutOrder order;
      order.file_limit = (life ? life->journal_bytes() : 0) + room + 128 * 1024;
      plan.cuts = {{order, 0}};
      ++fault.rounds;
      DATUM_TRY(round(plan, life));
    }
    report_.faults.push_back(std::move(fault));
    return {};
  }

  Status full_disks() {
    FaultTried fault{"a full disk", 0, {}};
    SmallDisk disk(loop_, test_.scratch + "/small-disk");
    auto mounted =
        test_.is_root ? disk.mount() : Status(fail(ErrorCode::permission_denied, "it needs root"));
    if (!mounted) {
      fault.not_made = mounted.error().message();
      report_.faults.push_back(std::move(fault));
      return {};
    }
    auto ran = on_full_disk(disk, fault);
    const auto unmounted = disk.unmount();
    report_.faults.push_back(std::move(fault));
    DATUM_TRY(std::move(ran));
    return unmounted;
  }

  Status on_full_disk(SmallDisk& disk, FaultTried& fault) {
    std::unique_ptr<Life> life;
    constexpr std::uint64_t kLeft[] = {0, 256 * 1024, 3 * 1024 * 1024};
    for (std::uint32_t i = 0; i < std::size(kLeft) && goes_on(); ++i) {
      DATUM_TRY(make_life(life, disk.folder() + "/life-" + std::to_string(i), Size::small));
      RoundPlan birth;
      DATUM_TRY(judged_round(birth, *life));
      ++fault.rounds;
      DATUM_TRY(full_round(disk, *life, kLeft[i]));
      if (is_evidence_) keep_outside(*life);
      is_evidence_ = false;
      retire(life);
    }
    return {};
  }

  // A pass that finds so much room and no more; then there is some again.
  Status full_round(SmallDisk& disk, Life& life, std::uint64_t left) {
    ++report_.rounds;
    RoundPlan plan;
    plan.is_fault = true;
    DATUM_TRY(life.declare_next());
    life.expect_failure();
    DATUM_TRY(disk.fill(left));
    DATUM_ASSIGN(const auto full, life.run({}, 0));
    note(plan, life, life.judge_cut(full));
    DATUM_TRY(disk.make_room());
    DATUM_ASSIGN(const auto end, life.run({}, 0));
    note(plan, life, life.judge_end(end));
    return progress();
  }

  // The small disk goes; what it shows of a violation does not.
  void keep_outside(const Life& life) {
    std::error_code ignored;
    const auto kept = next_folder();
    std::filesystem::copy(
        life.folder(), kept,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks,
        ignored);
    for (auto& violation : report_.violations)
      if (violation.evidence == life.folder()) violation.evidence = kept;
  }

  loop::Loop& loop_;
  os::Files& files_;
  const CrashTest& test_;
  const CrashTestWatch& watch_;
  Schedule schedule_;
  CrashReport report_;
  std::unique_ptr<Life> small_, large_;
  std::uint32_t lives_ = 0;
  bool is_evidence_ = false;  // the life of this round is to be kept
};

}  // namespace

bool CrashReport::held() const {
  const bool all_hit =
      std::all_of(points.begin(), points.end(), [](const auto& one) { return one.hits > 0; });
  return all_hit && violations.empty() && !was_stopped;
}

Result<CrashReport> test_crash_recovery(loop::Loop& loop, os::Files& files, const CrashTest& test,
                                        const CrashTestWatch& watch) {
  return Run(loop, files, test, watch).run();
}

}  // namespace datum::selftest
