// What only the real file system can show: flags of descriptors, signals, files of /proc.
#include "datum/os_linux/linux_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

using namespace datum;
using namespace datum::os;

namespace {

struct Scratch {
  std::string path =
      std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + "/datum-linux-XXXXXX";
  std::unique_ptr<Files> files = os_linux::make_files();
  Handle root;
  Scratch() {
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    root = open_root(path);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path); }

  Handle open_root(const std::string& at) {
    auto handle = files->open_root(at);
    REQUIRE(handle);
    return std::move(*handle);
  }
};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("linux files: every descriptor is close-on-exec, and reading leaves no access time") {
  Scratch s;
  const auto created = s.files->create_file(s.root, "file");
  REQUIRE(created);
  REQUIRE(s.files->make_directory(s.root, "dir", 0755));
  const auto reader = s.files->open_file(s.root, "file", Access::read);
  const auto writer = s.files->open_file(s.root, "file", Access::write);
  const auto directory = s.files->open_directory(s.root, "dir", Follow::no);
  const auto followed = s.files->open_directory(s.root, "dir", Follow::yes);
  REQUIRE(reader);
  REQUIRE(writer);
  REQUIRE(directory);
  REQUIRE(followed);
  for (const int descriptor : {s.root.value(), created->value(), reader->value(), writer->value(),
                               directory->value(), followed->value()})
    CHECK((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
  for (const int descriptor : {reader->value(), directory->value()})
    CHECK((::fcntl(descriptor, F_GETFL) & O_NOATIME) != 0);
}

TEST_CASE("linux files: no call leaves a descriptor open, whether it succeeds or fails") {
  Scratch s;
  REQUIRE(s.files->make_symlink(s.root, "link", "nowhere"));
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    const auto name = "f" + std::to_string(i);
    CHECK(s.files->create_file(s.root, name).has_value());
    CHECK(s.files->open_file_with_stat(s.root, name, Access::read).has_value());
    CHECK(s.files->make_directory(s.root, "d" + name, 0700).has_value());
    CHECK_FALSE(s.files->make_directory(s.root, "d" + name, 0700).has_value());
    CHECK_FALSE(s.files->open_file(s.root, "link", Access::read).has_value());
    CHECK_FALSE(s.files->open_directory(s.root, name, Follow::no).has_value());
    CHECK(s.files->list(s.root).has_value());
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("linux files: a file of /proc is read to its end though it has no size and no holes") {
  Scratch s;
  const auto proc = s.open_root("/proc/self");
  const auto opened = s.files->open_file_with_stat(proc, "status", Access::read);
  REQUIRE(opened);
  CHECK(opened->stat.size == 0);
  const auto data = s.files->seek_data(opened->handle, 0);
  REQUIRE(data);
  CHECK(*data == 0);
  const auto hole = s.files->seek_hole(opened->handle, 0);
  REQUIRE(hole);
  CHECK(*hole > 1'000'000);
  Bytes buffer(5);
  const auto count = s.files->read(opened->handle, buffer);
  REQUIRE(count);
  CHECK(as_text(ByteView(buffer)) == "Name:");
}

TEST_CASE("linux files: a device is told from a file without being opened") {
  Scratch s;
  const auto dev = s.open_root("/dev");
  CHECK(s.files->stat_at(dev, "null")->type == FileType::character_device);
  const auto opened = s.files->open_file(dev, "null", Access::write);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == ErrorCode::invalid_argument);
  CHECK(opened.error().message() == "open file: a character device");
}

TEST_CASE("linux files: no attributes where the file system has none") {
  Scratch s;
  const auto proc = s.open_root("/proc/self");
  const auto status = s.files->open_file(proc, "status", Access::read);
  REQUIRE(status);
  const auto attributes = s.files->read_attributes(*status);
  REQUIRE(attributes);
  CHECK(attributes->empty());
  const auto set = s.files->set_attribute(*status, {"user.x", to_bytes("1")});
  REQUIRE_FALSE(set);
}

TEST_CASE("linux files: a handle opened only as a place has no attributes to read") {
  Scratch s;
  REQUIRE(s.files->create_file(s.root, "file"));
  const int place = ::openat(s.root.value(), "file", O_PATH | O_CLOEXEC);
  REQUIRE(place >= 0);
  const Handle handle(*s.files, place);
  const auto attributes = s.files->read_attributes(handle);
  REQUIRE_FALSE(attributes);
  CHECK(attributes.error().code() == ErrorCode::unsupported);
}

TEST_CASE("linux files: renames across file systems are told apart from other failures") {
  Scratch s;
  REQUIRE(s.files->create_file(s.root, "file"));
  const auto proc = s.open_root("/proc/self");
  const auto renamed = s.files->rename(s.root, "file", proc, "file", false);
  REQUIRE_FALSE(renamed);
  CHECK(renamed.error().code() == ErrorCode::cross_device);
  CHECK(s.files->stat_at(s.root, "file").has_value());
}

TEST_CASE("linux files: the kernel's version decides whether a whole-system sync tells of errors") {
  const auto files = os_linux::make_files();
  // All kernels that the tests run on are newer than 5.8.
  CHECK(files->reports_file_system_sync_errors());
}

TEST_CASE("linux files: attributes that would fill the memory are refused") {
  // ext4 allows a few kilobytes; a file system in memory has no such limit.
  std::string folder = "/dev/shm/datum-linux-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    WARN("skipped: no file system in memory");
    return;
  }
  const auto files = os_linux::make_files();
  {
    const auto parent = files->open_root(folder);
    REQUIRE(parent);
    const auto file = files->create_file(*parent, "x");
    REQUIRE(file);
    const std::string value(60'000, 'v');
    int set = 0;
    for (; set < 17; ++set) {
      const auto name = "trusted.n" + std::to_string(set);
      if (::fsetxattr(file->value(), name.c_str(), value.data(), value.size(), 0) != 0) break;
    }
    if (set == 17) {
      const auto read = files->read_attributes(*file);
      REQUIRE(read);
      CHECK(read->size() == 17);
      REQUIRE(::fsetxattr(file->value(), "trusted.n17", value.data(), value.size(), 0) == 0);
      const auto more = files->read_attributes(*file);
      REQUIRE_FALSE(more);
      CHECK(more.error().code() == ErrorCode::limit_exceeded);
    } else {
      WARN("skipped: no room for that many attributes, or not root");
    }
  }
  std::filesystem::remove_all(folder);
}
