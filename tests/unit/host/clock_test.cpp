// What waits for a time, beside the beat: holds and windows end by the clock of the machine, the
// beat by the one that only goes on. The wall clock jumps ten years, and the machine sleeps, in the
// middle of each.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

#include "datum/base/rfc3339.hpp"
#include "datum/config/hold.hpp"
#include "datum/host/rhythm.hpp"
#include "datum/program/session.hpp"
#include "support/model_files.hpp"
#include "support/sim_loop.hpp"

namespace {

using namespace datum;
using namespace datum::host;

constexpr std::int64_t kMinute = 60 * kNsPerSecond;
constexpr std::int64_t kInterval = 30 * kMinute;
constexpr std::int64_t kYears = 10LL * 365 * 86'400 * kNsPerSecond;

// A service's beats, and the terms that each of them reads.
struct Watch {
  support::SimLoop loop{1};
  support::ModelFiles files;
  config::Configuration configuration = config::default_configuration("/etc/datum");
  std::unique_ptr<loop::Timer> timer = loop.make_timer();
  Rhythm rhythm = make_rhythm(loop.clock().boot_now(), kInterval, Id128{});
  struct Beat {
    BootNs at;
    core::ModeTerms terms;
  };
  std::vector<Beat> beats;

  explicit Watch(const char* today = "2026-11-30T12:00:00Z") {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    files.put_directory("/etc/datum");
    files.settle();
    loop.jump_wall(find_rfc3339(today)->ns - loop.clock().wall_now().ns);
    const auto now = loop.clock().boot_now();
    timer->start(rhythm.first.ns - now.ns, rhythm.interval_ns, [this] {
      beats.push_back(
          {loop.clock().boot_now(), program::terms_of(files, "/etc/datum", configuration,
                                                      loop.clock().wall_now(), std::nullopt)});
    });
  }

  void hold_for(std::int64_t ns) {
    const auto folder = files.open_root("/etc/datum");
    REQUIRE(folder);
    REQUIRE(config::write_hold(files, *folder, WallNs{loop.clock().wall_now().ns + ns}, "x"));
  }
  // Everything up to the next beat, and what that one read.
  core::ModeTerms next() {
    const auto had = beats.size();
    loop.run_for(kInterval);
    REQUIRE(beats.size() == had + 1);
    return beats.back().terms;
  }
  // Each beat has its place, whatever the wall clock did: none left out, none twice.
  void check_places() {
    for (std::size_t at = 0; at < beats.size(); ++at)
      CHECK((beats[at].at.ns - rhythm.first.ns) % rhythm.interval_ns == 0);
    for (std::size_t at = 1; at < beats.size(); ++at) CHECK(beats[at - 1].at < beats[at].at);
  }
};

}  // namespace

TEST_CASE("clock: a hold ends at its time by the machine's clock, wherever that jumps to [K03]") {
  Watch watch;
  watch.hold_for(10 * kInterval);
  CHECK(watch.next().held);
  watch.loop.jump_wall(kYears);  // its time is over then
  CHECK_FALSE(watch.next().held);
  watch.loop.jump_wall(-kYears);  // and not yet there again
  CHECK(watch.next().held);
  watch.loop.jump_wall(-kYears);
  CHECK(watch.next().held);
  watch.loop.jump_wall(kYears);
  for (int beat = 4; beat < 10; ++beat) CHECK(watch.next().held);
  CHECK_FALSE(watch.next().held);
  watch.check_places();
}

TEST_CASE("clock: a hold whose time passes while the machine sleeps is over when it wakes [K02]") {
  Watch watch;
  watch.hold_for(3 * kInterval);
  CHECK(watch.next().held);
  watch.loop.suspend(5 * kInterval + kInterval / 2);
  watch.loop.run_for(kNsPerSecond);
  REQUIRE(watch.beats.size() == 2);  // once, for all that were slept through
  CHECK_FALSE(watch.beats.back().terms.held);
  watch.loop.run_for(kInterval);
  REQUIRE(watch.beats.size() == 3);
  CHECK((watch.beats[2].at.ns - watch.rhythm.first.ns) % kInterval == 0);
}

TEST_CASE("clock: a window opens and closes by the machine's clock, wherever that jumps to") {
  Watch watch("2026-11-30T21:45:00Z");
  config::Window night;
  night.days.fill(true);
  night.from = 22 * 60;
  night.to = 23 * 60;
  watch.configuration.windows.value = {night};
  CHECK(watch.next().outside_window);  // 21:45
  CHECK_FALSE(watch.next().outside_window);
  // The same time of the day in ten years, and ten years ago.
  watch.loop.jump_wall(kYears);
  CHECK_FALSE(watch.next().outside_window);  // 22:45
  watch.loop.jump_wall(-2 * kYears - kInterval);
  CHECK_FALSE(watch.next().outside_window);  // 22:45
  watch.loop.jump_wall(kYears);
  CHECK(watch.next().outside_window);  // 23:15
  watch.check_places();
}

TEST_CASE("clock: jumps and a sleep together: one look at waking, and the beats where they were") {
  Watch watch;
  watch.next();
  watch.loop.jump_wall(kYears);
  watch.loop.suspend(4 * kInterval + kInterval / 3);
  watch.loop.jump_wall(-2 * kYears);
  watch.loop.run_for(kNsPerSecond);
  REQUIRE(watch.beats.size() == 2);
  for (int beat = 0; beat < 3; ++beat) watch.next();
  REQUIRE(watch.beats.size() == 5);
  for (std::size_t at = 3; at < 5; ++at)
    CHECK(watch.beats[at].at.ns - watch.beats[at - 1].at.ns == kInterval);
}
