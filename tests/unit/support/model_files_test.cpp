// The modelled file system must lose what a real one may lose, and nothing else: otherwise the
// tests that stand on it prove nothing.
#include "support/model_files.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

using namespace datum;
using namespace datum::os;
using support::Call;
using support::ModelFiles;

namespace {

constexpr std::uint64_t kSeeds = 200;

void must(Status status) {
  if (!status) FAIL(status.error().message());
}
template <class T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().message());
  return std::move(*result);
}

// /d/old is durable with the content "old".
struct Machine {
  ModelFiles files;
  Handle folder;
  Machine() {
    files.put_file("/d/old", "old");
    files.settle();
    open();
  }
  void open() {
    const auto root = must(files.open_root("/"));
    folder = must(files.open_directory(root, "d", Follow::no));
  }
  Handle write(std::string_view name, std::string_view content) {
    auto handle = must(files.create_file(folder, name));
    must(files.write(handle, as_bytes(content)));
    return handle;
  }
};

// What `path` holds after each of many crashes of a machine on which `act` was done.
template <class Act>
std::set<std::string> contents_after_crashes(const std::string& path, Act act) {
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine m;
    act(m);
    m.files.crash(seed);
    found.insert(m.files.find_content(path).value_or("(missing)"));
  }
  return found;
}

}  // namespace

TEST_CASE("model: what was synced with its name survives every crash") {
  const auto found = contents_after_crashes("/d/new", [](Machine& m) {
    const auto handle = m.write("new", "content");
    must(m.files.sync(handle));
    must(m.files.sync(m.folder));
  });
  CHECK(found == std::set<std::string>{"content"});
}

TEST_CASE("model: without syncing the folder a synced file may be gone, but never torn") {
  const auto found = contents_after_crashes("/d/new", [](Machine& m) {
    const auto handle = m.write("new", "content");
    must(m.files.sync(handle));
  });
  CHECK(found == std::set<std::string>{"(missing)", "content"});
}

TEST_CASE(
    "model: a rename over a file whose new content was not synced may leave it empty or torn") {
  const auto found = contents_after_crashes("/d/old", [](Machine& m) {
    m.write("temp", "new content");
    must(m.files.rename(m.folder, "temp", m.folder, "old", false));
    must(m.files.sync(m.folder));
  });
  CHECK(found.contains(""));
  CHECK(found.contains("new content"));
  CHECK(found.contains(std::string(11, '\0')));
  CHECK(found.contains("new co"));
  CHECK_FALSE(found.contains("old"));
  CHECK_FALSE(found.contains("(missing)"));
}

TEST_CASE(
    "model: the safe order leaves the old content or the new, and the new once the folder is "
    "synced") {
  const auto replace = [](Machine& m) {
    const auto handle = m.write("temp", "new");
    must(m.files.sync(handle));
    must(m.files.rename(m.folder, "temp", m.folder, "old", false));
  };
  CHECK(contents_after_crashes("/d/old", replace) == std::set<std::string>{"new", "old"});
  const auto durable = contents_after_crashes("/d/old", [&](Machine& m) {
    replace(m);
    must(m.files.sync(m.folder));
  });
  CHECK(durable == std::set<std::string>{"new"});
}

TEST_CASE("model: syncing the file system keeps contents, names and modes alike") {
  const auto found = contents_after_crashes("/d/new", [](Machine& m) {
    const auto handle = m.write("new", "content");
    must(m.files.set_mode(handle, 0640));
    must(m.files.sync_file_system(m.folder));
  });
  CHECK(found == std::set<std::string>{"content"});
}

TEST_CASE("model: a write in place may be lost, torn or kept, and a sync keeps it") {
  const auto overwrite = [](Machine& m, bool sync) {
    const auto handle = must(m.files.open_file(m.folder, "old", Access::write));
    must(m.files.write(handle, as_bytes("NEW!")));
    if (sync) must(m.files.sync(handle));
  };
  const auto unsynced = contents_after_crashes("/d/old", [&](Machine& m) { overwrite(m, false); });
  CHECK(unsynced.contains("old"));
  CHECK(unsynced.contains("NEW!"));
  CHECK(unsynced.size() > 3);
  const auto synced = contents_after_crashes("/d/old", [&](Machine& m) { overwrite(m, true); });
  CHECK(synced == std::set<std::string>{"NEW!"});
}

TEST_CASE("model: a mode that was not synced is the old or the new one") {
  std::set<std::uint32_t> modes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine m;
    const auto handle = must(m.files.open_file(m.folder, "old", Access::read));
    must(m.files.set_mode(handle, 0600));
    m.files.crash(seed);
    modes.insert(m.files.find_stat("/d/old")->mode);
    CHECK(m.files.find_content("/d/old") == "old");
  }
  CHECK(modes == std::set<std::uint32_t>{0600, 0644});
}

TEST_CASE("model: a removal that was not synced may come back with all its content") {
  const auto found = contents_after_crashes(
      "/d/old", [](Machine& m) { must(m.files.remove_file(m.folder, "old")); });
  CHECK(found == std::set<std::string>{"(missing)", "old"});
}

TEST_CASE("model: a rename between folders is lost or kept whole, whichever folder is synced") {
  for (const bool sync_from : {false, true}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Machine m;
      m.files.put_directory("/e");
      m.files.settle();
      const auto root = must(m.files.open_root("/"));
      const auto other = must(m.files.open_directory(root, "e", Follow::no));
      must(m.files.rename(m.folder, "old", other, "moved", false));
      must(m.files.sync(sync_from ? m.folder : other));
      m.files.crash(seed);
      CHECK_FALSE(m.files.find_content("/d/old"));
      CHECK(m.files.find_content("/e/moved") == "old");
    }
  }
}

TEST_CASE("model: syncing a folder keeps what the same name went through before, in order") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine m;
    m.files.put_directory("/e");
    m.files.settle();
    const auto root = must(m.files.open_root("/"));
    const auto other = must(m.files.open_directory(root, "e", Follow::no));
    // "x" in /e is made, moved to /d, and another "x" takes its place in /e.
    must(m.files.make_symlink(other, "x", "first"));
    must(m.files.rename(other, "x", m.folder, "x", false));
    must(m.files.make_symlink(other, "x", "second"));
    must(m.files.sync(m.folder));
    m.files.crash(seed);
    CHECK(m.files.find_target("/d/x") == "first");
    CHECK(m.files.find_target("/e/x") != "first");
  }
}

TEST_CASE("model: names survive in the order of the calls") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine m;
    for (int i = 0; i < 5; ++i) must(m.files.make_symlink(m.folder, std::to_string(i), "t"));
    m.files.crash(seed);
    bool gone = false;
    for (int i = 0; i < 5; ++i) {
      const bool there = m.files.find_target("/d/" + std::to_string(i)).has_value();
      CHECK_FALSE((there && gone));
      gone = gone || !there;
    }
  }
}

TEST_CASE("model: the same seed makes the same crash, and the two extremes are at hand") {
  const auto run = [](std::uint64_t seed) {
    Machine m;
    for (int i = 0; i < 10; ++i) m.write("f" + std::to_string(i), std::string(100, 'x'));
    m.files.crash(seed);
    std::string picture;
    for (const auto& path : m.files.paths())
      picture += path + "=" + m.files.find_content(path).value_or("dir") + ";";
    return picture;
  };
  CHECK(run(7) == run(7));
  std::set<std::string> pictures;
  for (std::uint64_t seed = 0; seed < 20; ++seed) pictures.insert(run(seed));
  CHECK(pictures.size() > 10);
  Machine nothing;
  nothing.write("new", "x");
  CHECK(nothing.files.crash_losing_everything().name_changes_lost == 1);
  CHECK(nothing.files.paths() == std::vector<std::string>{"/d", "/d/old"});
  Machine everything;
  everything.write("new", "x");
  CHECK(everything.files.crash_keeping_everything().contents_lost == 0);
  CHECK(everything.files.find_content("/d/new") == "x");
}

TEST_CASE("model: handles of before a crash are dead, and closing them harms nobody") {
  Machine m;
  auto before = m.write("new", "x");
  m.files.crash(1);
  CHECK(m.files.stat(before).error().sys_errno() == EBADF);
  CHECK(m.files.open_handles() == 0);
  m.open();
  before = Handle();
  CHECK(m.files.stat(m.folder).has_value());
}

TEST_CASE("model: when only the process ends the kernel keeps what was written") {
  Machine m;
  m.write("new", "x");
  m.files.end_process();
  CHECK(m.files.open_handles() == 0);
  CHECK(m.files.find_content("/d/new") == "x");
}

TEST_CASE("model: an n-th call fails as planned, without effect, and only that one") {
  Machine m;
  m.files.fail_call(Call::rename, 2, EIO);
  must(m.files.rename(m.folder, "old", m.folder, "a", false));
  const auto second = m.files.rename(m.folder, "a", m.folder, "b", false);
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == ErrorCode::io_error);
  CHECK(m.files.find_content("/d/a") == "old");
  must(m.files.rename(m.folder, "a", m.folder, "b", false));
}

TEST_CASE("model: stopped at a change, nothing more happens until the machine starts again") {
  for (std::uint64_t stop = 1; stop <= 4; ++stop) {
    Machine m;
    const auto before = m.files.paths().size();
    m.files.stop_at_change(stop);
    for (int i = 0; i < 4; ++i) {
      const auto made = m.files.make_symlink(m.folder, std::to_string(i), "t");
      CHECK(made.has_value() == (static_cast<std::uint64_t>(i) + 1 < stop));
      if (!made) CHECK(made.error().code() == ErrorCode::cancelled);
    }
    CHECK(m.files.stopped());
    CHECK(m.files.stat(m.folder).error().code() == ErrorCode::cancelled);
    CHECK(m.files.paths().size() == before + stop - 1);
    m.files.end_process();
    CHECK_FALSE(m.files.stopped());
    m.open();
    must(m.files.make_symlink(m.folder, "later", "t"));
  }
}

TEST_CASE("model: a full disk takes what fits, and gives back what is removed") {
  Machine m;
  m.files.set_free_bytes("/d", 8192);
  const auto handle = must(m.files.create_file(m.folder, "big"));
  const auto written = m.files.write(handle, as_bytes(std::string(20'000, 'x')));
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == ErrorCode::no_space);
  CHECK(m.files.find_content("/d/big")->size() == 8192);
  CHECK(must(m.files.space(m.folder)).free_bytes == 0);
  CHECK(m.files.create_file(m.folder, "another").error().code() == ErrorCode::no_space);
  must(m.files.truncate(handle, 4096));
  CHECK(must(m.files.space(m.folder)).free_bytes == 4096);
  must(m.files.remove_file(m.folder, "old"));
  CHECK(must(m.files.space(m.folder)).free_bytes == 8192);
}

TEST_CASE("model: a disk without inodes makes no file") {
  Machine m;
  m.files.set_free_inodes("/d", 1);
  must(m.files.make_directory(m.folder, "last", 0755));
  CHECK(m.files.make_symlink(m.folder, "x", "y").error().code() == ErrorCode::no_space);
  must(m.files.remove_directory(m.folder, "last"));
  must(m.files.make_symlink(m.folder, "x", "y"));
}

TEST_CASE(
    "model: a failed write-back is told once, and its bytes are never durable by another sync") {
  Machine m;
  const auto handle = m.write("new", "content");
  must(m.files.sync(m.folder));
  m.files.fail_write_back("/d/new");
  CHECK(m.files.sync(handle).error().code() == ErrorCode::io_error);
  CHECK(m.files.sync(handle).has_value());
  CHECK(m.files.find_content("/d/new") == "content");
  must(m.files.set_mode(handle, 0640));
  must(m.files.sync(handle));
  m.files.crash(3);
  CHECK(m.files.find_content("/d/new") == "");
  CHECK(m.files.find_stat("/d/new")->mode == 0640);
}

TEST_CASE("model: a failed write-back reaches a whole-system sync only through an older handle") {
  Machine m;
  m.files.fail_write_back("/d/old");
  const auto root = must(m.files.open_root("/"));
  CHECK(m.files.sync_file_system(root).has_value());
  CHECK(m.files.sync_file_system(m.folder).error().code() == ErrorCode::io_error);
  CHECK(m.files.sync_file_system(m.folder).has_value());
  m.open();
  m.files.set_reports_sync_errors(false);
  m.files.fail_write_back("/d/old");
  CHECK(m.files.sync_file_system(m.folder).has_value());
  CHECK_FALSE(m.files.reports_file_system_sync_errors());
}

TEST_CASE("model: mount points refuse renames and removals, and are other file systems [F01]") {
  Machine m;
  m.files.put_file("/d/hosts", "live");
  m.files.put_directory("/d/mnt");
  m.files.mount("/d/hosts");
  m.files.mount("/d/mnt");
  m.write("temp", "x");
  CHECK(must(m.files.stat_at(m.folder, "hosts")).mount_root);
  CHECK(m.files.rename(m.folder, "temp", m.folder, "hosts", false).error().code() ==
        ErrorCode::busy);
  CHECK(m.files.remove_file(m.folder, "hosts").error().code() == ErrorCode::busy);
  CHECK(m.files.remove_directory(m.folder, "mnt").error().code() == ErrorCode::busy);
  const auto mounted = must(m.files.open_directory(m.folder, "mnt", Follow::no));
  CHECK(m.files.rename(m.folder, "temp", mounted, "x", false).error().code() ==
        ErrorCode::cross_device);
  CHECK(must(m.files.stat(mounted)).device != must(m.files.stat(m.folder)).device);
  m.files.set_free_bytes("/d/mnt", 0);
  CHECK(m.files.create_file(mounted, "x").error().code() == ErrorCode::no_space);
  CHECK(must(m.files.create_file(m.folder, "x")).value() > 0);
  m.files.settle();
  m.files.crash(1);
  CHECK(m.files.find_stat("/d/mnt")->mount_root);
  m.files.unmount("/d/hosts");
  m.open();
  must(m.files.rename(m.folder, "temp", m.folder, "hosts", false));
}

TEST_CASE("model: read-only file systems and immutable files refuse every change") {
  Machine m;
  m.files.set_immutable("/d/old", true);
  CHECK(m.files.remove_file(m.folder, "old").error().code() == ErrorCode::permission_denied);
  CHECK(m.files.open_file(m.folder, "old", Access::write).error().code() ==
        ErrorCode::permission_denied);
  m.write("temp", "x");
  CHECK(m.files.rename(m.folder, "temp", m.folder, "old", false).error().code() ==
        ErrorCode::permission_denied);
  m.files.set_read_only("/d", true);
  CHECK(m.files.create_file(m.folder, "new").error().code() == ErrorCode::read_only);
  const auto reader = must(m.files.open_file(m.folder, "temp", Access::read));
  CHECK(m.files.set_mode(reader, 0600).error().code() == ErrorCode::read_only);
}

TEST_CASE("model: a change before a call is seen by that call") {
  Machine m;
  m.files.set_before_call([&](Call call, std::string_view name) {
    if (call != Call::open_file || name != "old") return;
    m.files.set_before_call({});
    m.files.put_symlink("/d/old", "/etc/shadow");
  });
  CHECK(m.files.open_file(m.folder, "old", Access::read).error().code() == ErrorCode::symlink);
}

TEST_CASE("model: every change moves ctime, and times follow a given clock") {
  Machine m;
  const auto ctime = [&] { return m.files.find_stat("/d/old")->ctime_ns; };
  const auto handle = must(m.files.open_file(m.folder, "old", Access::write));
  auto last = ctime();
  const auto moved = [&] { return std::exchange(last, ctime()) < last; };
  must(m.files.write(handle, as_bytes("x")));
  CHECK(moved());
  must(m.files.set_mode(handle, 0600));
  CHECK(moved());
  must(m.files.set_attribute(handle, {"user.x", {}}));
  CHECK(moved());
  m.files.set_clock([] { return WallNs{1'900'000'000'000'000'000}; });
  must(m.files.set_mode(handle, 0644));
  CHECK(ctime() == 1'900'000'000'000'000'000);
  must(m.files.set_mode(handle, 0644));
  CHECK(ctime() == 1'900'000'000'000'000'001);
}
