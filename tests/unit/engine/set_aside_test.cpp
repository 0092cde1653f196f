// A store that has lost its journal: told from one that never had one, never continued in silence,
// and set aside like a damaged one.
#include "datum/engine/set_aside.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "mesh_scene.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

namespace fs = std::filesystem;

struct Lost {
  Lost() { ::chmod(scratch.path.c_str(), 0700); }
  std::string at(const std::string& name) const { return scratch.path + "/" + name; }
  void make(const std::string& name) const { std::ofstream(at(name)) << "x"; }
  std::string words() const { return find_lost_journal(*files, scratch.path); }

  support::ScratchFolder scratch{"lost"};
  std::unique_ptr<os::Files> files = os_linux::make_files();
};

}  // namespace

TEST_CASE("set-aside: what is made only after the journal says that there was one") {
  const Lost lost;
  CHECK(lost.words().empty());
  fs::create_directory(lost.at("identity"));
  fs::create_directory(lost.at("journal"));
  lost.make("journal/writer.lock");
  fs::create_directory(lost.at("journal/creating"));
  CHECK(lost.words().empty());  // its making was cut off
  for (const std::string name : {"key", "archive", "blobs", "journal/lock.mdb", "journal/clean"}) {
    lost.make(name);
    CHECK(lost.words().find("has lost its journal") != std::string::npos);
    CHECK(lost.words().find("still there: " + name) != std::string::npos);
    lost.make("journal/data.mdb");
    CHECK(lost.words().empty());
    fs::remove(lost.at("journal/data.mdb"));
    fs::remove(lost.at(name));
  }
  lost.make("key");
  fs::remove_all(lost.at("journal"));
  CHECK_FALSE(lost.words().empty());
  // Opening names what it is, and neither has to be set aside.
  fs::create_directory(lost.at("journal.compacting"));
  lost.make("journal.compacting/data.mdb");
  CHECK(lost.words().empty());
  fs::remove_all(lost.at("journal.compacting"));
  lost.make("imported");
  CHECK(lost.words().empty());
}

TEST_CASE(
    "set-aside: a store that has lost its journal is refused, and set aside with what is left") {
  const Lost lost;
  const StoreBinding binding{"/", "vm", "local", "test", ::geteuid()};
  { const test::NodeLife life(lost.scratch.path, 1, binding); }
  SECTION("no folder") {
    REQUIRE(fs::remove_all(lost.at("journal")) > 0);
  }
  SECTION("an empty folder") {
    REQUIRE(fs::remove(lost.at("journal/data.mdb")));
  }
  support::SimLoop sim_loop(1);
  const auto refused = open_store(sim_loop, *lost.files, lost.scratch.path, binding);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::corrupt);
  CHECK_FALSE(fs::exists(lost.at("journal/data.mdb")));
  const auto aside = set_aside(*lost.files, lost.scratch.path, {});
  if (!aside) FAIL(aside.error().message());
  CHECK(fs::is_directory(aside->moved_to + "/journal"));
  CHECK(fs::is_directory(aside->moved_to + "/blobs"));
  CHECK(fs::exists(lost.at("key")));
  const auto found = find_set_aside(*lost.files, lost.scratch.path);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->front().problem == aside->problem);
  // The key alone is what a setting aside leaves.
  CHECK(lost.words().empty());
  { const test::NodeLife life(lost.scratch.path, 2, binding); }
  CHECK(lost.words().empty());
  fs::remove_all(lost.at("journal"));
  CHECK_FALSE(lost.words().empty());
}
