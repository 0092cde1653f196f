// What every os::Files must do: the contract of files.hpp, sentence by sentence.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "files_fixtures.hpp"

using namespace datum;
using namespace datum::os;
using datum::conformance::LinuxScratch;
using datum::conformance::ModelScratch;

#define FILES_TEST(name) TEMPLATE_TEST_CASE("files: " name, "[files]", LinuxScratch, ModelScratch)

namespace {

template <class T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().message());
  return std::move(*result);
}
void must(Status status) {
  if (!status) FAIL(status.error().message());
}
template <class T>
ErrorCode code_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error().code();
}

template <class Scratch>
struct Opened {
  Scratch scratch;
  Files& files = scratch.files();
  Handle root = must(files.open_root(scratch.path()));

  void put(std::string_view name, std::string_view content) {
    const auto handle = must(files.create_file(root, name));
    must(files.write(handle, as_bytes(content)));
  }
  std::string content(std::string_view name) {
    const auto handle = must(files.open_file(root, name, Access::read));
    return rest(handle);
  }
  std::string rest(const Handle& handle) {
    std::string text;
    std::string buffer(7, '\0');  // smaller than the contents: reads continue
    while (true) {
      const auto count =
          must(files.read(handle, {reinterpret_cast<std::byte*>(buffer.data()), buffer.size()}));
      if (count == 0) return text;
      text.append(buffer, 0, count);
    }
  }
  bool exists(std::string_view name) { return files.stat_at(root, name).has_value(); }
};

}  // namespace

FILES_TEST("what was written is read back from the start by another handle") {
  Opened<TestType> t;
  t.put("a", "one two three");
  CHECK(t.content("a") == "one two three");
  const auto stat = must(t.files.stat_at(t.root, "a"));
  CHECK(stat.type == FileType::regular);
  CHECK(stat.size == 13);
  CHECK(stat.mode == 0600);
  CHECK(stat.links == 1);
  CHECK(stat.uid == t.scratch.own_uid());
}

FILES_TEST("the stat of an opened file equals the stat of its name and of its handle") {
  Opened<TestType> t;
  t.put("a", "x");
  const auto opened = must(t.files.open_file_with_stat(t.root, "a", Access::read));
  const auto by_name = must(t.files.stat_at(t.root, "a"));
  const auto by_handle = must(t.files.stat(opened.handle));
  for (const auto& other : {by_name, by_handle}) {
    CHECK(opened.stat.device == other.device);
    CHECK(opened.stat.inode == other.inode);
    CHECK(opened.stat.ctime_ns == other.ctime_ns);
    CHECK(opened.stat.mtime_ns == other.mtime_ns);
    CHECK(opened.stat.mount == other.mount);
    CHECK(opened.stat.size == 1);
  }
  CHECK_FALSE(opened.stat.mount_root);
}

FILES_TEST("create_file never takes a name that exists") {
  Opened<TestType> t;
  t.put("a", "old");
  must(t.files.make_symlink(t.root, "dangling", "nowhere"));
  CHECK(code_of(t.files.create_file(t.root, "a")) == ErrorCode::already_exists);
  CHECK(code_of(t.files.create_file(t.root, "dangling")) == ErrorCode::already_exists);
  CHECK(t.content("a") == "old");
  CHECK_FALSE(t.exists("nowhere"));
}

FILES_TEST("no call takes a name that is not one component") {
  Opened<TestType> t;
  t.put("a", "x");
  using namespace std::string_view_literals;
  for (const auto name : {""sv, "."sv, ".."sv, "a/b"sv, "/a"sv, "a\0b"sv}) {
    CAPTURE(name);
    CHECK(code_of(t.files.open_directory(t.root, name, Follow::yes)) ==
          ErrorCode::invalid_argument);
    CHECK(code_of(t.files.open_file(t.root, name, Access::read)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.create_file(t.root, name)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.stat_at(t.root, name)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.make_directory(t.root, name, 0755)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.make_symlink(t.root, name, "x")) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.read_symlink(t.root, name)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.rename(t.root, "a", t.root, name, false)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.rename(t.root, name, t.root, "b", false)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.remove_file(t.root, name)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.remove_directory(t.root, name)) == ErrorCode::invalid_argument);
    CHECK(code_of(t.files.set_owner_at(t.root, name, UINT32_MAX, UINT32_MAX)) ==
          ErrorCode::invalid_argument);
  }
  const std::string too_long(256, 'n');
  CHECK(code_of(t.files.create_file(t.root, too_long)) == ErrorCode::invalid_argument);
  CHECK(t.exists("a"));
}

FILES_TEST(
    "names are bytes: spaces, newlines, dashes, broken UTF-8 and 255 bytes live side by side "
    "[F18]") {
  Opened<TestType> t;
  const std::vector<std::string> names = {
      "a=b", " a b", "-rf", "new\nline", "\xff\xfe\x80", std::string(255, 'x'), "..a", "$(id)"};
  for (const auto& name : names) t.put(name, name);
  for (const auto& name : names) CHECK(t.content(name) == name);
  std::set<std::string> listed;
  for (const auto& entry : must(t.files.list(t.root))) listed.insert(entry.name);
  CHECK(listed == std::set<std::string>(names.begin(), names.end()));
}

FILES_TEST("a link is never opened as a file or, without follow, as a directory") {
  Opened<TestType> t;
  t.put("file", "x");
  must(t.files.make_directory(t.root, "dir", 0755));
  must(t.files.make_symlink(t.root, "to-file", "file"));
  must(t.files.make_symlink(t.root, "to-dir", "dir"));
  must(t.files.make_symlink(t.root, "loop", "loop"));
  for (const auto access : {Access::read, Access::write})
    CHECK(code_of(t.files.open_file(t.root, "to-file", access)) == ErrorCode::symlink);
  CHECK(code_of(t.files.open_directory(t.root, "to-dir", Follow::no)) == ErrorCode::symlink);
  CHECK(code_of(t.files.open_directory(t.root, "to-file", Follow::no)) == ErrorCode::symlink);
  CHECK(code_of(t.files.open_directory(t.root, "loop", Follow::yes)) == ErrorCode::symlink);
  const auto followed = must(t.files.open_directory(t.root, "to-dir", Follow::yes));
  CHECK(must(t.files.stat(followed)).inode == must(t.files.stat_at(t.root, "dir")).inode);
  CHECK(must(t.files.stat_at(t.root, "to-dir")).type == FileType::symlink);
  CHECK(must(t.files.read_symlink(t.root, "to-file")) == "file");
}

FILES_TEST("a FIFO is told from a file without waiting for its writer") {
  Opened<TestType> t;
  t.scratch.make_fifo("fifo");
  CHECK(must(t.files.stat_at(t.root, "fifo")).type == FileType::fifo);
  for (const auto access : {Access::read, Access::write, Access::read_expected})
    CHECK(code_of(t.files.open_file(t.root, "fifo", access)) == ErrorCode::invalid_argument);
  CHECK(code_of(t.files.open_directory(t.root, "fifo", Follow::no)) == ErrorCode::not_directory);
}

FILES_TEST(
    "where a file is expected, it is opened with its stat, and anything else is refused alike") {
  Opened<TestType> t;
  t.put("file", "text");
  must(t.files.make_directory(t.root, "dir", 0755));
  must(t.files.make_symlink(t.root, "link", "file"));
  const auto opened = must(t.files.open_file_with_stat(t.root, "file", Access::read_expected));
  CHECK(opened.stat.inode == must(t.files.stat_at(t.root, "file")).inode);
  CHECK(opened.stat.size == 4);
  for (const auto* name : {"dir", "link", "none"})
    CHECK(code_of(t.files.open_file(t.root, name, Access::read_expected)) ==
          code_of(t.files.open_file(t.root, name, Access::read)));
}

FILES_TEST("missing names and wrong types have codes of their own") {
  Opened<TestType> t;
  t.put("file", "x");
  must(t.files.make_directory(t.root, "dir", 0755));
  CHECK(code_of(t.files.stat_at(t.root, "none")) == ErrorCode::not_found);
  CHECK(code_of(t.files.open_file(t.root, "none", Access::read)) == ErrorCode::not_found);
  CHECK(code_of(t.files.open_directory(t.root, "none", Follow::no)) == ErrorCode::not_found);
  CHECK(code_of(t.files.remove_file(t.root, "none")) == ErrorCode::not_found);
  CHECK(code_of(t.files.rename(t.root, "none", t.root, "x", false)) == ErrorCode::not_found);
  CHECK(code_of(t.files.open_file(t.root, "dir", Access::read)) == ErrorCode::is_directory);
  CHECK(code_of(t.files.open_directory(t.root, "file", Follow::no)) == ErrorCode::not_directory);
  CHECK(code_of(t.files.remove_file(t.root, "dir")) == ErrorCode::is_directory);
  CHECK(code_of(t.files.remove_directory(t.root, "file")) == ErrorCode::not_directory);
  CHECK(code_of(t.files.open_root("relative")) == ErrorCode::invalid_argument);
  CHECK(code_of(t.files.open_root(t.scratch.path() + "/none")) == ErrorCode::not_found);
  CHECK(code_of(t.files.open_root(t.scratch.path() + "/file")) == ErrorCode::not_directory);
}

FILES_TEST("writing in place keeps the inode and needs a handle opened for it") {
  Opened<TestType> t;
  t.put("a", "0123456789");
  const auto inode = must(t.files.stat_at(t.root, "a")).inode;
  const auto reader = must(t.files.open_file(t.root, "a", Access::read));
  CHECK_FALSE(t.files.write(reader, as_bytes("no")).has_value());
  CHECK_FALSE(t.files.truncate(reader, 0).has_value());
  const auto writer = must(t.files.open_file(t.root, "a", Access::write));
  must(t.files.seek(writer, 8));
  must(t.files.write(writer, as_bytes("xyz")));
  CHECK(t.content("a") == "01234567xyz");
  must(t.files.truncate(writer, 4));
  CHECK(t.content("a") == "0123");
  must(t.files.seek(writer, 0));
  CHECK(t.rest(writer) == "0123");
  CHECK(must(t.files.stat_at(t.root, "a")).inode == inode);
}

FILES_TEST("holes are found and read as zeros") {
  Opened<TestType> t;
  constexpr std::uint64_t kMiB = 1024 * 1024;
  const auto handle = must(t.files.create_file(t.root, "sparse"));
  must(t.files.seek(handle, kMiB));
  must(t.files.write(handle, as_bytes(std::string(4096, 'd'))));
  must(t.files.truncate(handle, 3 * kMiB));
  const auto stat = must(t.files.stat(handle));
  CHECK(stat.size == 3 * kMiB);
  CHECK(stat.allocated < kMiB);
  const auto data = must(t.files.seek_data(handle, 0));
  CHECK(data == kMiB);
  std::byte byte{};
  CHECK(must(t.files.read(handle, {&byte, 1})) == 1);
  CHECK(static_cast<char>(byte) == 'd');
  CHECK(must(t.files.seek_hole(handle, data)) == kMiB + 4096);
  CHECK(must(t.files.read(handle, {&byte, 1})) == 1);  // the offset is where the data began
  CHECK(static_cast<char>(byte) == 'd');
  CHECK(must(t.files.seek_data(handle, 2 * kMiB)) == 3 * kMiB);
  CHECK(must(t.files.read(handle, {&byte, 1})) == 0);
  must(t.files.seek(handle, 100));
  CHECK(must(t.files.read(handle, {&byte, 1})) == 1);
  CHECK(byte == std::byte{0});
}

FILES_TEST("offsets beyond the largest file are refused") {
  Opened<TestType> t;
  const auto handle = must(t.files.create_file(t.root, "a"));
  CHECK(code_of(t.files.seek(handle, UINT64_MAX)) == ErrorCode::limit_exceeded);
}

FILES_TEST("rename replaces what is there, and does not where it may not") {
  Opened<TestType> t;
  t.put("new", "new");
  t.put("old", "old");
  const auto inode = must(t.files.stat_at(t.root, "new")).inode;
  CHECK(code_of(t.files.rename(t.root, "new", t.root, "old", true)) == ErrorCode::already_exists);
  CHECK(t.content("old") == "old");
  CHECK(t.content("new") == "new");
  must(t.files.rename(t.root, "new", t.root, "old", false));
  CHECK_FALSE(t.exists("new"));
  CHECK(t.content("old") == "new");
  CHECK(must(t.files.stat_at(t.root, "old")).inode == inode);
  must(t.files.rename(t.root, "old", t.root, "free", true));
  CHECK(t.content("free") == "new");
}

FILES_TEST("rename moves between directories and keeps kinds apart") {
  Opened<TestType> t;
  must(t.files.make_directory(t.root, "a", 0755));
  must(t.files.make_directory(t.root, "b", 0755));
  t.put("file", "x");
  const auto a = must(t.files.open_directory(t.root, "a", Follow::no));
  const auto b = must(t.files.open_directory(t.root, "b", Follow::no));
  must(t.files.rename(t.root, "file", a, "moved", false));
  CHECK(must(t.files.stat_at(a, "moved")).size == 1);
  CHECK(code_of(t.files.rename(a, "moved", t.root, "b", false)) == ErrorCode::is_directory);
  CHECK(code_of(t.files.rename(t.root, "b", a, "moved", false)) == ErrorCode::not_directory);
  CHECK(code_of(t.files.rename(t.root, "b", t.root, "a", false)) == ErrorCode::not_empty);
  CHECK(code_of(t.files.rename(t.root, "a", a, "inside", false)) == ErrorCode::invalid_argument);
  must(t.files.rename(t.root, "a", b, "a", false));
  const auto moved = must(t.files.open_directory(b, "a", Follow::no));
  CHECK(must(t.files.stat_at(moved, "moved")).size == 1);
  CHECK_FALSE(t.exists("a"));
}

FILES_TEST("renaming one name of a file onto another name of it changes nothing") {
  Opened<TestType> t;
  t.put("a", "x");
  t.scratch.make_hard_link("b", "a");
  CHECK(must(t.files.stat_at(t.root, "a")).links == 2);
  must(t.files.rename(t.root, "a", t.root, "b", false));
  CHECK(t.exists("a"));
  CHECK(t.exists("b"));
}

FILES_TEST("removing a link leaves its target, removing a name leaves the other name [F08]") {
  Opened<TestType> t;
  t.put("target", "x");
  must(t.files.make_symlink(t.root, "link", "target"));
  t.scratch.make_hard_link("second", "target");
  must(t.files.remove_file(t.root, "link"));
  CHECK(t.content("target") == "x");
  must(t.files.remove_file(t.root, "target"));
  CHECK(t.content("second") == "x");
  CHECK(must(t.files.stat_at(t.root, "second")).links == 1);
}

FILES_TEST("an open file lives on without its name") {
  Opened<TestType> t;
  t.put("a", "still here");
  const auto handle = must(t.files.open_file(t.root, "a", Access::read));
  must(t.files.remove_file(t.root, "a"));
  CHECK(t.rest(handle) == "still here");
  CHECK(must(t.files.stat(handle)).links == 0);
}

FILES_TEST("directories get exactly their mode, and go only when they are empty") {
  Opened<TestType> t;
  for (const std::uint32_t mode : {0755U, 0700U, 0777U, 01777U, 0500U}) {
    must(t.files.make_directory(t.root, "d", mode));
    CHECK(must(t.files.stat_at(t.root, "d")).mode == mode);
    must(t.files.remove_directory(t.root, "d"));
  }
  must(t.files.make_directory(t.root, "full", 0755));
  CHECK(code_of(t.files.make_directory(t.root, "full", 0700)) == ErrorCode::already_exists);
  const auto full = must(t.files.open_directory(t.root, "full", Follow::no));
  must(t.files.make_symlink(full, "x", "y"));
  CHECK(code_of(t.files.remove_directory(t.root, "full")) == ErrorCode::not_empty);
  must(t.files.remove_file(full, "x"));
  must(t.files.remove_directory(t.root, "full"));
  CHECK(code_of(t.files.create_file(full, "late")) == ErrorCode::not_found);
}

FILES_TEST("a listing names every entry once with its type, and again when asked again") {
  Opened<TestType> t;
  t.put("file", "x");
  must(t.files.make_directory(t.root, "dir", 0755));
  must(t.files.make_symlink(t.root, "link", "file"));
  t.scratch.make_fifo("fifo");
  for (int i = 0; i < 3000; ++i) t.put("many-" + std::to_string(i), "");
  for (int round = 0; round < 2; ++round) {
    std::map<std::string, FileType> types;
    const auto entries = must(t.files.list(t.root));
    for (const auto& entry : entries) types[entry.name] = entry.type;
    CHECK(types.size() == 3004);
    CHECK(entries.size() == 3004);
    CHECK(types["file"] == FileType::regular);
    CHECK(types["dir"] == FileType::directory);
    CHECK(types["link"] == FileType::symlink);
    CHECK(types["fifo"] == FileType::fifo);
  }
  const auto file = must(t.files.open_file(t.root, "file", Access::read));
  CHECK(code_of(t.files.list(file)) == ErrorCode::not_directory);
}

FILES_TEST("modes are set with all twelve bits, and a change shows in ctime") {
  Opened<TestType> t;
  t.put("a", "x");
  const auto handle = must(t.files.open_file(t.root, "a", Access::write));
  for (const std::uint32_t mode : {04755U, 0644U, 0U, 01600U}) {
    must(t.files.set_mode(handle, mode));
    CHECK(must(t.files.stat_at(t.root, "a")).mode == mode);
  }
  CHECK(must(t.files.stat(handle)).ctime_ns >= must(t.files.stat(handle)).mtime_ns);
}

FILES_TEST("owners change only for root, of the name itself, and take set-uid with them [F04]") {
  Opened<TestType> t;
  t.put("a", "x");
  t.put("target", "x");
  must(t.files.make_symlink(t.root, "link", "target"));
  const auto handle = must(t.files.open_file(t.root, "a", Access::write));
  must(t.files.set_mode(handle, 04755));
  const auto by_handle = t.files.set_owner(handle, 4711, UINT32_MAX);
  const auto by_name = t.files.set_owner_at(t.root, "link", 4711, 4712);
  const auto file = must(t.files.stat_at(t.root, "a"));
  const auto link = must(t.files.stat_at(t.root, "link"));
  CHECK(must(t.files.stat_at(t.root, "target")).uid == t.scratch.own_uid());
  if (t.scratch.may_change_owners()) {
    CHECK(by_handle.has_value());
    CHECK(by_name.has_value());
    CHECK(file.uid == 4711);
    CHECK(file.gid != 4711);
    CHECK(file.mode == 0755);
    CHECK(link.uid == 4711);
    CHECK(link.gid == 4712);
  } else {
    CHECK(code_of(by_handle) == ErrorCode::permission_denied);
    CHECK(code_of(by_name) == ErrorCode::permission_denied);
    CHECK(file.uid == t.scratch.own_uid());
    CHECK(link.uid == t.scratch.own_uid());
  }
}

FILES_TEST("attributes are set, replaced, read sorted and removed") {
  Opened<TestType> t;
  t.put("a", "x");
  must(t.files.make_directory(t.root, "d", 0755));
  const auto file = must(t.files.open_file(t.root, "a", Access::write));
  const auto directory = must(t.files.open_directory(t.root, "d", Follow::no));
  for (const auto* handle : {&file, &directory}) {
    const Bytes large(3000, std::byte{7});
    const auto first = t.files.set_attribute(*handle, {"user.zeta", large});
    if (!first) {  // a scratch folder on a file system without attributes
      CHECK(first.error().code() == ErrorCode::unsupported);
      continue;
    }
    must(t.files.set_attribute(*handle, {"user.alpha", to_bytes("1")}));
    must(t.files.set_attribute(*handle, {"user.alpha", to_bytes("22")}));
    must(t.files.set_attribute(*handle, {"user.empty", {}}));
    std::vector<Attribute> own;
    for (auto& attribute : must(t.files.read_attributes(*handle)))
      if (attribute.name.starts_with("user.")) own.push_back(std::move(attribute));
    REQUIRE(own.size() == 3);
    CHECK(own[0].name == "user.alpha");
    CHECK(as_text(own[0].value) == "22");
    CHECK(own[1].name == "user.empty");
    CHECK(own[1].value.empty());
    CHECK(own[2].value == large);
    must(t.files.remove_attribute(*handle, "user.zeta"));
    CHECK(code_of(t.files.remove_attribute(*handle, "user.zeta")) == ErrorCode::not_found);
  }
  CHECK(code_of(t.files.set_attribute(file, {"nonsense", {}})) == ErrorCode::unsupported);
}

FILES_TEST("a mount point shows itself by name, and two names of one mount have one number") {
  Opened<TestType> t;
  const auto folder = must(t.files.open_root(t.scratch.mount_folder()));
  const auto mounted = must(t.files.stat_at(folder, t.scratch.mount_name()));
  CHECK(mounted.mount_root);
  CHECK(mounted.mount != must(t.files.stat(folder)).mount);
  const auto inside = must(t.files.open_directory(folder, t.scratch.mount_name(), Follow::no));
  CHECK(must(t.files.stat(inside)).mount == mounted.mount);
  CHECK(must(t.files.stat(inside)).mount_root);
  t.put("a", "x");
  CHECK(must(t.files.stat_at(t.root, "a")).mount == must(t.files.stat(t.root)).mount);
  CHECK_FALSE(must(t.files.stat_at(t.root, "a")).mount_root);
}

FILES_TEST("files, directories and whole file systems sync, and space is told") {
  Opened<TestType> t;
  t.put("a", "x");
  const auto file = must(t.files.open_file(t.root, "a", Access::read));
  must(t.files.sync(file));
  must(t.files.sync(t.root));
  must(t.files.sync_file_system(t.root));
  const auto space = must(t.files.space(t.root));
  CHECK(space.free_bytes > 0);
  CHECK(space.free_inodes > 0);
}

FILES_TEST("a borrowed handle does not close the one that it borrows from") {
  Opened<TestType> t;
  t.put("a", "x");
  {
    const auto borrowed = Handle::borrow(t.root);
    CHECK(must(t.files.stat_at(borrowed, "a")).size == 1);
  }
  CHECK(must(t.files.stat_at(t.root, "a")).size == 1);
  auto moved = std::move(t.root);
  CHECK_FALSE(static_cast<bool>(t.root));
  t.root = std::move(moved);
  CHECK(t.exists("a"));
}
