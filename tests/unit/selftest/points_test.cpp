// Orders, points and the plan of a run.
#include <catch2/catch.hpp>
#include <set>

#include "datum/selftest/crash_points.hpp"
#include "datum/selftest/scenario.hpp"
#include "datum/selftest/watched_files.hpp"
#include "schedule.hpp"
#include "support/model_files.hpp"

namespace datum::selftest {
namespace {

struct Ends {
  std::vector<std::pair<std::string, std::uint64_t>> seen;
  CrashPoints::End end = [this](std::string_view point, std::uint64_t hit) {
    seen.emplace_back(point, hit);
  };
};

// As if each kind of pass came to each point three times.
void teach(Schedule& schedule, const RoundPlan& plan) {
  std::map<std::string, std::uint64_t> hits;
  for (const auto& point : all_points()) hits[point] = 3;
  schedule.learn(plan.first_look, hits, 1'000'000);
}

}  // namespace

TEST_CASE("selftest: an order reads back as it was written, and nothing else is one") {
  const CutOrder order{"tree: after rename", 12, true, 4096};
  const auto read = parse_order(to_text(order));
  REQUIRE(read);
  CHECK(*read == order);
  CHECK(*parse_order(to_text({})) == CutOrder{});
  for (const auto* text : {"", "point x\n", "point x\nhit 1\nfails 2\nfile_limit 0\n",
                           "point x\nhit -1\nfails 0\nfile_limit 0\n",
                           "point x\nhit 1\nfails 0\nfile_limit 0\nmore\n"})
    CHECK_FALSE(parse_order(text));
}

TEST_CASE("selftest: an order ends at its point and hit, once") {
  Ends ends;
  CrashPoints points({"b", 2, false, 0}, ends.end);
  for (const auto* point : {"a", "b", "a", "b", "b"}) points.reach(point);
  CHECK(ends.seen == std::vector<std::pair<std::string, std::uint64_t>>{{"b", 2}});
  CHECK(points.hits() == std::map<std::string, std::uint64_t>{{"a", 2}, {"b", 3}});
}

TEST_CASE("selftest: an order without a point counts all of them, an empty one ends nothing") {
  Ends ends;
  CrashPoints any({"", 3, false, 0}, ends.end);
  for (const auto* point : {"a", "b", "c", "d"}) any.reach(point);
  CHECK(ends.seen == std::vector<std::pair<std::string, std::uint64_t>>{{"c", 3}});
  CrashPoints none({}, ends.end);
  none.reach("a");
  CHECK(ends.seen.size() == 1);
}

TEST_CASE("selftest: a watched file's steps are points, and an ordered failure does nothing") {
  support::ModelFiles model;
  model.put_file("/etc/a", "a");
  Ends ends;
  CrashPoints points({"tree: before rename", 2, true, 0}, ends.end);
  const auto files = watch_files(model, points, [] { return std::string_view("tree"); });
  const auto folder = files->open_root("/etc");
  REQUIRE(folder);
  CHECK(files->rename(*folder, "a", *folder, "b", true));
  const auto failed = files->rename(*folder, "b", *folder, "c", true);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::io_error);
  CHECK(model.find_content("/etc/b"));
  CHECK(files->sync(*folder));
  CHECK(files->remove_file(*folder, "b"));
  CHECK_FALSE(files->remove_file(*folder, "b"));
  CHECK(ends.seen.empty());
  CHECK(points.hits() == std::map<std::string, std::uint64_t>{{"tree: before rename", 2},
                                                              {"tree: after rename", 1},
                                                              {"tree: before sync of a folder", 1},
                                                              {"tree: after sync of a folder", 1},
                                                              {"tree: before removal", 1},
                                                              {"tree: after removal", 1}});
}

TEST_CASE("selftest: a run goes on until each point was hit, then for the rounds that were asked") {
  Schedule schedule(7);
  constexpr std::uint32_t kRounds = 100;
  std::uint32_t rounds = 0;
  while (const auto plan = schedule.next(kRounds)) {
    ++rounds;
    if (!plan->first_look.empty()) teach(schedule, *plan);
    if (!plan->cuts.empty() && !plan->cuts.back().order.point.empty())
      schedule.count(plan->cuts.back().order.point);
  }
  CHECK(rounds == kRounds);
  for (const auto& one : schedule.points()) {
    INFO(one.point);
    CHECK(one.hits > 0);
  }
}

TEST_CASE("selftest: a point that no pass comes to ends up with no hit, and the run ends") {
  Schedule schedule(7);
  std::uint32_t rounds = 0;
  while (const auto plan = schedule.next(1)) {
    REQUIRE(++rounds < 1000);
    if (!plan->first_look.empty()) teach(schedule, *plan);
  }
  std::uint64_t hits = 0;
  for (const auto& one : schedule.points()) hits += one.hits;
  CHECK(hits == 0);
}

TEST_CASE("selftest: two versions of the scenario differ in at least fifty names") {
  for (std::uint32_t version = 1; version < 5; ++version) {
    const auto one = make_scenario(3, version, Size::small);
    const auto two = make_scenario(3, version + 1, Size::small);
    std::set<std::string> changed(two.strays);
    for (const auto& [path, entry] : one.tree)
      if (!two.tree.contains(path) || two.tree.at(path) != entry) changed.insert(path);
    for (const auto& [path, entry] : two.tree)
      if (!one.tree.contains(path)) changed.insert(path);
    CHECK(changed.size() >= 50);
    CHECK(one.secret != two.secret);
    CHECK(two.secret.find(secret_mark(3)) != std::string::npos);
  }
}

}  // namespace datum::selftest
