// What a machine to copy from loses and keeps, and what is refused. That it can be cut off anywhere
// is shown in e2e/image.py.
#include "datum/engine/image.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "mesh_scene.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

namespace fs = std::filesystem;

struct Golden {
  Golden() {
    for (const char* name :
         {"store/journal/data.mdb", "store/blobs/a/b", "store/archive/c", "store/key",
          "store/identity/key.pem", "store/declarations/1.1", "store/tools/x.out", "store/incoming",
          "store/damaged-20310501T101500Z/journal/data.mdb", "var/lib/datum/release/confirmed",
          "var/lib/datum/release/trial", "run/datum/no-pass", "run/datum-started",
          "etc/datum/witness/store"}) {
      fs::create_directories(fs::path(at(name)).parent_path());
      std::ofstream(at(name)) << name;
    }
  }
  std::string at(const std::string& name) const { return scratch.path + "/" + name; }
  std::set<std::string> left() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path))
      if (entry.is_regular_file()) names.insert(fs::relative(entry.path(), scratch.path).string());
    return names;
  }
  Result<std::vector<StrippedPart>> prepare(bool discard = false) const {
    ImageRequest request;
    request.store = at("store");
    request.root = scratch.path;
    request.config = at("etc/datum");
    request.now = WallNs{1'000'000'000};
    request.discard_journal = discard;
    return prepare_image(*files, request);
  }

  support::ScratchFolder scratch{"image"};
  std::unique_ptr<os::Files> files = os_linux::make_files();
};

}  // namespace

TEST_CASE("image: what is this machine's goes, its history moves, the release stays") {
  const Golden golden;
  const auto parts = golden.prepare();
  if (!parts) FAIL(parts.error().message());
  const std::string aside = "store/image-19700101T000001Z/";
  CHECK(golden.left() == std::set<std::string>{aside + "archive/c", aside + "blobs/a/b",
                                               aside + "damaged-20310501T101500Z/journal/data.mdb",
                                               aside + "journal/data.mdb", aside + "key",
                                               "var/lib/datum/release/confirmed"});
  CHECK(parts->size() == 13);
  const auto again = golden.prepare();
  REQUIRE(again);
  CHECK(again->empty());
  // Named for its second: another life in the same one has a folder of its own.
  fs::create_directories(golden.at("store/journal"));
  REQUIRE(golden.prepare());
  CHECK(fs::is_directory(golden.at("store/image-19700101T000001Z-2/journal")));
  const auto gone = golden.prepare(true);
  REQUIRE(gone);
  CHECK(gone->size() == 2);
  CHECK(golden.left() == std::set<std::string>{"var/lib/datum/release/confirmed"});
}

TEST_CASE("image: a rollback that is done is not interrupted, and a linked journal not forgotten") {
  const Golden golden;
  const auto before = golden.left();
  std::ofstream(golden.at("var/lib/datum/release/restoring")) << "x";
  const auto refused = golden.prepare();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::refused);
  fs::remove(golden.at("var/lib/datum/release/restoring"));
  CHECK(golden.left() == before);
  fs::rename(golden.at("store/journal"), golden.at("elsewhere"));
  fs::create_directory_symlink(golden.at("elsewhere"), golden.at("store/journal"));
  const auto linked = golden.prepare(true);
  REQUIRE_FALSE(linked);
  CHECK(linked.error().code() == ErrorCode::symlink);
  CHECK(fs::exists(golden.at("elsewhere/data.mdb")));
  REQUIRE(golden.prepare());
  CHECK(fs::exists(golden.at("elsewhere/data.mdb")));
  CHECK(fs::is_symlink(golden.at("store/image-19700101T000001Z/journal")));
}
