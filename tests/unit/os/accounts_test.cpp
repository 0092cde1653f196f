#include "datum/os/accounts.hpp"

#include <catch2/catch.hpp>

#include "support/model_files.hpp"

using namespace datum;
using datum::support::ModelFiles;

namespace {

std::unique_ptr<os::Accounts> read(ModelFiles& files, const std::string& root = "/") {
  const auto handle = files.open_root(root);
  REQUIRE(handle);
  return os::read_accounts(files, *handle);
}

}  // namespace

TEST_CASE("accounts: names and numbers of the files are found both ways") {
  ModelFiles files;
  files.put_file("/etc/passwd",
                 "root:x:0:0:root:/root:/bin/bash\nanna:x:1000:1000::/home/anna:/bin/sh\n"
                 "last:x:4294967294:7::/:/bin/false");
  files.put_file("/etc/group", "root:x:0:\nstaff:x:50:anna,bert\n");
  const auto accounts = read(files);
  CHECK(accounts->find_uid("anna").value() == 1000U);
  CHECK(accounts->find_uid("last").value() == 4294967294U);
  CHECK(accounts->find_gid("staff").value() == 50U);
  CHECK_FALSE(accounts->find_uid("staff").value());
  CHECK_FALSE(accounts->find_gid("anna").value());
  CHECK(accounts->user_name(1000) == "anna");
  CHECK(accounts->group_name(50) == "staff");
}

TEST_CASE("accounts: digits are numbers, and numbers without a name are digits [F33]") {
  ModelFiles files;
  files.put_file("/etc/passwd", "12:x:77:0::/:\n");
  const auto accounts = read(files);
  CHECK(accounts->find_uid("7779").value() == 7779U);
  CHECK(accounts->find_uid("12").value() == 12U);
  CHECK(accounts->user_name(7779) == "7779");
  CHECK(accounts->user_name(77) == "12");
  CHECK_FALSE(accounts->find_uid("4294967295").value());  // means "unchanged" to the kernel
  CHECK_FALSE(accounts->find_uid("99999999999").value());
  CHECK_FALSE(accounts->find_uid("").value());
  CHECK_FALSE(accounts->find_uid("-1").value());
}

TEST_CASE("accounts: without files root is 0 and 0 is root, whatever the files would say") {
  ModelFiles files;
  const auto none = read(files);
  CHECK(none->find_uid("root").value() == 0U);
  CHECK(none->find_gid("root").value() == 0U);
  CHECK(none->user_name(0) == "root");
  CHECK(none->group_name(0) == "root");
  CHECK_FALSE(none->find_uid("anna").value());
  files.put_file("/etc/passwd", "toor:x:0:0::/:\nroot:x:5:5::/:\n");
  const auto odd = read(files);
  CHECK(odd->find_uid("root").value() == 0U);
  CHECK(odd->user_name(0) == "toor");
}

TEST_CASE("accounts: lines that are not of the format are passed over, the first of two counts") {
  ModelFiles files;
  files.put_file("/etc/passwd",
                 "# comment:x:1:1\n\n:x:2:2\nshort:x\nnan:x:12a:1\nempty:x::1\nneg:x:-3:1\n"
                 "+nis:x:9:9\n-out:x:8:8\nmax:x:4294967295:0\ngood:x:10:10\ngood:x:11:11\n"
                 "second:x:10:10\nno colon at all\n\xff\xfe:x:20:20:\n");
  const auto accounts = read(files);
  for (const auto* name : {"# comment", "short", "nan", "empty", "neg", "+nis", "-out", "max"})
    CHECK_FALSE(accounts->find_uid(name).value());
  CHECK(accounts->find_uid("good").value() == 10U);
  CHECK(accounts->find_uid("second").value() == 10U);
  CHECK(accounts->user_name(10) == "good");
  CHECK(accounts->user_name(11) == "good");
  CHECK(accounts->find_uid("\xff\xfe").value() == 20U);
}

TEST_CASE("accounts: under another root its own files count, and a linked passwd is not followed") {
  ModelFiles files;
  files.put_file("/etc/passwd", "anna:x:1:1::/:\n");
  files.put_file("/srv/root/etc/passwd", "anna:x:2:2::/:\n");
  CHECK(read(files, "/srv/root")->find_uid("anna").value() == 2U);
  files.put_symlink("/srv/root/etc/passwd", "/etc/passwd");
  const auto handle = files.open_root("/srv/root");
  const auto linked = os::read_accounts(files, *handle);
  const auto anna = linked->find_uid("anna");
  REQUIRE_FALSE(anna);
  CHECK(anna.error().code() == ErrorCode::symlink);
  CHECK(anna.error().message().starts_with("/etc/passwd: "));
}

TEST_CASE("accounts: while one of the files cannot be read, numbers, root and the other file are") {
  ModelFiles files;
  files.put_file("/etc/group", "staff:x:50:\n");
  files.put_symlink("/etc/passwd", "/elsewhere");
  const auto root = files.open_root("/");
  const auto accounts = os::read_accounts(files, *root);
  CHECK(accounts->find_uid("7").value() == 7U);
  CHECK(accounts->find_uid("root").value() == 0U);
  CHECK(accounts->user_name(7) == "7");
  CHECK(accounts->user_name(0) == "root");
  CHECK(accounts->find_gid("staff").value() == 50U);
  CHECK_FALSE(accounts->find_uid("anna"));
  files.remove("/etc/passwd");
  files.put_file("/etc/passwd", "anna:x:1:1::/:\n");
  accounts->refresh();
  CHECK(accounts->find_uid("anna").value() == 1U);
}

TEST_CASE("accounts: a file of more than 64 MiB is a limit, not a loop") {
  ModelFiles files;
  files.put_file("/etc/group", "");
  const auto root = files.open_root("/");
  const auto etc = files.open_directory(*root, "etc", os::Follow::no);
  const auto group = files.open_file(*etc, "group", os::Access::write);
  REQUIRE(files.truncate(*group, 65ULL * 1024 * 1024));
  const auto found = os::read_accounts(files, *root)->find_gid("staff");
  REQUIRE_FALSE(found);
  CHECK(found.error().code() == ErrorCode::limit_exceeded);
}

TEST_CASE("accounts: a file that cannot be read is an error and not an empty one") {
  ModelFiles files;
  files.put_file("/etc/passwd", "anna:x:1:1::/:\n");
  files.fail_call(support::Call::read, 1, EIO);
  const auto root = files.open_root("/");
  const auto found = os::read_accounts(files, *root)->find_uid("anna");
  REQUIRE_FALSE(found);
  CHECK(found.error().code() == ErrorCode::io_error);
}
