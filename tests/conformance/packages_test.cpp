// What every os::PackageTools must do: the contract of packages.hpp, over the model and over a real
// apt in a tree of its own.
#include <algorithm>
#include <catch2/catch.hpp>

#include "packages_scenes.hpp"

using namespace datum;
using namespace datum::os;
using conformance::PackageScene;

namespace {

std::string line_of(PackageScene& scene, const std::string& name) {
  const auto book = scene.tools().read();
  if (!book) FAIL(book.error().message());
  const auto* package = book->find(name);
  if (package == nullptr || !is_present(*package)) return "absent";
  return std::string(package->version) + " " + std::string(to_string(package->state)) +
         (package->held ? " held" : "");
}

PackageOrder wanting(std::vector<PackageWish> wishes) {
  PackageOrder order;
  order.wishes = std::move(wishes);
  return order;
}

Foresight foresee(PackageScene& scene, const PackageOrder& order) {
  auto seen = scene.tools().simulate(order, scene.run_child());
  if (!seen) FAIL(seen.error().message());
  return std::move(*seen);
}

bool would(const Foresight& seen, ForeseenChange::Kind kind, const std::string& name,
           const std::string& from, const std::string& to) {
  return std::count(seen.changes.begin(), seen.changes.end(),
                    ForeseenChange{kind, name, from, to}) == 1;
}

using Kind = ForeseenChange::Kind;

}  // namespace

TEST_CASE("package tools: what is foreseen is done, with what it needs, and only then") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("user", "1.0", {"lib"}, {});
    scene->offer("lib", "2.0", {}, {});
    REQUIRE(scene->run(scene->tools().refresh()) == 0);
    const auto order = wanting({{"user", "1.0", false}});
    const auto seen = foresee(*scene, order);
    CHECK(seen.refusal.empty());
    CHECK(would(seen, Kind::install, "user", "", "1.0"));
    CHECK(would(seen, Kind::install, "lib", "", "2.0"));
    CHECK(line_of(*scene, "user") == "absent");
    CHECK(scene->run(scene->tools().transaction(order)) == 0);
    CHECK(line_of(*scene, "user") == "1.0 installed");
    CHECK(line_of(*scene, "user:amd64") == "1.0 installed");
    CHECK(line_of(*scene, "lib") == "2.0 installed");
  }
}

TEST_CASE("package tools: what would go for another's sake is named before, with its version") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("gamma", "1.0", {}, {});
    scene->offer("eater", "1.0", {}, {"gamma"});
    REQUIRE(scene->run(scene->tools().refresh()) == 0);
    REQUIRE(scene->run(scene->tools().transaction(wanting({{"gamma", "", false}}))) == 0);
    const auto seen = foresee(*scene, wanting({{"eater", "", false}}));
    CHECK(would(seen, Kind::remove, "gamma", "1.0", ""));
    CHECK(line_of(*scene, "gamma") == "1.0 installed");
    const auto both = wanting({{"eater", "", false}, {"gamma", "", true}});
    CHECK(scene->run(scene->tools().transaction(both)) == 0);
    CHECK(line_of(*scene, "gamma") == "absent");
    CHECK(line_of(*scene, "eater") == "1.0 installed");
  }
}

TEST_CASE("package tools: names and versions that are nowhere are told by name") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("a", "1.0", {}, {});
    REQUIRE(scene->run(scene->tools().refresh()) == 0);
    const auto seen = foresee(*scene, wanting({{"a", "9", false}}));
    CHECK_FALSE(seen.refusal.empty());
    CHECK(seen.unknown == std::vector<std::string>{"a"});
    CHECK(foresee(*scene, wanting({{"nowhere", "", false}})).unknown ==
          std::vector<std::string>{"nowhere"});
  }
}

TEST_CASE("package tools: a version goes up and, where that is said, down") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("a", "1.0", {}, {});
    scene->offer("a", "2.0", {}, {});
    REQUIRE(scene->run(scene->tools().refresh()) == 0);
    REQUIRE(scene->run(scene->tools().transaction(wanting({{"a", "2.0", false}}))) == 0);
    auto down = wanting({{"a", "1.0", false}});
    down.allow_downgrade = true;
    CHECK(would(foresee(*scene, down), Kind::install, "a", "2.0", "1.0"));
    CHECK(scene->run(scene->tools().transaction(down)) == 0);
    CHECK(line_of(*scene, "a") == "1.0 installed");
  }
}

TEST_CASE("package tools: a hold is seen, and goes when it is taken away [P05]") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("a", "1.0", {}, {});
    REQUIRE(scene->run(scene->tools().refresh()) == 0);
    REQUIRE(scene->run(scene->tools().transaction(wanting({{"a", "", false}}))) == 0);
    CHECK(scene->run(scene->tools().hold({"a"}, true)) == 0);
    CHECK(line_of(*scene, "a") == "1.0 installed held");
    CHECK(scene->run(scene->tools().hold({"a:amd64"}, false)) == 0);
    CHECK(line_of(*scene, "a") == "1.0 installed");
  }
}

TEST_CASE("package tools: what was cut off is a state of its own, and can be finished [P02]") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("a", "1.0", {}, {});
    scene->unpack("a", "1.0");
    CHECK(line_of(*scene, "a") == "1.0 unpacked");
    CHECK(scene->run(scene->tools().finish_interrupted(false)) == 0);
    CHECK(line_of(*scene, "a") == "1.0 installed");
  }
}

TEST_CASE(
    "package tools: who holds the lock is named while it is held, and no lock file goes [P01] "
    "[P09]") {
  for (const auto& scene : conformance::make_package_scenes()) {
    CHECK_FALSE(scene->tools().find_lock_holder());
    const auto pid = scene->lock();
    const auto holder = scene->tools().find_lock_holder();
    REQUIRE(holder);
    CHECK(holder->pid == pid);
    CHECK_FALSE(holder->program.empty());
    CHECK(holder->lock.ends_with("/var/lib/dpkg/lock"));
    CHECK(scene->tools().find_lock_holder());
    scene->unlock();
    CHECK_FALSE(scene->tools().find_lock_holder());
  }
}

TEST_CASE("package tools: lists are older once a source has changed") {
  for (const auto& scene : conformance::make_package_scenes()) {
    scene->offer("a", "1.0", {}, {});
    REQUIRE(scene->run(scene->tools().refresh()) == 0);
    CHECK_FALSE(scene->tools().find_absence());
    scene->change_sources();
    CHECK(scene->tools().lists_are_older());
  }
}

TEST_CASE("package tools: a package manager that lost its database is there, and says nothing") {
  if (!conformance::AptScene::is_possible()) return;
  conformance::AptScene scene;
  scene.lose_database();
  CHECK_FALSE(scene.tools().find_absence());
  const auto book = scene.tools().read();
  REQUIRE_FALSE(book);
  CHECK(book.error().message().find("/var/lib/dpkg") != std::string::npos);
  CHECK(book.error().message().find("status") != std::string::npos);
}
