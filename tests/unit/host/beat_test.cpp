// The beat on a timer of the simulated loop, as the service starts it: jumps of the wall clock,
// sleeps of the machine.
#include <catch2/catch.hpp>

#include "datum/host/rhythm.hpp"
#include "support/sim_loop.hpp"

namespace {

using namespace datum;
using namespace datum::host;

constexpr std::int64_t kInterval = 30 * 60 * kNsPerSecond;
constexpr std::int64_t kTenYears = 10LL * 365 * 86'400 * kNsPerSecond;

struct Beats {
  support::SimLoop loop{1};
  std::unique_ptr<loop::Timer> timer = loop.make_timer();
  Rhythm rhythm = make_rhythm(loop.clock().boot_now(), kInterval, Id128{});
  std::vector<std::int64_t> times;

  Beats() {
    const auto now = loop.clock().boot_now();
    timer->start(rhythm.first.ns - now.ns, rhythm.interval_ns,
                 [this] { times.push_back(loop.clock().boot_now().ns); });
  }
};

}  // namespace

TEST_CASE("beat: the wall clock goes ten years on and back, and no beat moves or is left out") {
  Beats beats;
  beats.loop.run_for(kInterval);
  for (const auto by : {kTenYears, -2 * kTenYears, kTenYears}) {
    beats.loop.jump_wall(by);
    beats.loop.run_for(kInterval);
  }
  REQUIRE(beats.times.size() == 4);
  for (std::size_t at = 0; at < beats.times.size(); ++at)
    CHECK(beats.times[at] ==
          beats.rhythm.first.ns + static_cast<std::int64_t>(at) * beats.rhythm.interval_ns);
}

TEST_CASE(
    "beat: a machine that slept through many beats looks once, at once, and keeps its place "
    "[K02]") {
  Beats beats;
  beats.loop.run_for(kInterval);
  REQUIRE(beats.times.size() == 1);
  beats.loop.suspend(10 * kInterval + kInterval / 2);
  const auto woken = beats.loop.clock().boot_now();
  beats.loop.run_for(kNsPerSecond);
  REQUIRE(beats.times.size() == 2);
  CHECK(beats.times[1] == woken.ns);
  beats.loop.run_for(kInterval);
  REQUIRE(beats.times.size() == 3);
  CHECK(beats.times[2] == next_beat(beats.rhythm, woken).ns);
}
