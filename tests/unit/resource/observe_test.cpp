// What a look at a modelled machine says, per type: spoilt fields, missing and foreign things.
#include <catch2/catch.hpp>

#include "scene.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using core::Condition;
using core::Found;
using core::Obstacle;
using model::Field;

namespace {

struct Modelled {
  support::ModelFiles model;
  Scene scene{model};
};

std::string sha(const std::string& text) {
  return crypto::sha256(as_bytes(text)).hex();
}

}  // namespace

TEST_CASE("resource: each spoilt field of a file is the one drift that is seen") {
  Modelled m;
  m.model.put_directory("/etc");
  m.model.put_file("/etc/x", "text", 0644, 1234, 50);
  auto good =
      a_file("/etc/x").content(m.scene.content, "text").owner("test").group("staff").mode("0644");
  CHECK(m.scene.observe(good.done()).condition == Condition::converged);

  struct Row {
    const char* what;
    std::function<void()> spoil;
    std::string drift;
  };
  const std::vector<Row> rows = {
      {"content", [&] { m.model.put_file("/etc/x", "test", 0644, 1234, 50); },
       "content: sha256:" + sha("test") + " (4 bytes) -> sha256:" + sha("text") + " (4 bytes)\n"},
      {"longer", [&] { m.model.put_file("/etc/x", "text\n", 0644, 1234, 50); },
       "content: sha256:" + sha("text\n") + " (5 bytes) -> sha256:" + sha("text") + " (4 bytes)\n"},
      {"owner", [&] { m.model.set_owner_of("/etc/x", 0, 50); }, "owner: root -> test\n"},
      {"group", [&] { m.model.set_owner_of("/etc/x", 1234, 0); }, "group: root -> staff\n"},
      {"mode", [&] { m.model.set_mode_of("/etc/x", 0664); }, "mode: 0664 -> 0644\n"},
      {"set-uid", [&] { m.model.set_mode_of("/etc/x", 04644); }, "mode: 4644 -> 0644\n"},
      {"missing", [&] { m.model.remove("/etc/x"); }, "state: absent -> present\n"},
      {"folder", [&] { m.model.put_directory("/etc/x"); }, "type: directory -> regular file\n"},
      {"link", [&] { m.model.put_symlink("/etc/x", "/etc/passwd"); },
       "type: symbolic link -> regular file\n"},
      {"fifo", [&] { m.model.put_special("/etc/x", os::FileType::fifo); },
       "type: FIFO -> regular file\n"},
      {"device", [&] { m.model.put_special("/etc/x", os::FileType::block_device); },
       "type: block device -> regular file\n"},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    m.model.put_file("/etc/x", "text", 0644, 1234, 50);
    row.spoil();
    const auto seen = m.scene.observe(good.done());
    CHECK(seen.condition == Condition::drifted);
    CHECK(drifts_of(seen) == row.drift);
  }
}

TEST_CASE("resource: fields that are not declared are not compared") {
  Modelled m;
  m.model.put_file("/etc/x", "anything", 04777, 7779, 7779);
  CHECK(m.scene.observe(a_file("/etc/x").done()).condition == Condition::converged);
  CHECK(m.model.calls(support::Call::read) == 0);
}

TEST_CASE("resource: [F33] an owner without an account is shown as its number") {
  Modelled m;
  m.model.put_file("/etc/x", "", 0644, 7779, 7780);
  CHECK(drifts_of(m.scene.observe(a_file("/etc/x").owner("test").group("7781").done())) ==
        "owner: 7779 -> test\ngroup: 7780 -> 7781\n");
  CHECK(m.scene.observe(a_file("/etc/x").owner("7779").done()).condition == Condition::converged);
  CHECK(drifts_of(m.scene.observe(a_file("/etc/x").owner("nobody-has-this").done())) ==
        "owner: 7779 -> nobody-has-this\n");
}

TEST_CASE("resource: [F09] [S03] another type in a directory's place is drift in its type") {
  Modelled m;
  m.model.put_file("/srv/d", "not a folder");
  CHECK(drifts_of(m.scene.observe(a_directory("/srv/d").mode("0755").done())) ==
        "type: regular file -> directory\n");
  m.model.put_symlink("/srv/d", "/etc/passwd");
  const auto seen = m.scene.observe(a_directory("/srv/d").owner("test").done());
  CHECK(drifts_of(seen) == "type: symbolic link -> directory\n");
  CHECK(seen.found == Found::symlink);
}

TEST_CASE("resource: [F08] a link is looked at itself and never through") {
  Modelled m;
  m.model.put_file("/srv/real", "x");
  m.model.put_symlink("/srv/link", "/srv/real");
  CHECK(m.scene.observe(a_symlink("/srv/link", "/srv/real").done()).condition ==
        Condition::converged);
  CHECK(drifts_of(m.scene.observe(a_symlink("/srv/link", "real").done())) ==
        "target: /srv/real -> real\n");
  const auto absent = m.scene.observe(a_file("/srv/link").absent().done());
  CHECK(drifts_of(absent) == "state: present -> absent\n");
  CHECK(absent.found == Found::symlink);
}

TEST_CASE("resource: a missing folder on the way is named, and absent is then as declared") {
  Modelled m;
  const auto seen = m.scene.observe(a_file("/a/b/c").content(m.scene.content, "").done());
  CHECK(seen.missing_parent == "/a/b");
  CHECK(drifts_of(seen) == "state: absent -> present\n");
  CHECK(m.scene.observe(a_file("/a/b/c").absent().done()).condition == Condition::converged);
  m.model.put_file("/a", "a file where a folder should be");
  CHECK(m.scene.observe(a_file("/a/b").absent().done()).condition == Condition::converged);
  const auto in_the_way = m.scene.observe(a_symlink("/a/b", "c").done());
  CHECK(in_the_way.missing_parent == "/a (a regular file, no folder)");
  const auto above = m.scene.observe(a_symlink("/a/b/c", "d").done());
  CHECK(above.missing_parent == "/a (a regular file, no folder)");
}

TEST_CASE("resource: a file without content that is missing cannot be made") {
  Modelled m;
  m.model.put_directory("/etc");
  const auto seen = m.scene.observe(a_file("/etc/x").mode("0644").done());
  CHECK(drifts_of(seen) == "state: absent -> present\n");
  CHECK(seen.obstacle == Obstacle::no_content);
}

TEST_CASE("resource: [S01] [S05] [S06] a user's link on the way makes the resource unknown") {
  Modelled m;
  m.model.put_directory("/home/u", 0755, 1234);
  m.model.put_symlink("/home/u/.ssh", "/root", 1234);
  m.model.put_file("/root/keys", "root's own");
  const auto seen =
      m.scene.observe(a_file("/home/u/.ssh/keys").content(m.scene.content, "planted").done());
  CHECK(seen.condition == Condition::unknown);
  CHECK(seen.reason.find("/home/u/.ssh") != std::string::npos);
  CHECK(seen.reason.find("1234") != std::string::npos);
  CHECK(seen.reason.find("not touched") != std::string::npos);
  CHECK(seen.drifts.empty());
}

TEST_CASE("resource: a merged parent is followed when it belongs to root") {
  Modelled m;
  m.model.put_file("/usr/lib/x", "1");
  m.model.put_symlink("/lib", "usr/lib");
  CHECK(m.scene.observe(a_file("/lib/x").content(m.scene.content, "1").done()).condition ==
        Condition::converged);
}

TEST_CASE("resource: [F01] a mount point in the way of new content is an obstacle") {
  Modelled m;
  m.model.put_file("/etc/hosts", "old");
  m.model.mount("/etc/hosts");
  auto declared = a_file("/etc/hosts").content(m.scene.content, "new");
  CHECK(m.scene.observe(declared.done()).obstacle == Obstacle::mount_point);
  declared.with(Field::replace, std::string("inPlace"));
  CHECK(m.scene.observe(declared.done()).obstacle == Obstacle::none);
  CHECK(m.scene.observe(a_file("/etc/hosts").mode("0600").done()).obstacle == Obstacle::none);
}

TEST_CASE("resource: [F06] a second name of the file is an obstacle unless a policy is declared") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  m.model.put_hard_link("/etc/b", "/etc/a");
  auto declared = a_file("/etc/a").content(m.scene.content, "new");
  const auto seen = m.scene.observe(declared.done());
  CHECK(seen.obstacle == Obstacle::hard_links);
  CHECK(seen.obstacle_detail.find("2 names") != std::string::npos);
  for (const char* policy : {"break", "inPlace"}) {
    declared.with(Field::hard_links, std::string(policy));
    CHECK(m.scene.observe(declared.done()).obstacle == Obstacle::none);
  }
  CHECK(m.scene.observe(a_file("/etc/a").owner("test").done()).obstacle == Obstacle::hard_links);
  CHECK(m.scene.observe(a_file("/etc/a").content(m.scene.content, "old").done()).obstacle ==
        Obstacle::none);
}

TEST_CASE("resource: an immutable thing is an obstacle when it drifts, and is no drift by itself") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  m.model.put_directory("/etc/d");
  m.model.set_immutable("/etc/x", true);
  m.model.set_immutable("/etc/d", true);
  CHECK(m.scene.observe(a_file("/etc/x").content(m.scene.content, "old").done()).obstacle ==
        Obstacle::none);
  for (const auto& one :
       {a_file("/etc/x").content(m.scene.content, "new").done(), a_file("/etc/x").absent().done(),
        a_symlink("/etc/x", "y").done(), a_directory("/etc/d").mode("0700").done(),
        a_directory("/etc/d").absent().done()})
    CHECK(m.scene.observe(one).obstacle == Obstacle::immutable);
  const auto purged = m.scene.observe(a_directory("/etc").with(Field::purge, true).done());
  CHECK_FALSE(purged.purge[1].removable);
}

TEST_CASE("resource: [F05] capabilities that a change takes away are shown beforehand") {
  Modelled m;
  m.model.put_file("/usr/bin/ping", "elf", 0755);
  m.model.put_attribute("/usr/bin/ping", "security.capability", "cap");
  const auto owner =
      m.scene.observe(a_file("/usr/bin/ping").content(m.scene.content, "elf").owner("test").done());
  CHECK(owner.obstacle_detail.find("capabilities") != std::string::npos);
  const auto mode =
      m.scene.observe(a_file("/usr/bin/ping").content(m.scene.content, "elf").mode("0700").done());
  CHECK(mode.obstacle_detail.empty());
}

TEST_CASE("resource: [F31] other content at first contact is an obstacle under onConflict: fail") {
  Modelled m;
  m.model.put_file("/etc/x", "theirs");
  auto declared = a_file("/etc/x").content(m.scene.content, "ours");
  CHECK(m.scene.observe(declared.done()).obstacle == Obstacle::none);
  CHECK(m.scene.observe(declared.done()).conflicting_content);
  declared.with(Field::on_conflict, std::string("fail"));
  CHECK(m.scene.observe(declared.done()).obstacle == Obstacle::unmanaged_content);
  const std::map<model::Target, core::Owned> owned{{declared.done().target, {}}};
  CHECK(m.scene.observe(declared.done(), owned).obstacle == Obstacle::none);
}

TEST_CASE("resource: [S08] nothing of sensitive content is in an observation but a keyed digest") {
  Modelled m;
  m.model.put_file("/etc/s", "secret-1", 0644);
  auto declared = a_file("/etc/s").content(m.scene.content, "secret-2");
  declared.with(Field::sensitive, true);
  auto seen = m.scene.observe(declared.done());
  CHECK(drifts_of(seen) == "content: (redacted) -> (redacted)\n");
  const auto plain = crypto::sha256(as_bytes("secret-1"));
  CHECK_FALSE(seen.content.empty());
  CHECK(seen.content != plain);
  CHECK(seen.content_size == 0);
  const auto first = seen.content;
  m.scene.machine().sensitive_key = to_bytes("another store's key");
  CHECK(m.scene.observe(declared.done()).content != first);

  // By its old mode alone, and by its new one.
  m.model.set_mode_of("/etc/s", 0600);
  CHECK(drifts_of(m.scene.observe(a_file("/etc/s").content(m.scene.content, "x").done())) ==
        "content: (redacted) -> (redacted)\n");
  m.model.set_mode_of("/etc/s", 0644);
  CHECK(drifts_of(
            m.scene.observe(a_file("/etc/s").content(m.scene.content, "x").mode("0640").done())) ==
        "content: (redacted) -> (redacted)\nmode: 0644 -> 0640\n");
}

TEST_CASE("resource: a secret without a backend makes the file unknown, not drifted") {
  Modelled m;
  m.model.put_file("/etc/s", "x");
  model::Content secret;
  secret.secret = "db/password";
  const auto seen = m.scene.observe(a_file("/etc/s").with(Field::content, secret).done());
  CHECK(seen.condition == Condition::unknown);
  CHECK(seen.reason == "secret db/password cannot be resolved: no secret backend");
  CHECK(seen.obstacle == Obstacle::unresolved_secret);
  model::Content text;
  text.has_secrets = true;
  text.has_bytes = true;
  text.bytes = "pw={{ secrets.web.key }}\n";
  text.digest = crypto::sha256(as_bytes(text.bytes));
  CHECK(
      m.scene.observe(a_file("/etc/s").with(Field::content, text).done()).reason.find("web.key") !=
      std::string::npos);
}

TEST_CASE("resource: a package is skipped with the reason where nobody can be asked") {
  Modelled m;
  model::Resource package;
  package.reference = {model::ResourceType::package, "nginx"};
  package.fields.push_back({Field::state, std::string("present")});
  model::finish_resource(package);
  auto seen = m.scene.observe(package);
  CHECK(seen.condition == Condition::skipped);
  CHECK(seen.reason == "no package manager is asked here");
  m.scene.machine().root_path = "/mnt/image";
  CHECK(m.scene.observe(package).reason == "not under --root");
}

TEST_CASE("resource: Datum's own files are refused, whatever path leads to them") {
  Modelled m;
  m.model.put_file("/var/lib/datum/blobs/aa/x", "blob");
  m.model.put_symlink("/store", "/var/lib/datum");
  m.scene.machine().own_files.push_back(*m.model.find_stat("/var/lib/datum"));
  for (const char* path : {"/var/lib/datum/y", "/store/blobs/aa/x"}) {
    INFO(path);
    const auto seen = m.scene.observe(a_file(path).content(m.scene.content, "1").done());
    CHECK(seen.condition == Condition::unknown);
    CHECK(seen.reason.find("refused") == 0);
  }
  CHECK(m.scene.observe(a_directory("/var/lib/datum").mode("0755").done()).condition ==
        Condition::unknown);
  CHECK(m.scene.observe(a_directory("/var/lib").mode("0755").done()).condition ==
        Condition::converged);
}

TEST_CASE("resource: a purge lists what nothing declares and nothing else") {
  Modelled m;
  for (const char* name : {"test1", "test2", "a b", "gone", "keep.conf"})
    m.model.put_file(std::string("/etc/d/") + name, "x");
  m.model.put_symlink("/etc/d/test", "x");
  m.model.put_file("/etc/d/sub/kept", "x");
  m.model.put_directory("/etc/d/other");
  auto purged = a_directory("/etc/d").with(Field::purge, true).done();
  const auto declared =
      declare({purged, a_symlink("/etc/d/test", "x").done(), a_file("/etc/d/sub/kept").done(),
               a_file("/etc/d/gone").absent().done(), a_file("/etc/d/keep.conf").done()});
  auto seen = m.scene.observe(declared, purged);
  // [F28] "test" hides neither "test1" nor "test2"; [F27] what others declare stays.
  std::vector<std::string> names;
  for (const auto& entry : seen.purge) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"a b", "other", "test1", "test2"});
  CHECK(seen.condition == Condition::drifted);
  // [F30] a folder is listed, and is no drift unless it is asked for.
  CHECK_FALSE(seen.purge[1].is_drift);
  CHECK_FALSE(seen.purge[1].removable);
  CHECK(seen.purge[2].is_drift);
}

TEST_CASE("resource: [F30] purged folders are removable when empty and named when full") {
  Modelled m;
  m.model.put_directory("/etc/d/empty");
  m.model.put_file("/etc/d/full/x", "x");
  m.model.put_directory("/etc/d/mounted");
  m.model.mount("/etc/d/mounted");
  auto purged = a_directory("/etc/d").with(Field::purge, true);
  CHECK(m.scene.observe(purged.done()).condition == Condition::converged);
  const auto seen = m.scene.observe(purged.with(Field::purge_directories, true).done());
  REQUIRE(seen.purge.size() == 3);
  CHECK(seen.purge[0].removable);
  CHECK_FALSE(seen.purge[1].removable);
  CHECK(seen.purge[1].is_drift);
  CHECK(seen.purge[1].reason.find("not empty") != std::string::npos);
  CHECK_FALSE(seen.purge[2].removable);
  CHECK(seen.purge[2].reason.find("mount") != std::string::npos);
}

TEST_CASE("resource: [F27] a purge knows an entry that is declared through another folder's name") {
  Modelled m;
  m.model.put_file("/usr/lib/d/x", "x");
  m.model.put_file("/usr/lib/d/y", "y");
  m.model.put_symlink("/lib", "usr/lib");
  auto purged = a_directory("/usr/lib/d").with(Field::purge, true).done();
  const auto declared = declare({purged, a_file("/lib/d/x").done()});
  const auto seen = m.scene.observe(declared, purged);
  REQUIRE(seen.purge.size() == 1);
  CHECK(seen.purge[0].name == "y");
}

TEST_CASE("resource: a purge never lists Datum's own files as removable") {
  Modelled m;
  m.model.put_file("/etc/datum/agent.yaml", "x");
  m.scene.machine().own_files.push_back(*m.model.find_stat("/etc/datum"));
  const auto seen = m.scene.observe(
      a_directory("/etc").with(Field::purge, true).with(Field::purge_directories, true).done());
  REQUIRE(seen.purge.size() == 1);
  CHECK_FALSE(seen.purge[0].removable);
  CHECK(seen.condition == Condition::converged);
}

TEST_CASE("resource: an absent directory with entries cannot be removed, and says so") {
  Modelled m;
  m.model.put_directory("/srv/d");
  CHECK(m.scene.observe(a_directory("/srv/d").absent().done()).obstacle == Obstacle::none);
  m.model.put_file("/srv/d/x", "x");
  CHECK(m.scene.observe(a_directory("/srv/d").absent().done()).obstacle == Obstacle::not_empty);
}

TEST_CASE("resource: an error of the disk makes one resource unknown and no other") {
  Modelled m;
  m.model.put_file("/etc/a", "1");
  m.model.put_file("/etc/b", "1");
  const auto a = a_file("/etc/a").content(m.scene.content, "1").done();
  const auto b = a_file("/etc/b").content(m.scene.content, "1").done();
  resource::Observer observer(m.scene.shared(), declare({a, b}));
  m.model.fail_call(support::Call::read, 1, EIO);
  CHECK(observer.observe(a).condition == Condition::unknown);
  CHECK(observer.observe(b).condition == Condition::converged);
}

TEST_CASE("resource: a stopped observation ends as unknown in mid-file") {
  Modelled m;
  m.model.put_file("/etc/a", std::string(1'000'000, 'x'));
  const auto a = a_file("/etc/a").content(m.scene.content, std::string(1'000'000, 'x')).done();
  m.model.set_before_call([&](support::Call call, std::string_view) {
    if (call == support::Call::read) m.scene.machine().stop.stop();
  });
  CHECK(m.scene.observe(a).condition == Condition::unknown);
  m.model.set_before_call({});
  CHECK(m.model.calls(support::Call::read) == 1);
}

TEST_CASE("resource: one converged file costs no more than open, read and close") {
  Modelled m;
  std::vector<model::Resource> all;
  for (int i = 0; i < 50; ++i) {
    const auto path = "/etc/d/f" + std::to_string(i);
    m.model.put_file(path, "content " + std::to_string(i));
    all.push_back(a_file(path).content(m.scene.content, "content " + std::to_string(i)).done());
  }
  resource::Observer observer(m.scene.shared(), declare(all));
  for (const auto& one : all) CHECK(observer.observe(one).condition == Condition::converged);
  CHECK(m.model.calls(support::Call::open_file) == 50);
  CHECK(m.model.calls(support::Call::read) == 50);
  CHECK(m.model.calls(support::Call::stat_at) == 0);
  CHECK(m.model.calls(support::Call::open_directory) == 2);
  CHECK(m.model.changing_calls() == 0);
}

TEST_CASE("resource: equal observations have equal digests, and any difference shows") {
  Modelled m;
  m.model.put_file("/etc/x", "text");
  const auto declared = a_file("/etc/x").content(m.scene.content, "text").mode("0644").done();
  const auto first = m.scene.observe(declared);
  m.model.put_file("/etc/x", "text");  // another inode
  const auto second = m.scene.observe(declared);
  CHECK(first.identity.ctime_ns != second.identity.ctime_ns);
  CHECK(first.digest == second.digest);
  m.model.set_mode_of("/etc/x", 0600);
  const auto third = m.scene.observe(declared);
  CHECK(third.digest != first.digest);
  auto named = third;
  named.reference.name = "s";
  const std::vector<core::Observation> one{first, named}, other{named, first};
  CHECK(resource::digest_observations(one) == resource::digest_observations(other));
  const std::vector<core::Observation> same{first, second};
  CHECK(resource::digest_observations(one) != resource::digest_observations(same));
}

TEST_CASE("resource: what left the declaration is looked at in the form that was remembered") {
  Modelled m;
  m.model.put_file("/etc/x", "text");
  m.model.put_file("/etc/s", "secret", 0600);
  m.model.put_directory("/etc/full/x");
  m.model.put_symlink("/etc/l", "to");
  const auto declared = declare({a_file("/usr/lib/z").done()});
  resource::Observer observer(m.scene.shared(), declared);
  const auto look = [&](const char* path, core::Owned owned = {}) {
    return observer.observe_leaving({model::TargetFamily::path, path}, owned);
  };
  CHECK(look("/etc/x").content == crypto::sha256(as_bytes("text")));
  CHECK(look("/etc/l").content == crypto::sha256(as_bytes("to")));
  CHECK(look("/etc/none").found == Found::absent);
  CHECK(look("/no/such").found == Found::absent);
  CHECK_FALSE(look("/etc/full").empty);
  const auto keyed = look("/etc/s").content;
  CHECK(keyed != crypto::sha256(as_bytes("secret")));
  m.model.set_mode_of("/etc/s", 0644);
  core::Owned owned;
  owned.left.content = keyed;
  CHECK(look("/etc/s", owned).content == keyed);
  CHECK(look("/etc/s").content == crypto::sha256(as_bytes("secret")));
}

TEST_CASE("resource: a leaving target that is still declared under another name is told") {
  Modelled m;
  m.model.put_file("/usr/lib/x", "1");
  m.model.put_symlink("/lib", "usr/lib");
  resource::Observer observer(m.scene.shared(), declare({a_file("/usr/lib/x").done()}));
  CHECK(observer.observe_leaving({model::TargetFamily::path, "/lib/x"}, {}).same_as_declared);
  m.model.put_file("/usr/lib/y", "1");
  CHECK_FALSE(observer.observe_leaving({model::TargetFamily::path, "/lib/y"}, {}).same_as_declared);
}
