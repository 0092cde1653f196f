// The walk from a document's path to a folder and a name, over the modelled machine; the last cases
// repeat the rules that matter on the real one.
#include "datum/os/walk.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "datum/os_linux/linux_files.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::os;
using support::Call;
using support::ModelFiles;

namespace {

constexpr std::uint32_t kAnna = 1000;

struct Machine {
  ModelFiles files;
  Handle root;
  std::unique_ptr<Walker> walker;

  // Opens "/" or the folder that is to be the root; call it when the scene is set.
  Walker& walk(const std::string& root_path = "/") {
    walker.reset();
    root = std::move(*files.open_root(root_path));
    walker = std::make_unique<Walker>(files, root);
    return *walker;
  }
};

std::string real_path(Walker& walker, std::string_view path) {
  auto at = walker.locate(path);
  if (!at) return "error: " + at.error().message();
  return at->folder->real_path + (at->folder->real_path == "/" ? "" : "/") + at->name;
}

Error error_of(Walker& walker, std::string_view path) {
  auto at = walker.locate(path);
  if (at) FAIL(path << " was located");
  return std::move(at).error();
}

bool mentions(const Error& error, std::string_view text) {
  return error.message().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("walk: a path without links leads to its folder and its last name, existing or not") {
  Machine m;
  m.files.put_file("/etc/app/conf", "x");
  auto& walker = m.walk();
  CHECK(real_path(walker, "/etc/app/conf") == "/etc/app/conf");
  CHECK(real_path(walker, "/etc/app/new") == "/etc/app/new");
  CHECK(real_path(walker, "/top") == "/top");
  const auto at = walker.locate("/etc/app/conf");
  const auto stat = m.files.find_stat("/etc/app");
  CHECK(at->folder->inode == stat->inode);
  CHECK(at->folder->device == stat->device);
  CHECK(at->folder->untrusted.empty());
  CHECK(m.files.stat_at(at->folder->handle, at->name)->size == 1);
}

TEST_CASE("walk: paths that are not absolute, normalised and below the root are refused") {
  Machine m;
  m.files.put_directory("/etc");
  auto& walker = m.walk();
  using namespace std::string_view_literals;
  for (const auto path : {""sv, "/"sv, "etc"sv, "/etc/"sv, "//etc"sv, "/etc//a"sv, "/etc/./a"sv,
                          "/etc/../a"sv, "/.."sv, "/."sv, "/e\0tc/a"sv}) {
    CAPTURE(path);
    CHECK(error_of(walker, path).code() == ErrorCode::invalid_argument);
  }
  CHECK(error_of(walker, "/" + std::string(256, 'n')).code() == ErrorCode::invalid_argument);
  std::string deep;
  while (deep.size() <= 4096) deep += "/component";
  CHECK(error_of(walker, deep).code() == ErrorCode::limit_exceeded);
}

TEST_CASE("walk: a missing parent and a parent that is no directory are told by name") {
  Machine m;
  m.files.put_file("/etc/file", "x");
  auto& walker = m.walk();
  const auto missing = error_of(walker, "/etc/none/below/x");
  CHECK(missing.code() == ErrorCode::not_found);
  CHECK(missing.message().starts_with("/etc/none: "));
  const auto file = error_of(walker, "/etc/file/x");
  CHECK(file.code() == ErrorCode::not_directory);
  CHECK(file.message().starts_with("/etc/file: "));
}

TEST_CASE("walk: the last component is never followed") {
  Machine m;
  m.files.put_file("/secret/file", "x");
  m.files.put_symlink("/etc/link", "/secret/file");
  CHECK(real_path(m.walk(), "/etc/link") == "/etc/link");
}

TEST_CASE("walk: merged /usr is followed, relative and absolute") {
  Machine m;
  m.files.put_directory("/usr/lib/systemd");
  m.files.put_directory("/usr/bin");
  m.files.put_symlink("/lib", "usr/lib");
  m.files.put_symlink("/bin", "/usr/bin");
  m.files.put_symlink("/usr/lib64", "../lib");
  auto& walker = m.walk();
  CHECK(real_path(walker, "/lib/systemd/x") == "/usr/lib/systemd/x");
  CHECK(real_path(walker, "/bin/tool") == "/usr/bin/tool");
  CHECK(real_path(walker, "/usr/lib64/systemd/y") == "/usr/lib/systemd/y");
  CHECK(walker.locate("/lib/x")->folder == walker.locate("/usr/lib/y")->folder);
}

TEST_CASE(
    "walk: a user's link in the middle is refused with both owners and the component named [S01, "
    "S05]") {
  Machine m;
  m.files.put_directory("/srv/app", 0755, kAnna, kAnna);
  m.files.put_directory("/etc/ssh");
  m.files.put_symlink("/srv/app/conf", "/etc/ssh", kAnna);
  const auto error = error_of(m.walk(), "/srv/app/conf/sshd_config");
  CHECK(error.code() == ErrorCode::symlink);
  CHECK(error.message().starts_with("/srv/app/conf: "));
  CHECK(mentions(error, "link of uid 1000"));
  CHECK(mentions(error, "folder of uid 1000 (mode 0755)"));
}

TEST_CASE(
    "walk: link and folder must both be root's, and neither group nor others may write the "
    "folder") {
  struct Row {
    std::uint32_t link_uid, folder_uid, folder_mode;
    bool followed;
  };
  const std::vector<Row> rows = {
      {0, 0, 0755, true},      {0, 0, 0700, true},      {0, 0, 0555, true},
      {kAnna, 0, 0755, false}, {0, kAnna, 0755, false}, {kAnna, kAnna, 0755, false},
      {0, 0, 0775, false},     {0, 0, 0757, false},     {0, 0, 01777, false}};
  for (const auto& row : rows) {
    CAPTURE(row.link_uid, row.folder_uid, row.folder_mode);
    Machine m;
    m.files.put_directory("/target");
    m.files.put_directory("/folder", row.folder_mode, row.folder_uid);
    m.files.put_symlink("/folder/link", "/target", row.link_uid);
    auto& walker = m.walk();
    if (row.followed)
      CHECK(real_path(walker, "/folder/link/x") == "/target/x");
    else
      CHECK(error_of(walker, "/folder/link/x").code() == ErrorCode::symlink);
  }
}

TEST_CASE("walk: below a folder that a user may rename, root's own links are not followed either") {
  Machine m;
  m.files.put_directory("/home/anna", 0755, kAnna);
  m.files.put_directory("/home/anna/root-made");
  m.files.put_directory("/etc");
  m.files.put_symlink("/home/anna/root-made/link", "/etc");
  const auto error = error_of(m.walk(), "/home/anna/root-made/link/passwd");
  CHECK(error.code() == ErrorCode::symlink);
  CHECK(mentions(error, "/home/anna: owner uid 1000"));
}

TEST_CASE(
    "walk: the first folder that others can change is reported with the folder, and inherited") {
  Machine m;
  m.files.put_directory("/home/anna", 0755, kAnna);
  m.files.put_directory("/home/anna/.ssh/deep");
  m.files.put_directory("/tmp/mine", 0755);
  m.files.put_directory("/tmp", 01777);
  m.files.put_directory("/var/local", 02775);
  auto& walker = m.walk();
  CHECK(walker.locate("/home/x")->folder->untrusted.empty());
  CHECK(walker.locate("/home/anna/x")->folder->untrusted == "/home/anna: owner uid 1000");
  CHECK(walker.locate("/home/anna/.ssh/deep/x")->folder->untrusted == "/home/anna: owner uid 1000");
  CHECK(walker.locate("/tmp/mine/x")->folder->untrusted == "/tmp: writable by others (mode 1777)");
  CHECK(walker.locate("/var/local/x")->folder->untrusted ==
        "/var/local: writable by others (mode 2775)");
}

TEST_CASE("walk: loops and long chains of links end with a limit") {
  Machine m;
  m.files.put_symlink("/a", "b");
  m.files.put_symlink("/b", "a");
  m.files.put_symlink("/self", "self/x");
  m.files.put_directory("/l0");
  for (int i = 1; i <= 41; ++i)
    m.files.put_symlink("/l" + std::to_string(i), "l" + std::to_string(i - 1));
  auto& walker = m.walk();
  CHECK(error_of(walker, "/a/x").code() == ErrorCode::limit_exceeded);
  CHECK(error_of(walker, "/self/x").code() == ErrorCode::limit_exceeded);
  CHECK(real_path(walker, "/l40/x") == "/l0/x");
  walker.forget();
  CHECK(error_of(walker, "/l41/x").code() == ErrorCode::limit_exceeded);
}

TEST_CASE("walk: under another root absolute targets begin there and `..` never leaves it") {
  Machine m;
  m.files.put_directory("/etc/real");
  m.files.put_directory("/srv/root/etc/inside");
  m.files.put_symlink("/srv/root/absolute", "/etc");
  m.files.put_symlink("/srv/root/up", "../../etc");
  m.files.put_symlink("/srv/root/etc/just-root", "..");
  m.files.put_symlink("/srv/root/etc/too-far", "../../../etc");
  m.files.put_symlink("/srv/root/sly", "etc/../../root");
  auto& walker = m.walk("/srv/root");
  CHECK(real_path(walker, "/absolute/inside/x") == "/etc/inside/x");
  CHECK(real_path(walker, "/etc/just-root/x") == "/x");
  CHECK(real_path(walker, "/etc/just-root/etc/inside/y") == "/etc/inside/y");
  CHECK(error_of(walker, "/absolute/real/x").code() == ErrorCode::not_found);
  for (const auto* path : {"/up/x", "/etc/too-far/x", "/sly/x"}) {
    CAPTURE(path);
    CHECK(error_of(walker, path).code() == ErrorCode::refused);
  }
}

TEST_CASE(
    "walk: `..` in a target means the folder above the one that was reached, not above the "
    "spelling") {
  Machine m;
  m.files.put_directory("/usr/share/app");
  m.files.put_directory("/usr/share/other");
  m.files.put_symlink("/app", "usr/share/app");
  m.files.put_symlink("/usr/share/app/sibling", "../other");
  CHECK(real_path(m.walk(), "/app/sibling/x") == "/usr/share/other/x");
}

TEST_CASE("walk: names are bytes: 255 of them, newlines and broken UTF-8 [F18]") {
  Machine m;
  const std::vector<std::string> names = {
      std::string(255, 'x'), "new\nline", "\xff\xfe", " ", "a=b", "-rf", "..."};
  for (const auto& name : names) m.files.put_directory("/d/" + name + "/e");
  auto& walker = m.walk();
  for (const auto& name : names) {
    const auto path = "/d/" + name + "/e/" + name;
    CHECK(real_path(walker, path) == path);
  }
}

TEST_CASE("walk: a second path below a known folder costs no call") {
  Machine m;
  m.files.put_directory("/usr/lib/a/b");
  m.files.put_symlink("/lib", "usr/lib");
  auto& walker = m.walk();
  REQUIRE(walker.locate("/lib/a/b/first"));
  const auto calls = [&] {
    return m.files.calls(Call::open_directory) + m.files.calls(Call::stat) +
           m.files.calls(Call::stat_at) + m.files.calls(Call::read_symlink);
  };
  const auto before = calls();
  for (int i = 0; i < 100; ++i) REQUIRE(walker.locate("/lib/a/b/f" + std::to_string(i)));
  REQUIRE(walker.locate("/usr/lib/a/b/x"));
  const auto after_spelling = calls();
  CHECK(after_spelling == before);
  walker.forget();
  REQUIRE(walker.locate("/lib/a/b/first"));
  CHECK(calls() > before);
}

TEST_CASE("walk: a thousand folders keep at most 256 open, and the closed ones are opened again") {
  Machine m;
  for (int i = 0; i < 1000; ++i) m.files.put_directory("/d/f" + std::to_string(i));
  auto& walker = m.walk();
  for (int i = 0; i < 1000; ++i) REQUIRE(walker.locate("/d/f" + std::to_string(i) + "/x"));
  CHECK(m.files.open_handles() <= 257);
  for (int i = 0; i < 1000; i += 50) {
    const auto path = "/d/f" + std::to_string(i) + "/x";
    CHECK(real_path(walker, path) == path);
  }
  CHECK(m.files.open_handles() <= 257);
}

TEST_CASE("walk: what a result holds stays open and is shared when it is asked for again") {
  Machine m;
  m.files.put_directory("/kept");
  for (int i = 0; i < 300; ++i) m.files.put_directory("/d/f" + std::to_string(i));
  auto& walker = m.walk();
  const auto kept = walker.locate("/kept/x");
  for (int i = 0; i < 300; ++i) REQUIRE(walker.locate("/d/f" + std::to_string(i) + "/x"));
  CHECK(m.files.stat(kept->folder->handle).has_value());
  CHECK(walker.locate("/kept/y")->folder == kept->folder);
}

TEST_CASE("walk: a folder that is exchanged for a link after it was known is not followed [S03]") {
  Machine m;
  m.files.put_directory("/home/anna/data", 0755, kAnna);
  m.files.put_directory("/home/anna", 0755, kAnna);
  m.files.put_directory("/etc");
  auto& walker = m.walk();
  const auto known = walker.locate("/home/anna/data/x");
  m.files.remove("/home/anna/data");
  m.files.put_symlink("/home/anna/data", "/etc", kAnna);
  // The known folder is the old one: nothing can be made in it any more, and nothing is in /etc.
  const auto made = m.files.create_file(known->folder->handle, "x");
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == ErrorCode::not_found);
  walker.forget();
  CHECK(error_of(walker, "/home/anna/data/x").code() == ErrorCode::symlink);
}

TEST_CASE("walk: a link that turns into something else while it is looked at is a conflict") {
  Machine m;
  m.files.put_directory("/target");
  m.files.put_symlink("/link", "target");
  auto& walker = m.walk();
  m.files.set_before_call([&](Call call, std::string_view name) {
    if (call != Call::stat_at || name != "link") return;
    m.files.set_before_call({});
    m.files.put_directory("/link");
  });
  CHECK(error_of(walker, "/link/x").code() == ErrorCode::conflict);
}

TEST_CASE("walk: an error of the disk is passed on with the component, and forgotten") {
  Machine m;
  m.files.put_directory("/a/b");
  auto& walker = m.walk();
  m.files.fail_call(Call::open_directory, 2, EIO);
  const auto error = error_of(walker, "/a/b/x");
  CHECK(error.code() == ErrorCode::io_error);
  CHECK(error.message().starts_with("/a/b: "));
  CHECK(real_path(walker, "/a/b/x") == "/a/b/x");
}

namespace {

struct RealMachine {
  std::string path =
      std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + "/datum-walk-XXXXXX";
  std::unique_ptr<Files> files = os_linux::make_files();
  Handle root;
  RealMachine() {
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    REQUIRE(::chmod(path.c_str(), 0755) == 0);
    root = std::move(*files->open_root(path));
  }
  RealMachine(const RealMachine&) = delete;
  RealMachine& operator=(const RealMachine&) = delete;
  ~RealMachine() { std::filesystem::remove_all(path); }
  void directory(const std::string& name, mode_t mode = 0755) {
    REQUIRE(::mkdir((path + name).c_str(), 0755) == 0);
    REQUIRE(::chmod((path + name).c_str(), mode) == 0);
  }
  void link(const std::string& name, const std::string& target) {
    REQUIRE(::symlink(target.c_str(), (path + name).c_str()) == 0);
  }
};

}  // namespace

TEST_CASE(
    "walk: on a real disk trusted links are followed inside the root and others are refused") {
  RealMachine m;
  m.directory("/usr");
  m.directory("/usr/lib");
  m.link("/lib", "usr/lib");
  m.link("/absolute", "/usr");
  m.link("/out", "../../etc");
  m.directory("/open", 0777);
  m.link("/open/link", "../usr");
  Walker own(*m.files, m.root, ::geteuid());
  CHECK(real_path(own, "/lib/x") == "/usr/lib/x");
  CHECK(real_path(own, "/absolute/lib/x") == "/usr/lib/x");
  CHECK(error_of(own, "/out/x").code() == ErrorCode::refused);
  CHECK(error_of(own, "/open/link/x").code() == ErrorCode::symlink);
  CHECK(own.locate("/open/x")->folder->untrusted == "/open: writable by others (mode 0777)");
  Walker foreign(*m.files, m.root, ::geteuid() + 1);
  const auto error = error_of(foreign, "/lib/x");
  CHECK(error.code() == ErrorCode::symlink);
  CHECK(mentions(error, "link of uid " + std::to_string(::geteuid())));
}

TEST_CASE("walk: on a real disk five hundred folders fit into a limit of 300 descriptors") {
  RealMachine m;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low{300, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  Walker walker(*m.files, m.root, ::geteuid());
  for (int i = 0; i < 500; ++i) {
    const auto name = "/f" + std::to_string(i);
    m.directory(name);
    CHECK(real_path(walker, name + "/x") == name + "/x");
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}
