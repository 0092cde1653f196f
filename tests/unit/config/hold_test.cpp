// Holds: whatever is unclear means held; writing one is never half done.
#include "datum/config/hold.hpp"

#include <catch2/catch.hpp>
#include <cerrno>

#include "datum/base/rfc3339.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::config;

static const WallNs kSix = *find_rfc3339("2026-11-29T18:00:00Z");

TEST_CASE("hold: an empty file holds without end") {
  for (const auto* bytes : {"", "\n", "# by the backup script\n\n"}) {
    const auto hold = parse_hold(bytes);
    CHECK(hold.present);
    CHECK_FALSE(hold.until);
    CHECK(hold.fault.empty());
    CHECK(is_in_force(hold, {INT64_MAX}));
  }
}

TEST_CASE("hold: an end and a reason are read, in any order") {
  for (const auto* bytes :
       {"until: 2026-11-29T18:00:00Z\nreason: database: migration\n",
        "reason:   database: migration  \n# x\nuntil: 2026-11-29T19:00:00+01:00",
        "until: 2026-11-29T18:00:00Z\r\nreason: database: migration\r\n"}) {
    INFO(bytes);
    const auto hold = parse_hold(bytes);
    CHECK(hold.fault.empty());
    CHECK(hold.until == kSix);
    CHECK(hold.reason == "database: migration");
    CHECK(is_in_force(hold, {kSix.ns - 1}));
    CHECK_FALSE(is_in_force(hold, kSix));
  }
}

TEST_CASE("hold: what is malformed is held without end, and says why") {
  for (const auto& [bytes, fault] : std::vector<std::pair<std::string, std::string>>{
           {"until: tomorrow\n", "until: is no time"},
           {"until:\n", "until: is no time"},
           {"until: 2026-11-29\n", "until: is no time"},
           {"until: 2026-11-29T18:00:00Z\nuntil: 2026-11-29T19:00:00Z\n", "line 2 repeats a key"},
           {"reason: a\nreason: b\n", "line 2 repeats a key"},
           {"now: true\nnow: true\n", "line 2 repeats a key"},
           {"now:\n", "line 1 says something else than now: true"},
           {"reason: a\nnow: yes\n", "line 2 says something else than now: true"},
           {"until: 2026-11-29T18:00:00Z\nUntil: x\n", "line 2 is neither"},
           {"2026-11-29T18:00:00Z\n", "line 1 is neither"},
           {std::string(kMaxHoldBytes + 1, '\n'), "larger than 4096 bytes"},
           {std::string("\0\0", 2), "line 1 is neither"}}) {
    INFO(fault);
    const auto hold = parse_hold(bytes);
    CHECK(hold.present);
    CHECK_FALSE(hold.until);
    CHECK(hold.fault.find(fault) != std::string::npos);
    CHECK(is_in_force(hold, {INT64_MAX}));
  }
  CHECK(parse_hold("reason: kept\nuntil: never\n").reason == "kept");
}

TEST_CASE(
    "hold: that a pass ends before its next action is said in the file, and by nothing else") {
  CHECK(parse_hold("now: true\nreason: fire\n").now);
  CHECK(parse_hold("now: true").until == std::nullopt);
  for (const auto* bytes : {"", "reason: now: true\n", "now: false\n", "# now: true\n"})
    CHECK_FALSE(parse_hold(bytes).now);
  CHECK_FALSE(Hold{}.now);
}

TEST_CASE("hold: a reason that is too long is cut at a character") {
  const auto hold = parse_hold("reason: " + std::string(511, 'x') + "é…\n");
  CHECK(hold.fault.empty());
  CHECK(hold.reason == std::string(511, 'x'));
}

TEST_CASE("hold: it is described with its reason, end and fault") {
  CHECK(describe(parse_hold("reason: backup\nuntil: 2026-11-29T18:00:00Z\n")) ==
        "backup, until 2026-11-29T18:00:00Z");
  CHECK(describe(parse_hold("")) == "no reason given, without end");
  CHECK(describe(parse_hold("x\n")).find("(the hold file is not clear: line 1") !=
        std::string::npos);
  // Beside it stands for how long anyway.
  CHECK(reason_of(parse_hold("x\n")).starts_with("no reason given (the hold file is not clear: "));
  CHECK(reason_of(parse_hold("reason: backup\n")) == "backup");
  CHECK(describe(Hold{}) == "not held");
}

namespace {
struct Folder {
  Folder() {
    files.put_directory("/etc/datum");
    files.settle();
    open();
  }
  void open() {
    auto root = *files.open_root("/");
    auto etc = *files.open_directory(root, "etc", os::Follow::no);
    directory = *files.open_directory(etc, "datum", os::Follow::no);
  }
  Hold read() { return read_hold(files, directory); }
  support::ModelFiles files;
  os::Handle directory;
};
}  // namespace

TEST_CASE("hold: only a name that does not exist is no hold") {
  Folder folder;
  CHECK_FALSE(folder.read().present);
  CHECK_FALSE(is_in_force(folder.read(), {0}));
  folder.files.put_file("/etc/datum/hold", "", 0666, 1000);
  CHECK(folder.read().present);
  CHECK(folder.read().fault.empty());
  folder.files.put_symlink("/etc/datum/hold", "/nowhere");
  CHECK(folder.read().fault.find("cannot be opened") != std::string::npos);
  folder.files.put_directory("/etc/datum/hold");
  CHECK(is_in_force(folder.read(), {0}));
  folder.files.put_special("/etc/datum/hold", os::FileType::fifo);
  CHECK(is_in_force(folder.read(), {0}));
  folder.files.put_file("/etc/datum/hold", "until: 1970-01-01T00:00:00Z\n");
  CHECK_FALSE(is_in_force(folder.read(), kSix));
  folder.files.fail_call(support::Call::read, 1, EIO);
  const auto unread = folder.read();
  CHECK(unread.fault.find("cannot be read") != std::string::npos);
  CHECK(is_in_force(unread, kSix));
  folder.files.fail_call(support::Call::open_file, 1, EACCES);
  CHECK(is_in_force(folder.read(), kSix));
}

TEST_CASE("hold: what is written reads back, never ending before its time") {
  Folder folder;
  REQUIRE(write_hold(folder.files, folder.directory, WallNs{kSix.ns + 1}, "why: é"));
  const auto hold = folder.read();
  CHECK(hold.fault.empty());
  CHECK(hold.reason == "why: é");
  CHECK(hold.until == WallNs{kSix.ns + kNsPerSecond});
  CHECK_FALSE(folder.read().now);
  REQUIRE(write_hold(folder.files, folder.directory, kSix, "at once", true));
  CHECK((folder.read().now && folder.read().reason == "at once" && folder.read().until == kSix));
  REQUIRE(write_hold(folder.files, folder.directory, std::nullopt, ""));
  CHECK_FALSE(folder.read().until);
  CHECK(folder.files.find_stat("/etc/datum/hold")->mode == 0644);
  CHECK(folder.files.paths() == std::vector<std::string>{"/etc", "/etc/datum", "/etc/datum/hold"});
}

TEST_CASE("hold: a reason of several lines is refused and changes nothing") {
  Folder folder;
  REQUIRE(write_hold(folder.files, folder.directory, kSix, "first"));
  const auto before = folder.files.changing_calls();
  CHECK_FALSE(write_hold(folder.files, folder.directory, kSix, "a\nuntil: 1970-01-01T00:00:00Z"));
  CHECK_FALSE(write_hold(folder.files, folder.directory, kSix, std::string(513, 'x')));
  CHECK_FALSE(write_hold(folder.files, folder.directory, kSix, "\xFF"));
  CHECK(folder.files.changing_calls() == before);
  CHECK(folder.read().reason == "first");
}

TEST_CASE("hold: lifting removes it for good, and says if there was none") {
  Folder folder;
  const auto none = lift_hold(folder.files, folder.directory);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == ErrorCode::not_found);
  REQUIRE(write_hold(folder.files, folder.directory, kSix, "x"));
  REQUIRE(lift_hold(folder.files, folder.directory));
  folder.files.crash_losing_everything();
  folder.open();
  CHECK_FALSE(folder.read().present);
}

TEST_CASE("hold: a crash at any moment of writing leaves the old hold or the new one, never none") {
  for (std::uint64_t stop = 1; stop < 20; ++stop) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      Folder folder;
      REQUIRE(write_hold(folder.files, folder.directory, kSix, "old"));
      folder.files.settle();
      folder.files.stop_at_change(stop);
      const auto written = write_hold(folder.files, folder.directory, std::nullopt, "new");
      folder.files.crash(seed);
      folder.open();
      const auto hold = folder.read();
      INFO("stop " << stop << " seed " << seed << " fault " << hold.fault);
      REQUIRE(hold.present);
      REQUIRE(hold.fault.empty());
      if (written) {
        REQUIRE(hold.reason == "new");
      } else {
        REQUIRE((hold.reason == "old" || hold.reason == "new"));
      }
      // What was left behind does not stand in the way.
      REQUIRE(write_hold(folder.files, folder.directory, kSix, "again"));
    }
  }
}

TEST_CASE("hold: who set it is believed only of a file that nobody but root can have written") {
  CHECK(parse_hold("reason: x\nby: 1000\n").by == 1000U);
  CHECK(parse_hold("by: 4294967295").by == 4294967295U);
  CHECK_FALSE(parse_hold("reason: x\n").by);
  for (const std::string_view bytes :
       {"by: root", "by: -1", "by: 4294967296", "by:", "by: 1\nby: 1", "by: 1 2"}) {
    INFO(bytes);
    const auto hold = parse_hold(bytes);
    CHECK_FALSE(hold.fault.empty());
    CHECK(is_in_force(hold, kSix));
    CHECK_FALSE(hold.by);
  }
  Folder folder;
  REQUIRE(write_hold(folder.files, folder.directory, kSix, "x", false, 1000));
  CHECK(folder.read().by == 1000U);
  CHECK_FALSE(read_hold(folder.files, folder.directory, 1000).by);
  for (const auto& [mode, owner] : {std::pair{0664U, 0U}, {0646U, 0U}, {0644U, 1000U}}) {
    folder.files.put_file("/etc/datum/hold", "reason: x\nby: 0\n", mode, owner);
    INFO(mode << " " << owner);
    CHECK(folder.read().reason == "x");
    CHECK_FALSE(folder.read().by);
  }
}

TEST_CASE("hold: who lifts it is left once, and a full disk keeps nobody from lifting") {
  Folder folder;
  CHECK_FALSE(take_lifter(folder.files, folder.directory, 0));
  REQUIRE(write_hold(folder.files, folder.directory, kSix, "x", false, 1000));
  REQUIRE(lift_hold(folder.files, folder.directory, 1001));
  CHECK_FALSE(folder.read().present);
  CHECK(take_lifter(folder.files, folder.directory, 0) == 1001U);
  CHECK_FALSE(take_lifter(folder.files, folder.directory, 0));
  folder.files.put_file("/etc/datum/.hold.lifted", "by: 0\n", 0644, 1000);
  CHECK_FALSE(take_lifter(folder.files, folder.directory, 0));
  REQUIRE(write_hold(folder.files, folder.directory, kSix, "x"));
  folder.files.fail_call(support::Call::write, 1, ENOSPC);
  REQUIRE(lift_hold(folder.files, folder.directory, 1001));
  CHECK_FALSE(folder.read().present);
  CHECK_FALSE(take_lifter(folder.files, folder.directory, 0));
}
