// What the oracle reads: trees, journals that lack what was said to be durable, blobs with secrets.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "datum/blobs/blob_store.hpp"
#include "datum/history/open.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/selftest/kept_unit.hpp"
#include "datum/selftest/oracle.hpp"
#include "simulation/driven_host.hpp"
#include "support/scratch_folder.hpp"
#include "support/sim_loop.hpp"

namespace datum::selftest {
namespace {

struct Scratch : support::ScratchFolder {
  Scratch() : ScratchFolder("selftest-test") {}
};

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A journal with some records, closed; its head.
Acknowledged make_journal(const std::string& store) {
  support::SimLoop loop{7};
  simulation::DrivenHost host(loop, 3);
  auto history = history::open_history(loop, store);
  REQUIRE(history);
  host.use(**history);
  host.begin();
  (*history)->close([](Status closed) { CHECK(closed); });
  loop.run();
  history->reset();
  const auto log = history::open_for_verify(store);
  REQUIRE(log);
  const auto head = (*log)->read_head();
  REQUIRE(head);
  return {head->seq, head->hash};
}

}  // namespace

TEST_CASE("selftest: a tree is read as it lies there") {
  const Scratch scratch;
  namespace fs = std::filesystem;
  fs::create_directories(scratch.path + "/etc");
  fs::permissions(scratch.path + "/etc", fs::perms(0750));
  write(scratch.path + "/etc/a", "bytes");
  fs::permissions(scratch.path + "/etc/a", fs::perms(0640));
  fs::create_symlink("nowhere", scratch.path + "/etc/l");
  const auto tree = read_tree(scratch.path);
  REQUIRE(tree);
  CHECK(*tree == Tree{{"etc", {Kind::directory, 0750, ""}},
                      {"etc/a", {Kind::file, 0640, "bytes"}},
                      {"etc/l", {Kind::symlink, 0, "nowhere"}}});
  CHECK_FALSE(read_tree(scratch.path + "/none"));
}

TEST_CASE(
    "selftest: a record that was said to be durable is missed, and so is another in its place") {
  const Scratch scratch;
  const auto head = make_journal(scratch.path);
  Violations violations;
  const auto claims = read_claims(scratch.path, 1, {head}, violations);
  CHECK(violations.empty());
  CHECK(claims.head == head.seq);

  static_cast<void>(read_claims(scratch.path, 1, {{head.seq + 1, head.hash}}, violations));
  REQUIRE(violations.size() == 1);
  CHECK(violations.front().find("the journal ends at") != std::string::npos);

  violations.clear();
  auto other = head;
  other.hash.bytes[0] ^= 1;
  static_cast<void>(read_claims(scratch.path, 1, {other}, violations));
  REQUIRE(violations.size() == 1);
  CHECK(violations.front().find("is not the one") != std::string::npos);
}

TEST_CASE("selftest: a store that is gone or damaged after something was durable is a violation") {
  const Scratch scratch;
  Violations violations;
  static_cast<void>(read_claims(scratch.path + "/none", 1, {}, violations));
  CHECK(violations.empty());
  static_cast<void>(read_claims(scratch.path + "/none", 1, {{1, {}}}, violations));
  CHECK(violations.size() == 1);
  violations.clear();
  const auto head = make_journal(scratch.path);
  write(scratch.path + "/journal/data.mdb", "no journal");
  static_cast<void>(read_claims(scratch.path, 1, {head}, violations));
  CHECK(violations.size() == 1);
}

TEST_CASE("selftest: a secret is found in the journal, in a blob, in what was printed") {
  const Scratch scratch;
  const std::string mark = "selftest-secret-mark-";
  const std::string old_secret = mark + "old\n";
  const std::string new_secret = mark + "new\n";
  const auto files = os_linux::make_files();
  std::set<std::string> known;
  const auto look = [&] {
    return find_secrets(*files, scratch.path, mark, {old_secret}, known).size();
  };
  const auto put = [&](const std::string& content) {
    const auto blobs = blobs::open_blobs(*files, scratch.path, false);
    REQUIRE(blobs);
    REQUIRE((*blobs)->put(as_bytes(content)));
    REQUIRE((*blobs)->sync());
  };
  CHECK(look() == 0);
  put("harmless");
  put(std::string(40, 'w') + old_secret);  // wrapped old content
  CHECK(look() == 0);
  put(old_secret);  // its name tells what it is
  CHECK(look() == 1);
  CHECK(look() == 0);                      // seen before
  put(std::string(40, 'w') + new_secret);  // was never on the machine
  CHECK(look() == 1);
  std::filesystem::create_directories(scratch.path + "/journal");
  write(scratch.path + "/journal/data.mdb", "pages " + new_secret);
  CHECK(look() == 1);
  CHECK(find_secrets_in("fine", mark).empty());
  CHECK(find_secrets_in("content: " + new_secret, mark).size() == 1);
}

TEST_CASE(
    "selftest: the kept unit shows each reload, to whoever asks later, and does nothing else") {
  const Scratch scratch;
  const auto story = scratch.path + "/unit";
  const std::string name(kUnit);
  const std::string other = "sshd.service";
  const auto changed = [&] {
    const auto units = make_kept_unit(story);
    const auto seen = units->query(std::span(&name, 1), os::kUnitCallNs);
    REQUIRE(seen);
    REQUIRE(seen->size() == 1);
    CHECK(seen->front().active_state == "active");
    return seen->front().state_changed_us;
  };
  const auto before = changed();
  CHECK(count_reloads(story) == 0);
  const auto units = make_kept_unit(story);
  CHECK(units->run_job(name, os::UnitJob::reload, os::kUnitCallNs) == "done");
  CHECK(count_reloads(story) == 1);
  CHECK(changed() > before);
  CHECK_FALSE(units->run_job(name, os::UnitJob::stop, os::kUnitCallNs));
  CHECK_FALSE(units->run_job(other, os::UnitJob::reload, os::kUnitCallNs));
  CHECK_FALSE(units->change_file(name, os::UnitFileChange::mask, os::kUnitCallNs));
  CHECK(units->query(std::span(&other, 1), os::kUnitCallNs)->front().load_state == "not-found");
  CHECK(count_reloads(story) == 1);
}

TEST_CASE("selftest: a blob that a record names and nobody has is missed") {
  const Scratch scratch;
  const auto files = os_linux::make_files();
  {
    const auto blobs = blobs::open_blobs(*files, scratch.path, false);
    REQUIRE(blobs);
  }
  Claims claims;
  CHECK(find_missing_blobs(*files, scratch.path, claims).empty());
  claims.blobs.insert(*Digest::find_hex(std::string(64, 'a')));
  CHECK(find_missing_blobs(*files, scratch.path, claims).size() == 1);
}

}  // namespace datum::selftest
