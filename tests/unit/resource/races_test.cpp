// Somebody exchanges folders and files for links while passes run, as fast as the machine can: what
// the links lead to is never touched. On the real file system, in memory where there is one.
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>

#include "pass.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;

namespace {

constexpr int kRounds = 2500;  // in each of five cases: 12,500 in all
constexpr std::uint32_t kUser = 1234;

// A tree that a user owns below the root, and things of root's outside of it.
class Ground {
 public:
  Ground() {
    const char* memory = "/dev/shm";
    std::string pattern =
        (::access(memory, W_OK) == 0 ? std::string(memory)
                                     : std::filesystem::temp_directory_path().string()) +
        "/datum-races-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    top_ = pattern;
    for (const auto* folder : {"/root", "/root/home", "/victim"})
      std::filesystem::create_directory(top_ + folder);
    write("/victim/f", "root's own\n");
    write("/victim/inside", "root's own\n");
  }
  ~Ground() {
    std::error_code ignored;
    std::filesystem::remove_all(top_, ignored);
  }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  [[nodiscard]] std::string path(const std::string& below) const { return top_ + below; }
  void write(const std::string& below, const std::string& text) const {
    std::ofstream(top_ + below, std::ios::binary) << text;
  }
  void give(const std::string& below) const {
    if (::lchown(path(below).c_str(), kUser, kUser) != 0) std::abort();
  }
  void link(const std::string& target, const std::string& below) const {
    std::filesystem::create_symlink(target, top_ + below);
    give(below);
  }
  // All that a touch of the victim would change. A name that goes changes the ctime of its file.
  [[nodiscard]] std::string victim(bool with_ctime) const {
    std::string text;
    for (const auto* below : {"/victim", "/victim/f", "/victim/inside"}) {
      struct stat raw {};
      if (::lstat(path(below).c_str(), &raw) != 0) return std::string("gone: ") + below;
      text += std::to_string(raw.st_ino) + " " + std::to_string(raw.st_mode) + " " +
              std::to_string(raw.st_uid) + " " + std::to_string(raw.st_size) + " " +
              std::to_string(raw.st_mtim.tv_nsec) + " " +
              (with_ctime ? std::to_string(raw.st_ctim.tv_nsec) : "") + "\n";
    }
    for (const auto& entry : std::filesystem::directory_iterator(path("/victim")))
      text += entry.path().filename().string() + "\n";
    return text;
  }

 private:
  std::string top_;
};

// Exchanges two names until it is told to stop.
class Swapper {
 public:
  Swapper(std::string a, std::string b)
      : a_(std::move(a)), b_(std::move(b)), thread_([this] { run(); }) {}
  ~Swapper() { stop(); }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;
  long stop() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
    return swaps_;
  }

 private:
  void run() {
    while (!stopped_) {
      if (::renameat2(AT_FDCWD, a_.c_str(), AT_FDCWD, b_.c_str(), RENAME_EXCHANGE) == 0) ++swaps_;
      std::this_thread::yield();
    }
  }
  std::string a_;
  std::string b_;
  std::atomic<bool> stopped_ = false;
  long swaps_ = 0;
  std::thread thread_;
};

struct Tally {
  int rounds = 0, succeeded = 0, other = 0, violations = 0;
  long swaps = 0;
  void show(const char* what) const {
    WARN(what << ": " << rounds << " rounds, " << swaps << " swaps, " << succeeded
              << " actions succeeded, " << other << " did not, violations " << violations);
  }
};

// Passes over `resources` while the two names below the root are exchanged.
Tally race(Ground& field, const std::string& a, const std::string& b,
           const std::function<std::vector<model::Resource>(Scene&, int)>& resources,
           bool with_ctime = true) {
  Tally tally;
  const auto files = os_linux::make_files();
  Scene scene(*files, field.path("/root"));
  scene.machine().trusted_uid = 0;
  const auto before = field.victim(with_ctime);
  Swapper swapper(field.path("/root" + a), field.path("/root" + b));
  for (int round = 0; round < kRounds; ++round) {
    Pass pass(scene);
    pass.options.pass = static_cast<PassId>(round + 1);
    const auto done = pass.run(resources(scene, round));
    for (const auto& [ordinal, result] : done.results)
      ++(result.error || result.skipped ? tally.other : tally.succeeded);
    ++tally.rounds;
    if (field.victim(with_ctime) != before) ++tally.violations;
  }
  tally.swaps = swapper.stop();
  return tally;
}

bool is_root() {
  return ::geteuid() == 0;
}

}  // namespace

TEST_CASE("races: [S01] a user's folder that is exchanged for a link leads no write out of it") {
  if (!is_root()) {
    WARN("skipped: needs root");
    return;
  }
  Ground field;
  std::filesystem::create_directory(field.path("/root/home/d"));
  field.give("/root/home");
  field.give("/root/home/d");
  field.link("../../victim", "/root/home/l");
  const auto tally = race(field, "/home/d", "/home/l", [](Scene& scene, int round) {
    return std::vector{a_file("/home/d/f")
                           .content(scene.content, std::to_string(round))
                           .mode("0666")
                           .owner("test")
                           .done(),
                       a_directory("/home/d/made").mode("0777").done(),
                       a_symlink("/home/d/s", std::to_string(round)).done()};
  });
  tally.show("folder and link");
  CHECK(tally.violations == 0);
  CHECK(tally.swaps > 100);
  CHECK(tally.succeeded > 0);
}

TEST_CASE(
    "races: [S03] a file that is exchanged for a link lends its target neither bytes nor owner") {
  if (!is_root()) {
    WARN("skipped: needs root");
    return;
  }
  Ground field;
  field.give("/root/home");
  field.write("/root/home/f", "user's\n");
  field.give("/root/home/f");
  field.link("../../victim/f", "/root/home/l");
  const auto tally = race(field, "/home/f", "/home/l", [](Scene& scene, int round) {
    auto file = a_file("/home/f")
                    .owner(round % 2 == 0 ? "test" : "0")
                    .mode(round % 3 == 0 ? "0666" : "0600");
    if (round % 4 == 1) file.content(scene.content, std::to_string(round));
    if (round % 4 == 3)
      file.content(scene.content, std::to_string(round))
          .with(Field::replace, std::string("inPlace"));
    return std::vector{file.done()};
  });
  tally.show("file and link");
  CHECK(tally.violations == 0);
  CHECK(tally.swaps > 100);
  CHECK(tally.succeeded > 0);
}

TEST_CASE(
    "races: [F06] a file that is exchanged for another name of root's file does not change that") {
  if (!is_root()) {
    WARN("skipped: needs root");
    return;
  }
  Ground field;
  field.give("/root/home");
  field.write("/root/home/f", "user's\n");
  field.give("/root/home/f");
  const auto victim = field.path("/victim/f");
  const auto fresh = field.path("/root/home/fresh");
  const auto name = field.path("/root/home/h");
  REQUIRE(::link(victim.c_str(), name.c_str()) == 0);
  const auto declared = [&](Scene& scene, int round) {
    // A rename that met the other name took it away; it comes back.
    if (::link(victim.c_str(), fresh.c_str()) == 0) ::rename(fresh.c_str(), name.c_str());
    auto file = a_file("/home/f").owner("test").mode(round % 2 == 0 ? "0666" : "0600");
    if (round % 4 != 0) file.content(scene.content, std::to_string(round));
    if (round % 4 == 2) file.with(Field::replace, std::string("inPlace"));
    return std::vector{file.done()};
  };
  const auto tally = race(field, "/home/f", "/home/h", declared, false);
  tally.show("file and hard link");
  CHECK(tally.violations == 0);
  CHECK(tally.swaps > 100);
  CHECK(tally.succeeded > 0);
}

TEST_CASE("races: [S06] a folder of root's that takes a new one's place is not given away") {
  if (!is_root()) {
    WARN("skipped: needs root");
    return;
  }
  Ground field;
  field.give("/root/home");
  const auto own = field.path("/root/home/private");
  std::filesystem::create_directory(own);
  field.write("/root/home/private/key", "root's own\n");
  const int folder = ::open(own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(folder >= 0);
  struct stat before {};
  REQUIRE(::fstat(folder, &before) == 0);
  const auto files = os_linux::make_files();
  Scene scene(*files, field.path("/root"));
  scene.machine().trusted_uid = 0;
  Tally tally;
  const auto made = field.path("/root/home/made");
  std::string temp;
  {
    Pass named(scene);
    temp =
        field.path("/root/home/" + resource::temp_name(named.options.store, named.options.pass, 0));
  }
  Swapper swapper(own, temp);
  for (; tally.rounds < kRounds; ++tally.rounds) {
    Pass pass(scene);
    const auto done = pass.run({a_directory("/home/made").owner("test").mode("0755").done()});
    for (const auto& [ordinal, result] : done.results)
      ++(result.error || result.skipped ? tally.other : tally.succeeded);
    struct stat now {};
    if (::fstat(folder, &now) != 0 || now.st_uid != before.st_uid ||
        ::faccessat(folder, "key", F_OK, 0) != 0)
      ++tally.violations;
    // Whatever has got which name: the next round begins as the first one did.
    for (const auto& name : {made, temp})
      if (::rmdir(name.c_str()) != 0 && errno == ENOTEMPTY) {
        ::rmdir(own.c_str());
        ::rename(name.c_str(), own.c_str());
      }
    if (::fchown(folder, before.st_uid, before.st_gid) != 0) ++tally.violations;
  }
  tally.swaps = swapper.stop();
  ::close(folder);
  tally.show("new folder and root's own");
  CHECK(tally.violations == 0);
  CHECK(tally.succeeded > 0);
}

TEST_CASE("races: [F27] a purged folder that is exchanged for a link empties no other folder") {
  if (!is_root()) {
    WARN("skipped: needs root");
    return;
  }
  Ground field;
  std::filesystem::create_directory(field.path("/root/home/p"));
  field.give("/root/home");
  field.give("/root/home/p");
  field.link("../../victim", "/root/home/l");
  const auto tally = race(field, "/home/p", "/home/l", [&](Scene&, int round) {
    const int folder = ::open(field.path("/root/home/p").c_str(), O_DIRECTORY | O_NOFOLLOW);
    if (folder >= 0) {
      ::close(::openat(folder, "foreign", O_CREAT | O_WRONLY | O_NOFOLLOW, 0600));
      ::close(folder);
    }
    auto purged = a_directory("/home/p").mode(round % 2 == 0 ? "0777" : "0700").owner("test");
    return std::vector{purged.with(Field::purge, true).with(Field::purge_directories, true).done()};
  });
  tally.show("purged folder and link");
  CHECK(tally.violations == 0);
  CHECK(tally.swaps > 100);
  CHECK(tally.succeeded > 0);
}
