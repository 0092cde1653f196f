// The ups and downs of a link as the journal is told them.
#include "datum/link/link_notes.hpp"

#include <catch2/catch.hpp>

using namespace datum;
using namespace datum::link;

namespace {

constexpr BootNs at(std::int64_t seconds) {
  return {seconds * kNsPerSecond};
}

struct Told {
  int ups = 0, downs = 0;
  std::uint32_t pairs = 0;
  void add(const std::vector<core::Command>& commands) {
    for (const auto& command : commands) {
      if (std::holds_alternative<core::RecordLinkUp>(command)) ++ups;
      if (std::holds_alternative<core::RecordLinkDown>(command)) ++downs;
      if (const auto* more = std::get_if<core::RecordLinkPairs>(&command)) pairs += more->pairs;
    }
  }
};

}  // namespace

TEST_CASE("link notes: a link that comes, lasts and goes is two records") {
  LinkNotes notes;
  CHECK(notes.up("control:7600", at(10)).size() == 1);
  CHECK_FALSE(notes.due());
  CHECK(notes.up("control:7600", at(20)).empty());
  CHECK(notes.down("cut", at(500)).size() == 1);
  CHECK(notes.down("cut", at(501)).empty());
}

TEST_CASE("link notes: flapping is at most a pair a minute, and every pair is counted") {
  LinkNotes notes;
  Told told;
  constexpr int kPairs = 600;  // one a second
  for (int second = 1; second <= kPairs; ++second) {
    told.add(notes.up("control:7600", at(second)));
    told.add(notes.down("cut", {at(second).ns + kNsPerSecond / 2}));
  }
  CHECK(told.ups <= kPairs / 60 + 1);
  CHECK(told.downs == told.ups);
  told.add(notes.up("control:7600", at(kPairs + 100)));
  CHECK(told.downs + static_cast<int>(told.pairs) == kPairs);
}

TEST_CASE("link notes: a link that is up at the end of a minute is told then") {
  LinkNotes notes;
  Told told;
  told.add(notes.up("control:7600", at(0)));
  told.add(notes.down("cut", at(5)));
  told.add(notes.up("control:7600", at(6)));
  CHECK(told.ups == 1);
  REQUIRE(notes.due());
  CHECK(*notes.due() == at(60));
  CHECK(notes.tick(at(59)).empty());
  told.add(notes.tick(at(60)));
  CHECK(told.ups == 2);
  CHECK(told.pairs == 0);
  CHECK_FALSE(notes.due());
}
