// Somebody exchanges folders and files for links between any two calls of a pass: what the links
// lead to is never touched. On the real file system, in memory where there is one.
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <random>
#include <set>

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

// Lets somebody act between any two calls of a pass: before the calls whose places were chosen.
class Interrupted final : public os::Files {
  using Handle = os::Handle;

 public:
  explicit Interrupted(std::unique_ptr<os::Files> real) : real_(std::move(real)) {}

  // Before the next pass: `act` happens at up to `times` places among as many calls as the last
  // pass made.
  void arm(std::mt19937_64& random, int times, std::function<void()> act) {
    const auto calls = std::max<std::size_t>(calls_, 8);
    places_.clear();
    for (int i = 0; i < times; ++i) places_.insert(random() % calls);
    calls_ = 0;
    act_ = std::move(act);
  }

  [[nodiscard]] Result<Handle> open_root(const std::string& path) override {
    return real().open_root(path);
  }
  [[nodiscard]] Result<Handle> open_directory(const Handle& parent, std::string_view name,
                                              os::Follow follow) override {
    return real().open_directory(parent, name, follow);
  }
  [[nodiscard]] Result<Handle> open_file(const Handle& parent, std::string_view name,
                                         os::Access access) override {
    return real().open_file(parent, name, access);
  }
  [[nodiscard]] Result<os::OpenedFile> open_file_with_stat(const Handle& parent,
                                                           std::string_view name,
                                                           os::Access access) override {
    return real().open_file_with_stat(parent, name, access);
  }
  [[nodiscard]] Result<Handle> create_file(const Handle& parent, std::string_view name) override {
    return real().create_file(parent, name);
  }
  [[nodiscard]] Result<os::FileStat> stat(const Handle& handle) override {
    return real().stat(handle);
  }
  [[nodiscard]] Result<os::FileStat> stat_at(const Handle& parent, std::string_view name) override {
    return real().stat_at(parent, name);
  }
  [[nodiscard]] Result<std::size_t> read(const Handle& handle, MutableByteView out) override {
    return real().read(handle, out);
  }
  [[nodiscard]] Status write(const Handle& handle, ByteView bytes) override {
    return real().write(handle, bytes);
  }
  [[nodiscard]] Result<std::uint64_t> seek_data(const Handle& handle,
                                                std::uint64_t offset) override {
    return real().seek_data(handle, offset);
  }
  [[nodiscard]] Result<std::uint64_t> seek_hole(const Handle& handle,
                                                std::uint64_t offset) override {
    return real().seek_hole(handle, offset);
  }
  [[nodiscard]] Status seek(const Handle& handle, std::uint64_t offset) override {
    return real().seek(handle, offset);
  }
  [[nodiscard]] Status truncate(const Handle& handle, std::uint64_t size) override {
    return real().truncate(handle, size);
  }
  [[nodiscard]] Status sync(const Handle& handle) override { return real().sync(handle); }
  [[nodiscard]] Status sync_file_system(const Handle& handle) override {
    return real().sync_file_system(handle);
  }
  bool reports_file_system_sync_errors() override { return true; }
  [[nodiscard]] Status set_owner(const Handle& handle, std::uint32_t uid,
                                 std::uint32_t gid) override {
    return real().set_owner(handle, uid, gid);
  }
  [[nodiscard]] Status set_owner_at(const Handle& parent, std::string_view name, std::uint32_t uid,
                                    std::uint32_t gid) override {
    return real().set_owner_at(parent, name, uid, gid);
  }
  [[nodiscard]] Status set_mode(const Handle& handle, std::uint32_t mode) override {
    return real().set_mode(handle, mode);
  }
  [[nodiscard]] Result<std::vector<os::Attribute>> read_attributes(const Handle& handle) override {
    return real().read_attributes(handle);
  }
  [[nodiscard]] Status set_attribute(const Handle& handle,
                                     const os::Attribute& attribute) override {
    return real().set_attribute(handle, attribute);
  }
  [[nodiscard]] Status remove_attribute(const Handle& handle, std::string_view name) override {
    return real().remove_attribute(handle, name);
  }
  [[nodiscard]] Status carry_flags(const os::Handle& from, const os::Handle& to) override {
    return real().carry_flags(from, to);
  }
  [[nodiscard]] Status make_directory(const Handle& parent, std::string_view name,
                                      std::uint32_t mode) override {
    return real().make_directory(parent, name, mode);
  }
  [[nodiscard]] Status make_symlink(const Handle& parent, std::string_view name,
                                    std::string_view target) override {
    return real().make_symlink(parent, name, target);
  }
  [[nodiscard]] Result<std::string> read_symlink(const Handle& parent,
                                                 std::string_view name) override {
    return real().read_symlink(parent, name);
  }
  [[nodiscard]] Status rename(const Handle& from_parent, std::string_view from,
                              const Handle& to_parent, std::string_view to,
                              bool no_replace) override {
    return real().rename(from_parent, from, to_parent, to, no_replace);
  }
  [[nodiscard]] Status remove_file(const Handle& parent, std::string_view name) override {
    return real().remove_file(parent, name);
  }
  [[nodiscard]] Status remove_directory(const Handle& parent, std::string_view name) override {
    return real().remove_directory(parent, name);
  }
  [[nodiscard]] Result<std::vector<os::DirectoryEntry>> list(const Handle& directory) override {
    return real().list(directory);
  }
  [[nodiscard]] Result<os::Space> space(const Handle& handle) override {
    return real().space(handle);
  }

 private:
  // Handles belong to the real one.
  void close(int) noexcept override {}
  os::Files& real() {
    if (act_ && places_.contains(calls_)) act_();
    ++calls_;
    return *real_;
  }

  std::unique_ptr<os::Files> real_;
  std::set<std::size_t> places_;
  std::function<void()> act_;
  std::size_t calls_ = 0;
};

// Exchanges two names; counts how often both were there.
struct Swap {
  std::string a, b;
  long* count = nullptr;
  void operator()() const {
    *count += ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 1 : 0;
  }
};

struct Tally {
  int rounds = 0, succeeded = 0, other = 0, violations = 0;
  long swaps = 0;
  void show(const char* what) const {
    WARN(what << ": " << rounds << " rounds, " << swaps << " swaps, " << succeeded
              << " actions succeeded, " << other << " did not, violations " << violations);
  }
  // Every round met a swap, some actions noticed it and some did not have to, and nothing was lent.
  void check(const char* what) const {
    show(what);
    CHECK(violations == 0);
    CHECK(swaps >= kRounds);
    CHECK(other > 0);
    CHECK(succeeded > 0);
  }
};

// Passes over `resources`; the two names below the root are exchanged between any two calls of one,
// by a fixed seed.
Tally race(Ground& field, const std::string& a, const std::string& b,
           const std::function<std::vector<model::Resource>(Scene&, int)>& resources,
           bool with_ctime = true) {
  Tally tally;
  Interrupted files(os_linux::make_files());
  Scene scene(files, field.path("/root"));
  scene.machine().trusted_uid = 0;
  const auto before = field.victim(with_ctime);
  std::mt19937_64 random(20261129);
  const Swap swap{field.path("/root" + a), field.path("/root" + b), &tally.swaps};
  for (; tally.rounds < kRounds; ++tally.rounds) {
    Pass pass(scene);
    const auto declared = resources(scene, tally.rounds);
    files.arm(random, 1 + tally.rounds % 3, swap);
    const auto done = pass.run(declared);
    for (const auto& [ordinal, result] : done.results)
      ++(result.error || result.skipped ? tally.other : tally.succeeded);
    if (field.victim(with_ctime) != before) ++tally.violations;
  }
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
  tally.check("folder and link");
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
  tally.check("file and link");
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
  tally.check("file and hard link");
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
  Interrupted files(os_linux::make_files());
  Scene scene(files, field.path("/root"));
  scene.machine().trusted_uid = 0;
  std::mt19937_64 random(20261129);
  Tally tally;
  const auto made = field.path("/root/home/made");
  for (; tally.rounds < kRounds; ++tally.rounds) {
    Pass pass(scene);
    const auto temp =
        field.path("/root/home/" + resource::temp_name(pass.options.store, pass.options.pass, 0));
    files.arm(random, 2, Swap{own, temp, &tally.swaps});
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
    ::rmdir(made.c_str());
    if (::fchown(folder, before.st_uid, before.st_gid) != 0) ++tally.violations;
  }
  ::close(folder);
  tally.show("new folder and root's own");
  CHECK(tally.violations == 0);
  CHECK(tally.swaps > kRounds / 100);
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
  tally.check("purged folder and link");
}
