// The beat: its place, its spread, what jumps do to it.
#include "datum/host/rhythm.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

namespace {

using namespace datum;
using namespace datum::host;

constexpr std::int64_t kInterval = 30 * 60 * kNsPerSecond;

Id128 store(std::uint64_t number) {
  // As random as a store's identity, and the same in every run.
  number = (number + 1) * 0x9e3779b97f4a7c15ULL;
  Id128 id;
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}

}  // namespace

TEST_CASE("rhythm: the first beat comes within one interval, and never at once") {
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const auto rhythm = make_rhythm(BootNs{77}, kInterval, store(number));
    CHECK(rhythm.first.ns > 77);
    CHECK(rhythm.first.ns <= 77 + kInterval);
  }
}

TEST_CASE(
    "rhythm: a thousand nodes are spread over the interval: no tenth of it has twice its share "
    "[E15]") {
  std::array<int, 10> tenths{};
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const auto rhythm = make_rhythm(BootNs{0}, kInterval, store(number));
    ++tenths.at(static_cast<std::size_t>((rhythm.first.ns - 1) * 10 / kInterval));
  }
  for (const int count : tenths) CHECK(count < 200);
}

TEST_CASE("rhythm: one store has one place, whenever it starts") {
  const auto first = make_rhythm(BootNs{0}, kInterval, store(1));
  const auto later = make_rhythm(BootNs{5}, kInterval, store(1));
  CHECK(later.first.ns - first.first.ns == 5);
}

TEST_CASE("rhythm: the next beat keeps the original ones after any sleep [K02]") {
  const Rhythm rhythm{BootNs{100}, 10};
  CHECK(next_beat(rhythm, BootNs{0}).ns == 100);
  CHECK(next_beat(rhythm, BootNs{99}).ns == 100);
  CHECK(next_beat(rhythm, BootNs{100}).ns == 110);
  CHECK(next_beat(rhythm, BootNs{1'000'004}).ns == 1'000'010);
}

TEST_CASE("backoff: it doubles from the first delay to the last, and stays there") {
  CHECK(backoff_ns(1, 10, 300) == 10);
  CHECK(backoff_ns(2, 10, 300) == 20);
  CHECK(backoff_ns(5, 10, 300) == 160);
  CHECK(backoff_ns(6, 10, 300) == 300);
  CHECK(backoff_ns(4'000'000'000U, 10, 300) == 300);
  CHECK(backoff_ns(9, 400, 300) == 300);
}
