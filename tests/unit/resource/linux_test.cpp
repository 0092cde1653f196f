// The same on the real file system of this machine, in a scratch folder. What only root may do is
// done when the test runs as root.
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "pass.hpp"

using namespace datum;
using namespace datum::test;
using core::Condition;
using model::Field;

namespace {

struct Real {
  Scratch scratch;
  std::unique_ptr<os::Files> files = os_linux::make_files();
  Scene scene{*files, scratch.path()};
  Pass pass{scene};

  Real() { scene.machine().trusted_uid = ::geteuid(); }
  std::string leftovers() {
    std::string names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path()))
      if (entry.path().filename().string().starts_with(".datum-"))
        names += entry.path().string() + "\n";
    return names;
  }
  struct stat stat(const std::string& below) {
    struct stat raw {};
    if (::lstat(scratch.path(below).c_str(), &raw) != 0) raw.st_mode = 0;
    return raw;
  }
};

bool is_root() {
  return ::geteuid() == 0;
}

// A socket's name; nobody listens at it.
int make_socket(const std::string& path) {
  return ::mknod(path.c_str(), S_IFSOCK | 0644, 0);
}

// Zeros with a mark at the beginning and in the middle.
class SparseSource final : public ByteSource {
 public:
  explicit SparseSource(std::uint64_t size) : size_(size) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min<std::uint64_t>(out.size(), size_ - at_);
    std::fill_n(out.begin(), count, std::byte{0});
    for (const auto mark : {std::uint64_t{0}, size_ / 2})
      if (mark >= at_ && mark < at_ + count) out[mark - at_] = std::byte{'x'};
    at_ += count;
    return static_cast<std::size_t>(count);
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};
class SparseContent final : public ContentSource {
 public:
  explicit SparseContent(std::uint64_t size) : size_(size) {}
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest&) const override {
    return std::unique_ptr<ByteSource>(std::make_unique<SparseSource>(size_));
  }

 private:
  std::uint64_t size_;
};

std::uint64_t status_kib(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1));
  return 0;
}

}  // namespace

TEST_CASE("resource: on a real disk one wave makes everything, and the next look is converged") {
  Real r;
  r.scratch.write("/etc/replaced", "old");
  std::filesystem::create_symlink("old", r.scratch.path("/etc/link"));
  const std::vector<model::Resource> good = {
      a_file("/etc/replaced").content(r.scene.content, "new").mode("0640").done(),
      a_file("/etc/created").content(r.scene.content, "new").mode("0600").done(),
      a_symlink("/etc/link", "new").done(), a_directory("/etc/folder").mode("0711").done()};
  const auto done = r.pass.run(good);
  for (const auto& one : good) CHECK(done.outcome(one.target.name) == "succeeded");
  CHECK(r.scratch.read("/etc/replaced") == "new");
  CHECK((r.stat("/etc/folder").st_mode & 07777) == 0711);
  const auto again = r.pass.run(good);
  for (const auto& seen : again.before) CHECK(seen.condition == Condition::converged);
  CHECK(again.results.empty());
  CHECK(r.leftovers().empty());
}

TEST_CASE("resource: [F18] odd names are files like others on a real disk") {
  Real r;
  std::filesystem::create_directory(r.scratch.path("/etc"));
  std::vector<model::Resource> all;
  for (const auto& name : {std::string("a=b"), std::string(" a b"), std::string("-rf"),
                           std::string("a\nb"), std::string("bad\xff\xfe"), std::string(255, 'n')})
    all.push_back(a_file("/etc/" + name).content(r.scene.content, name).done());
  const auto done = r.pass.run(all);
  for (const auto& one : all) CHECK(done.outcome(one.target.name) == "succeeded");
  CHECK(r.pass.run(all).results.empty());
  CHECK(r.leftovers().empty());
}

TEST_CASE("resource: a FIFO in a file's place is seen at once and not opened") {
  Real r;
  REQUIRE(::mkfifo(r.scratch.path("/pipe").c_str(), 0644) == 0);
  const auto file = a_file("/pipe").content(r.scene.content, "x").done();
  CHECK(drifts_of(r.scene.observe(file)) == "type: FIFO -> regular file\n");
  CHECK(r.pass.run({file}).outcome("/pipe").find("type conflict") != std::string::npos);
  CHECK(S_ISFIFO(r.stat("/pipe").st_mode));
}

TEST_CASE(
    "resource: whatever took the place of a file that Datum left is told as on first contact") {
  Real r;
  const auto file = a_file("/own").content(r.scene.content, "x").done();
  const auto path = r.scratch.path("/own");
  const auto first_contact = [&](const std::function<int()>& put) {
    std::filesystem::remove_all(path);
    REQUIRE(put() == 0);
    return drifts_of(r.scene.observe(file));
  };
  const std::vector<std::function<int()>> others{
      [&] { return ::mkfifo(path.c_str(), 0644); }, [&] { return ::mkdir(path.c_str(), 0755); },
      [&] { return ::symlink("/etc/passwd", path.c_str()); }, [&] { return make_socket(path); }};
  for (const auto& put : others) {
    const auto expected = first_contact(put);
    std::filesystem::remove_all(path);
    Pass pass(r.scene);
    REQUIRE(pass.run({file}).outcome("/own") == "succeeded");
    std::filesystem::remove(path);
    REQUIRE(put() == 0);
    const auto again = pass.run({file});
    CHECK(drifts_of(again.before.front()) == expected);
  }
}

TEST_CASE("resource: [F04] [F33] owners and set-uid on a real disk, by numbers too") {
  if (!is_root()) return;
  Real r;
  r.scratch.write("/x", "text");
  REQUIRE(::chown(r.scratch.path("/x").c_str(), 7779, 7780) == 0);
  auto file =
      a_file("/x").content(r.scene.content, "text").owner("test").group("4321").mode("4755");
  CHECK(drifts_of(r.scene.observe(file.done())) ==
        "owner: 7779 -> test\ngroup: 7780 -> 4321\nmode: 0644 -> 4755\n");
  CHECK(r.pass.run({file.done()}).outcome("/x") == "succeeded");
  CHECK(r.stat("/x").st_uid == 1234);
  CHECK(r.stat("/x").st_gid == 4321);
  CHECK((r.stat("/x").st_mode & 07777) == 04755);
  CHECK(r.pass.run({file.done()}).results.empty());
}

TEST_CASE(
    "resource: [F13] a replaced file has the flags of chattr that the old one had, no others") {
  if (!is_root()) return;
  Real r;
  r.scratch.write("/x", "old");
  const auto path = r.scratch.path("/x");
  const auto flags_of = [&path] {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    int flags = 0;
    const bool has_flags = ::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
    ::close(fd);
    return has_flags ? std::optional<int>(flags) : std::nullopt;
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto flags = flags_of().value_or(0) | FS_NODUMP_FL | FS_NOATIME_FL | FS_SYNC_FL;
  const bool is_set = ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
  ::close(fd);
  if (!is_set) {
    WARN("skipped: the scratch folder's file system has no flags");
    return;
  }
  const auto before = flags_of();
  auto file = a_file("/x").content(r.scene.content, "new");
  CHECK(r.pass.run({file.done()}).outcome("/x") == "succeeded");
  CHECK(r.scratch.read("/x") == "new");
  CHECK(flags_of() == before);
}

TEST_CASE(
    "resource: [F02] [F05] label and ACL of the old file are on the new one, capabilities not") {
  if (!is_root()) return;
  Real r;
  r.scratch.write("/x", "old");
  const auto path = r.scratch.path("/x");
  const std::string label = "system_u:object_r:net_conf_t:s0";
  const bool labelled =
      ::setxattr(path.c_str(), "security.selinux", label.data(), label.size(), 0) == 0;
  // user::rw-, user:1234:rw-, group::r--, mask::rw-, other::r--
  const unsigned char acl[] = {2,    0,    0,    0,    1,    0,    6,    0,    0xff, 0xff, 0xff,
                               0xff, 2,    0,    6,    0,    0xd2, 4,    0,    0,    4,    0,
                               4,    0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,    6,    0,    0xff,
                               0xff, 0xff, 0xff, 0x20, 0,    4,    0,    0xff, 0xff, 0xff, 0xff};
  const bool listed = ::setxattr(path.c_str(), "system.posix_acl_access", acl, sizeof acl, 0) == 0;
  const unsigned char cap[] = {1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  REQUIRE(::setxattr(path.c_str(), "security.capability", cap, sizeof cap, 0) == 0);
  auto file = a_file("/x").content(r.scene.content, "new").mode("0640");
  CHECK(r.pass.run({file.done()}).outcome("/x") == "succeeded");
  CHECK(r.pass.run({file.done()}).results.empty());
  char got[256];
  if (labelled)
    CHECK(std::string(got, static_cast<std::size_t>(
                               std::max<ssize_t>(0, ::getxattr(path.c_str(), "security.selinux",
                                                               got, sizeof got)))) == label);
  if (listed)
    CHECK(::getxattr(path.c_str(), "system.posix_acl_access", got, sizeof got) ==
          static_cast<ssize_t>(sizeof acl));
  CHECK(::getxattr(path.c_str(), "security.capability", got, sizeof got) < 0);
}

TEST_CASE("resource: a default ACL of the folder does not get onto a file that had none") {
  if (!is_root()) return;
  Real r;
  r.scratch.write("/d/x", "old");
  const unsigned char acl[] = {2,    0,    0,    0,    1,    0,    7,    0,    0xff, 0xff, 0xff,
                               0xff, 2,    0,    7,    0,    0xd2, 4,    0,    0,    4,    0,
                               5,    0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,    7,    0,    0xff,
                               0xff, 0xff, 0xff, 0x20, 0,    5,    0,    0xff, 0xff, 0xff, 0xff};
  if (::setxattr(r.scratch.path("/d").c_str(), "system.posix_acl_default", acl, sizeof acl, 0) != 0)
    return;
  auto file = a_file("/d/x").content(r.scene.content, "new").mode("0644");
  CHECK(r.pass.run({file.done()}).outcome("/d/x") == "succeeded");
  char got[256];
  CHECK(::getxattr(r.scratch.path("/d/x").c_str(), "system.posix_acl_access", got, sizeof got) < 0);
  CHECK((r.stat("/d/x").st_mode & 07777) == 0644);
}

TEST_CASE("resource: [F01] a bind-mounted file is refused, or written in place") {
  if (!is_root()) return;
  Real r;
  r.scratch.write("/hosts", "image");
  r.scratch.write("/mounted", "runtime's");
  const auto target = r.scratch.path("/hosts");
  if (::mount(r.scratch.path("/mounted").c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return;
  auto file = a_file("/hosts").content(r.scene.content, "ours").mode("0644");
  const auto refused = r.pass.run({file.done()});
  const auto without_mode = refused.outcome("/hosts");
  const auto left = r.leftovers();
  file.with(Field::replace, std::string("inPlace"));
  const auto done = r.pass.run({file.done()});
  const auto again = r.pass.run({file.done()});
  REQUIRE(::umount2(target.c_str(), MNT_DETACH) == 0);
  CHECK(without_mode.find("mount point") != std::string::npos);
  CHECK(left.empty());
  CHECK(done.outcome("/hosts") == "succeeded");
  CHECK_FALSE(done.result("/hosts").atomic);
  CHECK(again.results.empty());
  CHECK(r.scratch.read("/mounted") == "ours");
  CHECK(r.scratch.read("/hosts") == "image");
}

TEST_CASE("resource: a device in a file's place stays a device") {
  if (!is_root()) return;
  Real r;
  if (::mknod(r.scratch.path("/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) return;
  const auto file = a_file("/null").content(r.scene.content, "x").done();
  CHECK(r.pass.run({file}).outcome("/null").find("type conflict") != std::string::npos);
  CHECK(S_ISCHR(r.stat("/null").st_mode));
}

TEST_CASE("resource: [F15] a running program is replaced and keeps running the old file") {
  Real r;
  std::filesystem::copy_file("/bin/sleep", r.scratch.path("/tool"));
  const auto path = r.scratch.path("/tool");
  char name[] = "sleep";
  char time[] = "60";
  char* argv[] = {name, time, nullptr};
  pid_t child = 0;
  REQUIRE(::posix_spawn(&child, path.c_str(), nullptr, nullptr, argv, nullptr) == 0);
  const auto old = r.stat("/tool").st_ino;
  auto file = a_file("/tool").content(r.scene.content, "#!/bin/sh\n").mode("0755");
  const auto done = r.pass.run({file.done()});
  int status = 0;
  const bool running = ::waitpid(child, &status, WNOHANG) == 0;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  CHECK(done.outcome("/tool") == "succeeded");
  CHECK(running);
  CHECK(r.stat("/tool").st_ino != old);
}

TEST_CASE("resource: [S06] a user's link in his own folder is not followed") {
  if (!is_root()) return;
  Real r;
  r.scratch.write("/root/keys", "root's");
  std::filesystem::create_directories(r.scratch.path("/home/u"));
  std::filesystem::create_symlink(r.scratch.path("/root"), r.scratch.path("/home/u/.ssh"));
  REQUIRE(::lchown(r.scratch.path("/home/u").c_str(), 1234, 1234) == 0);
  REQUIRE(::lchown(r.scratch.path("/home/u/.ssh").c_str(), 1234, 1234) == 0);
  const auto file = a_file("/home/u/.ssh/keys").content(r.scene.content, "x").done();
  CHECK(r.scene.observe(file).condition == Condition::unknown);
  CHECK(r.scratch.read("/root/keys") == "root's");
}

TEST_CASE(
    "resource: [F16] a large sparse file is hashed and copied in little memory, with its holes") {
  constexpr std::uint64_t kSize = 256ULL << 20;
  Real r;
  const SparseContent content(kSize);
  crypto::Sha256 sha;
  {
    SparseSource source(kSize);
    Bytes buffer(1 << 20);
    while (const auto count = *source.read(buffer)) sha.update(ByteView(buffer).first(count));
  }
  model::Content declared;
  declared.digest = sha.finish();
  declared.size = kSize;
  r.scene.machine().content = &content;
  const auto file = a_file("/big").with(Field::content, declared).done();
  std::ofstream("/proc/self/clear_refs") << "5";
  const auto before = status_kib("VmRSS");
  const auto done = r.pass.run({file});
  CHECK(done.outcome("/big") == "succeeded");
  CHECK(r.scene.observe(file).condition == Condition::converged);
  CHECK(status_kib("VmHWM") - before < 16 * 1024);
  CHECK(static_cast<std::uint64_t>(r.stat("/big").st_size) == kSize);
  CHECK(static_cast<std::uint64_t>(r.stat("/big").st_blocks) * 512 < (1U << 20));

  // Copied from file to file where a hard link is broken.
  REQUIRE(::link(r.scratch.path("/big").c_str(), r.scratch.path("/other").c_str()) == 0);
  auto broken = a_file("/big").mode("0600");
  broken.with(Field::hard_links, std::string("break"));
  CHECK(r.pass.run({broken.done()}).outcome("/big") == "succeeded");
  CHECK(r.stat("/big").st_nlink == 1);
  CHECK(static_cast<std::uint64_t>(r.stat("/big").st_size) == kSize);
  CHECK(static_cast<std::uint64_t>(r.stat("/big").st_blocks) * 512 < (1U << 20));
  CHECK(r.scene.observe(file).condition == Condition::converged);
}
