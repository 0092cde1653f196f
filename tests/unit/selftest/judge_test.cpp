// The oracle finds every lie that is planted into a round which it otherwise believes.
#include <catch2/catch.hpp>
#include <functional>

#include "datum/selftest/oracle.hpp"

namespace datum::selftest {
namespace {

struct Round {
  Expected expected;
  Tree seen;
  Claims claims;
};

std::string all_of(const Violations& violations) {
  std::string text;
  for (const auto& one : violations) text += one + "\n";
  return text;
}

// One name of each sort of change: etc/changed, etc/created, etc/removed, etc/stray, and etc/same.
Round round_before() {
  Round round;
  const Entry folder{Kind::directory, 0755, {}};
  const Entry same{Kind::file, 0644, "same"};
  round.expected.before = {{"etc", folder},
                           {"etc/same", same},
                           {"etc/changed", {Kind::file, 0644, "old"}},
                           {"etc/removed", {Kind::symlink, 0, "somewhere"}},
                           {"etc/stray", {Kind::file, 0600, "stray"}}};
  round.expected.after = {{"etc", folder},
                          {"etc/same", same},
                          {"etc/changed", {Kind::file, 0640, "new"}},
                          {"etc/created", {Kind::file, 0644, "created"}}};
  round.expected.strays = {"etc/stray"};
  return round;
}

Round cut_in_the_middle() {
  auto round = round_before();
  round.seen = round.expected.before;
  round.seen["etc/changed"] = round.expected.after["etc/changed"];
  round.seen.erase("etc/stray");
  round.seen["etc/.datum-0011-7-3"] = {Kind::file, 0600, "half of it"};
  round.claims.announced = {"etc/changed", "etc/created", "etc/removed", "etc/stray"};
  round.claims.effects = {{"etc/stray", 1}};
  round.claims.owned = {"etc", "etc/same", "etc/changed", "etc/removed"};
  return round;
}

Round ended() {
  auto round = round_before();
  round.seen = round.expected.after;
  round.claims.announced = {"etc/changed", "etc/created", "etc/removed", "etc/stray"};
  round.claims.effects = {
      {"etc/changed", 1}, {"etc/created", 1}, {"etc/removed", 1}, {"etc/stray", 1}};
  round.claims.removals = {{"etc/removed", 1}};
  round.claims.owned = {"etc", "etc/same", "etc/changed", "etc/created"};
  round.claims.passes_finished = 1;
  round.claims.heard = round.claims.deliveries = round.claims.delivered = 1;
  round.expected.reloads = 1;
  return round;
}

struct Lie {
  const char* what;
  std::function<void(Round&)> plant;
  const char* words;
};

}  // namespace

TEST_CASE("selftest: a cut in the middle of a pass that is told as it was violates nothing") {
  const auto round = cut_in_the_middle();
  CHECK(all_of(judge_cut(round.expected, round.seen, round.claims)).empty());
}

TEST_CASE("selftest: each lie about a cut pass is found") {
  const Lie lies[] = {
      {"a short file under its final name", [](Round& r) { r.seen["etc/changed"].body = "ne"; },
       "neither the old nor the new"},
      {"new bytes under the old mode", [](Round& r) { r.seen["etc/changed"].mode = 0644; },
       "neither the old nor the new"},
      {"a file that both versions have is gone", [](Round& r) { r.seen.erase("etc/same"); },
       "neither the old nor the new: nothing"},
      {"a link that points elsewhere", [](Round& r) { r.seen["etc/removed"].body = "else"; },
       "neither the old nor the new"},
      {"acted before it was announced", [](Round& r) { r.claims.announced.erase("etc/changed"); },
       "no announcement"},
      {"a removal that was not announced",
       [](Round& r) {
         r.claims.announced.erase("etc/stray");
         r.claims.effects.clear();
       },
       "no announcement"},
      {"recorded before it was renamed", [](Round& r) { r.claims.effects["etc/created"] = 1; },
       "claims that it was done, and there is nothing"},
      {"a removal that is claimed and was not done",
       [](Round& r) { r.claims.effects["etc/removed"] = 1; }, "claims that it was done"},
      {"a finished pass that is not", [](Round& r) { r.claims.passes_finished = 1; },
       "recorded as finished"},
      {"a unit that was told before that was announced", [](Round& r) { r.expected.reloads = 1; },
       "no announcement of that"},
      {"a delivery that was not made",
       [](Round& r) { r.claims.deliveries = r.claims.delivered = 1; }, "claims a delivery"},
      {"done twice", [](Round& r) { r.claims.repeated.insert("etc/stray"); }, "once more"},
      {"a file that nobody declared",
       [](Round& r) {
         r.seen["etc/stranger"] = {Kind::file, 0644, ""};
       },
       "nobody declared it"},
  };
  for (const auto& lie : lies) {
    INFO(lie.what);
    auto round = cut_in_the_middle();
    lie.plant(round);
    CHECK(all_of(judge_cut(round.expected, round.seen, round.claims)).find(lie.words) !=
          std::string::npos);
  }
}

TEST_CASE("selftest: a pass that ended and is told as it was violates nothing") {
  const auto round = ended();
  CHECK(all_of(judge_end(round.expected, round.seen, round.claims)).empty());
}

TEST_CASE("selftest: each lie about a pass that ended is found") {
  const Lie lies[] = {
      {"not as declared", [](Round& r) { r.seen["etc/changed"].body = "old"; }, "declared is"},
      {"not there", [](Round& r) { r.seen.erase("etc/created"); }, "there is nothing"},
      {"a removal that was not done",
       [](Round& r) { r.seen["etc/removed"] = r.expected.before["etc/removed"]; },
       "nobody declared it"},
      {"a temp file that stayed",
       [](Round& r) {
         r.seen["etc/.datum-0011-7-3"] = {Kind::file, 0600, ""};
       },
       "left behind"},
      {"a change that is claimed never", [](Round& r) { r.claims.effects.erase("etc/changed"); },
       "claims it 0 times"},
      {"a change that is claimed twice", [](Round& r) { r.claims.effects["etc/changed"] = 2; },
       "claims it 2 times"},
      {"a change that was none", [](Round& r) { r.claims.effects["etc/same"] = 1; },
       "to be done never"},
      {"a removal recorded twice", [](Round& r) { r.claims.removals["etc/removed"] = 2; },
       "recorded 2 times"},
      {"a removal recorded never", [](Round& r) { r.claims.removals.clear(); }, "recorded 0 times"},
      {"ownership that was lost", [](Round& r) { r.claims.owned.erase("etc/created"); },
       "not owned"},
      {"ownership that stayed", [](Round& r) { r.claims.owned.insert("etc/removed"); },
       "not declared any more"},
      {"a pass that never finished", [](Round& r) { r.claims.passes_finished = 0; },
       "no pass is recorded"},
      {"a temp file that the journal still knows of",
       [](Round& r) { r.claims.has_leftovers = true; }, "still knows of temp files"},
      {"a notification that was never raised", [](Round& r) { r.claims.heard = 0; },
       "never raised"},
      {"a notification that was lost", [](Round& r) { r.expected.reloads = 0; }, "never told"},
      {"a notification that stayed pending", [](Round& r) { r.claims.is_pending = true; },
       "is pending"},
      {"a notification that was repeated", [](Round& r) { r.expected.reloads = 2; },
       "told 2 times"},
      {"a delivery that was not announced", [](Round& r) { r.claims.deliveries = 0; },
       "no announcement of that"},
      {"a delivery that is claimed and was not made", [](Round& r) { r.claims.delivered = 2; },
       "claims a delivery"},
  };
  for (const auto& lie : lies) {
    INFO(lie.what);
    auto round = ended();
    lie.plant(round);
    CHECK(all_of(judge_end(round.expected, round.seen, round.claims)).find(lie.words) !=
          std::string::npos);
  }
}

TEST_CASE("selftest: after a failure an action may lack its claim, and may not have it falsely") {
  auto round = ended();
  round.expected.has_failure = true;
  round.claims.effects.erase("etc/changed");
  CHECK(all_of(judge_end(round.expected, round.seen, round.claims)).empty());
  round.claims.effects["etc/created"] = 2;
  CHECK_FALSE(judge_end(round.expected, round.seen, round.claims).empty());
}

TEST_CASE("selftest: a unit that cannot tell may be told once more, if that is marked") {
  auto round = ended();
  round.expected.reloads = 2;
  round.claims.deliveries = 2;
  round.claims.doubtful = 1;
  CHECK(all_of(judge_end(round.expected, round.seen, round.claims)).empty());
}

TEST_CASE("selftest: what recovery could not tell may stay without a claim") {
  auto round = ended();
  round.claims.effects.erase("etc/changed");
  round.claims.untellable.insert("etc/changed");
  CHECK(all_of(judge_end(round.expected, round.seen, round.claims)).empty());
}

}  // namespace datum::selftest
