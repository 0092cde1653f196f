// What a wave makes of a modelled machine: each spoilt field corrected, each refusal without a
// trace.
#include <catch2/catch.hpp>

#include "datum/resource/kept.hpp"
#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using core::Condition;
using model::Field;

namespace {

struct Modelled {
  support::ModelFiles model;
  Scene scene{model};
  Pass pass{scene};

  [[nodiscard]] std::string text(const std::string& path) {
    return model.find_content(path).value_or("(nothing)");
  }
  [[nodiscard]] std::string leftovers() {
    std::string names;
    for (const auto& path : model.paths())
      if (path.find("/.datum-") != std::string::npos) names += path + "\n";
    return names;
  }
  // Nothing is left to do, and nothing of the work is left behind.
  void check_converged(const std::vector<model::Resource>& resources) {
    const auto changes = model.changing_calls();
    const auto again = pass.run(resources);
    for (const auto& seen : again.before) CHECK(seen.condition == Condition::converged);
    CHECK(again.results.empty());
    CHECK(model.changing_calls() == changes);
    CHECK(leftovers().empty());
  }
  std::string stat_text(const std::string& path) {
    const auto stat = model.find_stat(path);
    if (!stat) return "absent";
    char bits[8];
    std::snprintf(bits, sizeof bits, "%04o", stat->mode);
    return std::string(to_string(stat->type)) + " " + bits + " " + std::to_string(stat->uid) + ":" +
           std::to_string(stat->gid);
  }
};

}  // namespace

TEST_CASE("resource: each spoilt field of a file is corrected in one wave, and the rest kept") {
  Modelled m;
  m.model.put_directory("/etc");
  const std::vector<model::Resource> good = {a_file("/etc/x")
                                                 .content(m.scene.content, "text")
                                                 .owner("test")
                                                 .group("staff")
                                                 .mode("0640")
                                                 .done()};
  struct Row {
    const char* what;
    std::function<void()> spoil;
  };
  const std::vector<Row> rows = {
      {"missing", [&] { m.model.remove("/etc/x"); }},
      {"content", [&] { m.model.put_file("/etc/x", "test", 0640, 1234, 50); }},
      {"owner", [&] { m.model.set_owner_of("/etc/x", 0, 50); }},
      {"group", [&] { m.model.set_owner_of("/etc/x", 1234, 0); }},
      {"mode", [&] { m.model.set_mode_of("/etc/x", 0777); }},
      {"everything", [&] { m.model.put_file("/etc/x", "", 04777, 7, 7); }},
      {"link", [&] { m.model.put_symlink("/etc/x", "/etc/passwd"); }},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    m.model.put_file("/etc/x", "text", 0640, 1234, 50);
    row.spoil();
    const auto done = m.pass.run(good);
    CHECK(done.outcome("/etc/x") == "succeeded");
    CHECK(done.result("/etc/x").after.condition == Condition::converged);
    CHECK(m.text("/etc/x") == "text");
    CHECK(m.stat_text("/etc/x") == "regular file 0640 1234:50");
    m.check_converged(good);
  }
}

TEST_CASE("resource: what nobody declares stays as it was when content is replaced") {
  Modelled m;
  m.model.put_file("/etc/x", "old", 0604, 77, 88);
  m.model.put_attribute("/etc/x", "user.note", "kept");
  const auto done = m.pass.run({a_file("/etc/x").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/x") == "succeeded");
  CHECK(m.stat_text("/etc/x") == "regular file 0604 77:88");
}

TEST_CASE("resource: [F02] label, ACL and user attributes go over to the new file") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  for (const char* name : {"security.selinux", "system.posix_acl_access", "user.note",
                           "security.capability", "trusted.other", "trusted.overlay.origin"})
    m.model.put_attribute("/etc/x", name, "value");
  const auto done = m.pass.run({a_file("/etc/x").content(m.scene.content, "new").done()});
  REQUIRE(done.outcome("/etc/x") == "succeeded");
  auto root = m.model.open_root("/etc");
  auto file = m.model.open_file(*root, "x", os::Access::read);
  std::vector<std::string> names;
  const auto attributes = m.model.read_attributes(*file);
  for (const auto& one : *attributes) names.push_back(one.name);
  // [F05] Capabilities were the trust in the old bytes.
  CHECK(names == std::vector<std::string>{"security.selinux", "system.posix_acl_access",
                                          "trusted.other", "user.note"});
}

TEST_CASE("resource: a file that became immutable after the look fails and is not touched") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  m.pass.before_run = [&] { m.model.set_immutable("/etc/x", true); };
  const auto done = m.pass.run({a_file("/etc/x").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/x").find("immutable") != std::string::npos);
  CHECK(m.text("/etc/x") == "old");
}

TEST_CASE("resource: [F02] a label that cannot be set fails the action and leaves no trace") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  m.model.put_attribute("/etc/x", "security.selinux", "label");
  m.model.fail_call(support::Call::set_attribute, 1, EPERM);
  const auto done = m.pass.run({a_file("/etc/x").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/x").starts_with("failed"));
  CHECK(m.text("/etc/x") == "old");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: [F04] set-uid survives the change of owner, in one pass") {
  Modelled m;
  m.model.put_file("/usr/bin/x", "elf", 0755, 0, 0);
  const std::vector<model::Resource> good = {
      a_file("/usr/bin/x").content(m.scene.content, "elf").owner("test").mode("4755").done()};
  CHECK(m.pass.run(good).outcome("/usr/bin/x") == "succeeded");
  CHECK(m.stat_text("/usr/bin/x") == "regular file 4755 1234:0");
  m.check_converged(good);
  // The new owner alone takes the bit away.
  m.model.put_file("/usr/bin/x", "elf", 04755, 0, 0);
  CHECK(m.pass.run(good).outcome("/usr/bin/x") == "succeeded");
  CHECK(m.stat_text("/usr/bin/x") == "regular file 4755 1234:0");
  // The same by a staged file.
  m.model.put_file("/usr/bin/x", "other", 0755, 0, 0);
  CHECK(m.pass.run(good).outcome("/usr/bin/x") == "succeeded");
  CHECK(m.stat_text("/usr/bin/x") == "regular file 4755 1234:0");
}

TEST_CASE("resource: a new owner does not inherit a set-uid bit that nobody declared") {
  Modelled m;
  m.model.put_file("/usr/bin/x", "old", 04755, 0, 0);
  CHECK(m.pass.run({a_file("/usr/bin/x").content(m.scene.content, "new").owner("test").done()})
            .outcome("/usr/bin/x") == "succeeded");
  CHECK(m.stat_text("/usr/bin/x") == "regular file 0755 1234:0");
}

TEST_CASE("resource: [F05] a change of mode alone keeps capabilities") {
  Modelled m;
  m.model.put_file("/usr/bin/ping", "elf", 0755);
  m.model.put_attribute("/usr/bin/ping", "security.capability", "cap");
  CHECK(m.pass.run({a_file("/usr/bin/ping").mode("0700").done()}).outcome("/usr/bin/ping") ==
        "succeeded");
  auto root = m.model.open_root("/usr/bin");
  auto file = m.model.open_file(*root, "ping", os::Access::read);
  CHECK(m.model.read_attributes(*file)->size() == 1);
}

TEST_CASE(
    "resource: [F14] a mode that is not declared is never set, one that cannot be set fails") {
  Modelled m;
  m.model.put_file("/etc/pve/x", "old", 0600);
  m.model.fail_call(support::Call::set_mode, 1, EPERM);
  auto file = a_file("/etc/pve/x").content(m.scene.content, "new");
  CHECK(m.pass.run({file.done()}).outcome("/etc/pve/x") == "succeeded");
  for (int run = 0; run < 2; ++run) {
    m.model.fail_call(support::Call::set_mode, 1, EPERM);
    CHECK(m.pass.run({file.mode("0644").done()}).outcome("/etc/pve/x").starts_with("failed"));
    CHECK(m.stat_text("/etc/pve/x") == "regular file 0600 0:0");
  }
}

TEST_CASE(
    "resource: [F01] a mount point is refused or written in place, and never left with a temp") {
  Modelled m;
  m.model.put_file("/etc/hosts", "old");
  m.model.mount("/etc/hosts");
  auto file = a_file("/etc/hosts").content(m.scene.content, "new, and longer");
  CHECK(m.pass.run({file.done()}).outcome("/etc/hosts").find("mount point") != std::string::npos);
  CHECK(m.leftovers().empty());
  file.with(Field::replace, std::string("inPlace"));
  const auto inode = m.model.find_stat("/etc/hosts")->inode;
  const auto done = m.pass.run({file.done()});
  CHECK(done.outcome("/etc/hosts") == "succeeded");
  CHECK_FALSE(done.result("/etc/hosts").atomic);
  CHECK(m.text("/etc/hosts") == "new, and longer");
  CHECK(m.model.find_stat("/etc/hosts")->inode == inode);
  m.check_converged({file.done()});
}

TEST_CASE("resource: a change that the machine does not keep is a failure, not a success") {
  Modelled m;
  m.model.put_file("/etc/x", "text", 0644);
  m.model.set_before_call([&](support::Call call, std::string_view) {
    if (call == support::Call::sync) m.model.set_mode_of("/etc/x", 0644);
  });
  CHECK(m.pass.run({a_file("/etc/x").mode("0600").done()}).outcome("/etc/x") ==
        "failed: it did not take effect: mode is still 0644");
}

TEST_CASE("resource: [F01] a mount that comes after the look fails without a trace") {
  Modelled m;
  m.model.put_file("/etc/hosts", "old");
  m.pass.before_run = [&] {
    m.model.set_before_call([&](support::Call call, std::string_view) {
      if (call != support::Call::rename) return;
      m.model.set_before_call({});
      m.model.mount("/etc/hosts");
    });
  };
  const auto done = m.pass.run({a_file("/etc/hosts").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/hosts").find("mount point") != std::string::npos);
  CHECK(m.leftovers().empty());
}

TEST_CASE(
    "resource: written in place a file gets shorter, and its mode first where that is narrower") {
  Modelled m;
  m.model.put_file("/etc/x", "a long old text", 0644);
  std::uint32_t mode_when_written = 0;
  m.model.set_before_call([&](support::Call call, std::string_view) {
    if (call == support::Call::write) mode_when_written = m.model.find_stat("/etc/x")->mode;
  });
  auto file = a_file("/etc/x").content(m.scene.content, "short").mode("0600");
  file.with(Field::replace, std::string("inPlace"));
  CHECK(m.pass.run({file.done()}).outcome("/etc/x") == "succeeded");
  CHECK(m.text("/etc/x") == "short");
  CHECK(mode_when_written == 0600);
}

TEST_CASE("resource: [F06] the other name's bytes are as the policy says") {
  struct Row {
    const char* policy;
    const char* outcome;
    const char* other;
    std::uint64_t links;
  };
  for (const Row& row : {Row{"fail", "refused", "old", 2}, Row{"break", "succeeded", "old", 1},
                         Row{"inPlace", "succeeded", "new", 2}}) {
    INFO(row.policy);
    Modelled m;
    m.model.put_file("/etc/a", "old");
    m.model.put_hard_link("/etc/b", "/etc/a");
    auto file = a_file("/etc/a").content(m.scene.content, "new");
    file.with(Field::hard_links, std::string(row.policy));
    const auto done = m.pass.run({file.done()});
    CHECK(done.outcome("/etc/a").starts_with(row.outcome));
    CHECK(m.text("/etc/b") == row.other);
    CHECK(m.model.find_stat("/etc/a")->links == row.links);
  }
}

TEST_CASE("resource: [F06] a change of mode breaks a link too, with the old bytes copied") {
  Modelled m;
  m.model.put_file("/etc/a", std::string(300'000, 'x'));
  m.model.put_hard_link("/etc/b", "/etc/a");
  auto file = a_file("/etc/a").mode("0600");
  file.with(Field::hard_links, std::string("break"));
  CHECK(m.pass.run({file.done()}).outcome("/etc/a") == "succeeded");
  CHECK(m.text("/etc/a") == std::string(300'000, 'x'));
  CHECK(m.stat_text("/etc/b") == "regular file 0644 0:0");
}

TEST_CASE("resource: [F06] a second name that comes after the look is not written through") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  m.pass.before_run = [&] { m.model.put_hard_link("/etc/b", "/etc/a"); };
  const auto done = m.pass.run({a_file("/etc/a").mode("0600").done()});
  CHECK_FALSE(done.outcome("/etc/a") == "succeeded");
  CHECK(m.stat_text("/etc/b") == "regular file 0644 0:0");
}

TEST_CASE("resource: a wave refuses hard links and mount points even where the plan did not") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  m.model.put_hard_link("/etc/b", "/etc/a");
  m.model.put_file("/etc/hosts", "old");
  m.model.mount("/etc/hosts");
  m.pass.alter_plan = [](core::Plan& plan) {
    for (auto& action : plan.actions) action.refusal.clear();
  };
  const auto done = m.pass.run({a_file("/etc/a").content(m.scene.content, "new").done(),
                                a_file("/etc/hosts").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/a").find("2 names share this file") != std::string::npos);
  CHECK(done.outcome("/etc/hosts").find("replace: inPlace") != std::string::npos);
  CHECK(m.text("/etc/a") == "old");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: [F08] absent removes the name and never what a link points to") {
  Modelled m;
  m.model.put_file("/etc/real", "x");
  m.model.put_symlink("/etc/link", "/etc/real");
  const std::vector<model::Resource> good = {a_file("/etc/link").absent().done()};
  CHECK(m.pass.run(good).outcome("/etc/link") == "succeeded");
  CHECK(m.stat_text("/etc/link") == "absent");
  CHECK(m.text("/etc/real") == "x");
  m.check_converged(good);
}

TEST_CASE("resource: [F09] a foreign thing of another type is refused and stays") {
  Modelled m;
  m.model.put_file("/srv/a", "file");
  m.model.put_directory("/srv/b");
  m.model.put_special("/srv/c", os::FileType::fifo);
  m.model.put_special("/srv/d", os::FileType::character_device);
  const auto before = m.model.paths();
  const auto done = m.pass.run(
      {a_directory("/srv/a").done(), a_file("/srv/b").content(m.scene.content, "x").done(),
       a_file("/srv/c").content(m.scene.content, "x").done(), a_symlink("/srv/d", "x").done()});
  for (const char* path : {"/srv/a", "/srv/b", "/srv/c", "/srv/d"})
    CHECK(done.outcome(path).find("type conflict") != std::string::npos);
  CHECK(m.model.paths() == before);
}

TEST_CASE("resource: what Datum made and nobody changed may become every other type in one pass") {
  Modelled m;
  m.model.put_directory("/srv");
  const auto file = a_file("/srv/x").content(m.scene.content, "text").done();
  const auto link = a_symlink("/srv/x", "/etc").done();
  const auto folder = a_directory("/srv/x").mode("0750").done();
  const std::vector<std::pair<model::Resource, std::string>> steps = {
      {file, "regular file"}, {link, "symbolic link"}, {folder, "directory"},
      {file, "regular file"}, {folder, "directory"},   {link, "symbolic link"}};
  for (const auto& [step, type] : steps) {
    INFO(type);
    const auto done = m.pass.run({step});
    CHECK(done.outcome("/srv/x") == "succeeded");
    CHECK(m.stat_text("/srv/x").starts_with(type));
    m.check_converged({step});
  }
}

TEST_CASE("resource: a folder of Datum's that is not empty does not become a file") {
  Modelled m;
  m.model.put_directory("/srv");
  CHECK(m.pass.run({a_directory("/srv/x").done()}).outcome("/srv/x") == "succeeded");
  m.pass.before_run = [&] { m.model.put_file("/srv/x/theirs", "1"); };
  const auto done = m.pass.run({a_file("/srv/x").content(m.scene.content, "2").done()});
  CHECK_FALSE(done.outcome("/srv/x") == "succeeded");
  CHECK(m.text("/srv/x/theirs") == "1");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: directories are made with owner and mode, changed, and removed when empty") {
  Modelled m;
  m.model.put_directory("/srv");
  const std::vector<model::Resource> good = {
      a_directory("/srv/a").owner("test").group("staff").mode("2750").done(),
      a_directory("/srv/a/b").done()};
  auto done = m.pass.run(good);
  CHECK(done.outcome("/srv/a") == "succeeded");
  CHECK(done.outcome("/srv/a/b") == "succeeded");
  CHECK(m.stat_text("/srv/a") == "directory 2750 1234:50");
  CHECK(m.stat_text("/srv/a/b") == "directory 0755 0:0");
  m.check_converged(good);
  m.model.set_owner_of("/srv/a", 0, 0);
  m.model.set_mode_of("/srv/a", 0777);
  CHECK(m.pass.run(good).outcome("/srv/a") == "succeeded");
  CHECK(m.stat_text("/srv/a") == "directory 2750 1234:50");
  CHECK(m.pass.run({a_directory("/srv/a").absent().done(), a_directory("/srv/a/b").absent().done()})
            .outcome("/srv/a") == "succeeded");
  CHECK(m.stat_text("/srv/a") == "absent");
}

TEST_CASE("resource: symlinks are made and replaced, and their targets left alone") {
  Modelled m;
  m.model.put_file("/srv/real", "x");
  const std::vector<model::Resource> good = {a_symlink("/srv/l", "real").done()};
  CHECK(m.pass.run(good).outcome("/srv/l") == "succeeded");
  CHECK(m.model.find_target("/srv/l") == "real");
  m.model.put_symlink("/srv/l", "other");
  CHECK(m.pass.run(good).outcome("/srv/l") == "succeeded");
  CHECK(m.model.find_target("/srv/l") == "real");
  CHECK(m.text("/srv/real") == "x");
  m.check_converged(good);
}

TEST_CASE("resource: [F27] [F28] purge removes what nothing declares and nothing else") {
  Modelled m;
  for (const char* name : {"test1", "test2", "ours"})
    m.model.put_file(std::string("/etc/d/") + name, "x");
  m.model.put_symlink("/etc/d/test", "/etc/precious");
  m.model.put_symlink("/etc/d/foreign", "/etc/precious");
  m.model.put_file("/etc/precious", "p");
  m.model.put_special("/etc/d/pipe", os::FileType::fifo);
  m.model.put_directory("/etc/d/sub");
  const std::vector<model::Resource> good = {
      a_directory("/etc/d").with(Field::purge, true).mode("0700").done(),
      a_symlink("/etc/d/test", "/etc/precious").done(),
      a_file("/etc/d/ours").content(m.scene.content, "x").done()};
  const auto done = m.pass.run(good);
  for (const char* name : {"test1", "test2", "foreign", "pipe"})
    CHECK(done.outcome(std::string("/etc/d/") + name) == "succeeded");
  CHECK(done.outcome("/etc/d") == "succeeded");
  CHECK(m.model.paths() == std::vector<std::string>{"/etc", "/etc/d", "/etc/d/ours", "/etc/d/sub",
                                                    "/etc/d/test", "/etc/precious"});
  m.check_converged(good);
}

TEST_CASE("resource: [F30] purged folders go when empty, and one that filled meanwhile stays") {
  Modelled m;
  m.model.put_directory("/etc/d/empty");
  m.model.put_directory("/etc/d/filled");
  auto folder = a_directory("/etc/d").with(Field::purge, true).with(Field::purge_directories, true);
  m.pass.before_run = [&] { m.model.put_file("/etc/d/filled/x", "1"); };
  const auto done = m.pass.run({folder.done()});
  CHECK(done.outcome("/etc/d/empty") == "succeeded");
  CHECK(done.outcome("/etc/d/filled").starts_with("failed"));
  CHECK(m.text("/etc/d/filled/x") == "1");
}

TEST_CASE("resource: what Datum made leaves with its declaration, what it changed stays") {
  Modelled m;
  m.model.put_file("/etc/theirs", "1");
  const std::vector<model::Resource> both = {
      a_file("/etc/ours").content(m.scene.content, "1").done(),
      a_file("/etc/theirs").content(m.scene.content, "2").done()};
  m.pass.run(both);
  m.pass.run({});
  CHECK(m.stat_text("/etc/ours") == "absent");
  CHECK(m.text("/etc/theirs") == "2");
}

TEST_CASE("resource: a target that was swapped after the look is skipped and nothing is touched") {
  struct Row {
    const char* what;
    std::function<void(support::ModelFiles&)> swap;
  };
  const std::vector<Row> rows = {
      {"other file", [](auto& model) { model.put_file("/etc/x", "swapped", 0644, 5, 5); }},
      {"same size", [](auto& model) { model.put_file("/etc/x", "OLD", 0644); }},
      {"gone", [](auto& model) { model.remove("/etc/x"); }},
      {"link", [](auto& model) { model.put_symlink("/etc/x", "/etc/shadow"); }},
      {"folder", [](auto& model) { model.put_directory("/etc/x"); }},
      {"mode", [](auto& model) { model.set_mode_of("/etc/x", 0600); }},
  };
  for (const auto& row : rows) {
    for (const bool content : {true, false}) {
      INFO(row.what << (content ? " content" : " owner"));
      Modelled m;
      m.model.put_file("/etc/x", "old");
      m.model.put_file("/etc/shadow", "s", 0640);
      m.pass.before_run = [&] { row.swap(m.model); };
      auto file = a_file("/etc/x").owner("test");
      if (content) file.content(m.scene.content, "new");
      const auto done = m.pass.run({file.done()});
      CHECK(done.outcome("/etc/x").starts_with("skipped"));
      CHECK(m.stat_text("/etc/shadow") == "regular file 0640 0:0");
      CHECK_FALSE(m.text("/etc/x") == "new");
      CHECK(m.leftovers().empty());
    }
  }
}

TEST_CASE("resource: a target that is swapped while its new content is staged is skipped") {
  const auto moment = GENERATE(support::Call::create_file, support::Call::sync);
  for (const bool removes : {false, true}) {
    Modelled m;
    m.model.put_file("/etc/x", "old");
    m.model.put_file("/etc/y", "old");
    bool swapped = false;
    m.pass.before_run = [&] {
      m.model.set_before_call([&](support::Call call, std::string_view) {
        if (call != moment || swapped) return;
        swapped = true;
        m.model.put_file("/etc/x", "theirs");
      });
    };
    auto file = a_file("/etc/x");
    removes ? file.absent() : file.content(m.scene.content, "new");
    const auto done =
        m.pass.run({file.done(), a_file("/etc/y").content(m.scene.content, "new").done()});
    REQUIRE(swapped);
    CHECK(done.outcome("/etc/x").starts_with("skipped"));
    CHECK(done.outcome("/etc/y") == "succeeded");
    CHECK(m.text("/etc/x") == "theirs");
    CHECK(m.leftovers().empty());
  }
}

TEST_CASE("resource: something that appears where a file is made is not overwritten") {
  for (const bool late : {false, true}) {
    Modelled m;
    m.model.put_directory("/etc");
    const auto appear = [&] { m.model.put_file("/etc/x", "theirs"); };
    m.pass.before_run = [&] {
      if (!late) return appear();
      m.model.set_before_call([&](support::Call call, std::string_view) {
        if (call != support::Call::rename) return;
        m.model.set_before_call({});
        appear();
      });
    };
    const auto done = m.pass.run({a_file("/etc/x").content(m.scene.content, "ours").done()});
    CHECK_FALSE(done.outcome("/etc/x") == "succeeded");
    CHECK(m.text("/etc/x") == "theirs");
    CHECK(m.leftovers().empty());
  }
}

TEST_CASE("resource: [F31] a backup takes the first free name and overwrites nothing") {
  Modelled m;
  m.model.put_file("/etc/x", "theirs", 0640, 5, 6);
  m.model.put_file("/etc/x.datum-orig", "somebody's");
  auto file = a_file("/etc/x").content(m.scene.content, "ours").mode("0644");
  file.with(Field::on_conflict, std::string("backup"));
  CHECK(m.pass.run({file.done()}).outcome("/etc/x") == "succeeded");
  CHECK(m.text("/etc/x") == "ours");
  CHECK(m.text("/etc/x.datum-orig") == "somebody's");
  CHECK(m.text("/etc/x.datum-orig.1") == "theirs");
  CHECK(m.stat_text("/etc/x.datum-orig.1") == "regular file 0640 5:6");
  // Only at first contact.
  m.model.put_file("/etc/x", "drifted");
  CHECK(m.pass.run({file.done()}).outcome("/etc/x") == "succeeded");
  CHECK(m.stat_text("/etc/x.datum-orig.2") == "absent");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: content whose bytes changed since they were declared is not installed") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  auto rename = a_file("/etc/x").content(m.scene.content, "declared");
  auto in_place = rename;
  in_place.with(Field::replace, std::string("inPlace"));
  m.scene.content.lie("declared", "tampered");
  for (const auto& file : {rename.done(), in_place.done()}) {
    const auto done = m.pass.run({file});
    CHECK(done.outcome("/etc/x").starts_with("failed"));
    CHECK(done.result("/etc/x").error->code() == ErrorCode::conflict);
    CHECK(m.text("/etc/x") == "old");
    CHECK(m.leftovers().empty());
  }
}

TEST_CASE("resource: old content is kept before it is replaced or removed") {
  Modelled m;
  m.model.put_file("/etc/a", "old a");
  m.model.put_file("/etc/b", "old b");
  m.model.put_symlink("/etc/l", "old l");
  m.model.put_file("/etc/m", "same");
  const auto done =
      m.pass.run({a_file("/etc/a").content(m.scene.content, "new").done(),
                  a_file("/etc/b").absent().done(), a_symlink("/etc/l", "new").done(),
                  a_file("/etc/m").content(m.scene.content, "same").mode("0600").done()});
  std::map<std::string, std::string> kept;
  for (const auto& one : done.prepared)
    if (!one.old_content.empty())
      kept[done.plan->actions[one.ordinal].target.name] = m.pass.blobs.kept.at(one.old_content);
  CHECK(kept == std::map<std::string, std::string>{
                    {"/etc/a", "old a"}, {"/etc/b", "old b"}, {"/etc/l", "old l"}});
  CHECK(done.prepared.size() == 4);
  CHECK(m.pass.blobs.syncs == 1);
}

TEST_CASE("resource: [S08] the digest of kept sensitive content cannot be guessed from it") {
  Modelled m;
  m.model.put_file("/etc/s", "hunter2", 0600);
  m.model.put_file("/etc/w", std::string("DKEPT\x01\0\0plain", 13), 0644);
  const auto done = m.pass.run({a_file("/etc/s").content(m.scene.content, "new").done(),
                                a_file("/etc/w").content(m.scene.content, "new").done()});
  for (const auto& one : done.prepared) {
    const auto& path = done.plan->actions[one.ordinal].target.name;
    const std::string plain = path == "/etc/s" ? "hunter2" : std::string("DKEPT\x01\0\0plain", 13);
    CHECK(one.old_content != crypto::sha256(as_bytes(plain)));
    auto stream = resource::open_kept(m.pass.blobs, one.old_content);
    REQUIRE(stream);
    CHECK(stream->sensitive == (path == "/etc/s"));
    if (path == "/etc/s") {
      Bytes bytes(100);
      // The first 40 bytes are the wrap.
      std::string text;
      for (;;) {
        const auto count = stream->stream->read(bytes);
        REQUIRE(count);
        if (*count == 0) break;
        text.append(as_text(ByteView(bytes).first(*count)));
      }
      CHECK(text == plain);
    }
  }
}

TEST_CASE("resource: content beyond the limits is not kept, and the reason is told") {
  Modelled m;
  m.model.put_file("/etc/a", std::string(blobs::kMaxKeptFile + 1, 'x'));
  m.model.put_file("/etc/b", "small");
  m.pass.blobs.used_bytes = blobs::kMaxKeptTotal;
  const auto done = m.pass.run({a_file("/etc/a").content(m.scene.content, "new").done(),
                                a_file("/etc/b").content(m.scene.content, "new").done()});
  for (const auto& one : done.prepared) {
    CHECK(one.not_kept);
    CHECK(one.old_content.empty());
    CHECK_FALSE(one.not_kept_reason.empty());
  }
  CHECK(done.prepared[0].not_kept_reason == "larger than 16 MiB");
  CHECK(done.prepared[1].not_kept_reason == "2 GiB of old content are kept already");
  CHECK(done.result("/etc/a").old_content_not_kept);
  CHECK(done.result("/etc/a").old_size == blobs::kMaxKeptFile + 1);
}

TEST_CASE("resource: [F13] flags of chattr go along, onto a file that is empty still") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  m.model.set_flags("/etc/a", 0x48);
  const auto done = m.pass.run({a_file("/etc/a").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/a") == "succeeded");
  CHECK(m.text("/etc/a") == "new");
  CHECK(m.model.flags_of("/etc/a") == 0x48);
}

TEST_CASE("resource: declared content leaves the room for old content as it is") {
  Modelled m;
  for (const char* path : {"/etc/a", "/etc/b", "/etc/c"}) m.model.put_file(path, "12345678");
  // Room for one more as if all were old content, for two as it is.
  m.pass.blobs.used_bytes = blobs::kMaxKeptTotal - 10;
  int asked = 0;
  m.pass.options.measure_kept = [&asked]() -> Result<std::uint64_t> {
    ++asked;
    return blobs::kMaxKeptTotal - 16;
  };
  const auto done = m.pass.run({a_file("/etc/a").content(m.scene.content, "new").done(),
                                a_file("/etc/b").content(m.scene.content, "new").done(),
                                a_file("/etc/c").content(m.scene.content, "new").done()});
  CHECK(asked == 1);
  int kept = 0;
  for (const auto& one : done.prepared) kept += one.not_kept ? 0 : 1;
  // Two of eight bytes each, and not the third: what this wave keeps counts too.
  CHECK(kept == 2);
}

TEST_CASE("resource: the room for old content is measured only where all blobs leave none") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  int asked = 0;
  m.pass.options.measure_kept = [&asked]() -> Result<std::uint64_t> { return ++asked; };
  const auto done = m.pass.run({a_file("/etc/a").content(m.scene.content, "new").done()});
  CHECK(asked == 0);
  CHECK(done.prepared.front().old_content == crypto::sha256(as_bytes("old")));
}

TEST_CASE("resource: a file whose old content cannot be read is not replaced") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  auto declared = declare({a_file("/etc/a").content(m.scene.content, "new").done()});
  const auto seen = m.scene.observe(declared, *declared->manifest->resources[0]);
  core::PlanInput input;
  input.manifest = declared->manifest.get();
  input.observations = std::span(&seen, 1);
  input.state = &m.pass.state;
  auto plan = std::make_shared<core::Plan>(core::compute_plan(input));
  resource::FileWave wave(m.scene.shared(), declared, plan, {0}, m.pass.options);
  m.model.fail_call(support::Call::read, 1, EIO);
  REQUIRE(wave.keep_old(m.pass.blobs));
  const auto results = wave.run();
  REQUIRE(results.size() == 1);
  REQUIRE(results[0].error);
  CHECK(results[0].error->message().find("could not be kept") != std::string::npos);
  CHECK(m.text("/etc/a") == "old");
}

TEST_CASE("resource: one action that fails takes no other with it") {
  Modelled m;
  m.model.put_directory("/etc");
  std::vector<model::Resource> all;
  for (const char* name : {"a", "b", "c"})
    all.push_back(a_file(std::string("/etc/") + name).content(m.scene.content, name).done());
  all.push_back(a_file("/etc/d").content(m.scene.content, "d").owner("nobody-has-this").done());
  const auto done = m.pass.run(all);
  for (const char* path : {"/etc/a", "/etc/b", "/etc/c"}) CHECK(done.outcome(path) == "succeeded");
  CHECK(done.outcome("/etc/d") == "failed: no user nobody-has-this on this machine");
  CHECK(m.stat_text("/etc/d") == "absent");
  CHECK(m.leftovers().empty());
  CHECK(done.result("/etc/d").failure == m.pass.run(all).result("/etc/d").failure);
}

TEST_CASE(
    "resource: once a wave is stopped what is live is ended, and the rest is left as it was") {
  const std::string point = GENERATE("stage", "staged", "rename", "renamed");
  Modelled m;
  m.model.put_file("/etc/gone", "to be removed");
  std::vector<model::Resource> all;
  for (const char* name : {"a", "b", "c", "d", "e"})
    all.push_back(a_file(std::string("/etc/") + name).content(m.scene.content, name).done());
  all.push_back(a_file("/etc/gone").absent().done());
  int reached = 0;
  m.pass.options.crash_point = [&](const char* at, std::uint32_t) {
    if (at == point && ++reached == 2) m.pass.options.stop.stop();
  };
  const auto done = m.pass.run(all);
  REQUIRE(reached >= 2);
  int made = 0;
  for (const auto& [ordinal, result] : done.results) {
    const auto path = done.plan->actions[ordinal].target.name.str();
    INFO(point << " " << path);
    const bool is_live = done.outcome(path) == "succeeded";
    made += is_live ? 1 : 0;
    if (!is_live) CHECK(done.outcome(path) == "skipped: not begun: the pass was held at once");
    CHECK((m.text(path) == (path == "/etc/gone" ? "to be removed" : "(nothing)")) == !is_live);
  }
  CHECK(made == (point.starts_with("stage") ? 0 : 2));
  CHECK(m.leftovers().empty());
  m.pass.options.stop = {};
  m.pass.options.crash_point = {};
  CHECK(m.pass.run(all).results.size() == all.size() - static_cast<std::size_t>(made));
  m.check_converged(all);
}

TEST_CASE("resource: [F18] odd names and long names are files like others") {
  Modelled m;
  m.model.put_directory("/etc");
  std::vector<model::Resource> all;
  for (const auto& name : {std::string("a=b"), std::string(" a b"), std::string("-rf"),
                           std::string("a\nb"), std::string("bad\xff\xfeutf"),
                           std::string(255, 'n'), std::string("*"), std::string("$(x)")})
    all.push_back(a_file("/etc/" + name).content(m.scene.content, name).mode("0600").done());
  auto done = m.pass.run(all);
  for (const auto& one : all) {
    INFO(one.target.name);
    CHECK(done.outcome(one.target.name) == "succeeded");
  }
  m.check_converged(all);
  for (auto& one : all) {
    m.model.put_file(one.target.name, "drift");
    INFO(one.target.name);
    CHECK(m.pass.run(all).outcome(one.target.name) == "succeeded");
  }
  m.check_converged(all);
}

TEST_CASE("resource: [F18] a backup of a name of 255 bytes fits") {
  Modelled m;
  const auto path = "/etc/" + std::string(255, 'n');
  m.model.put_file(path, "theirs");
  auto file = a_file(path).content(m.scene.content, "ours");
  file.with(Field::on_conflict, std::string("backup"));
  CHECK(m.pass.run({file.done()}).outcome(path) == "succeeded");
  CHECK(m.text("/etc/" + std::string(244, 'n') + ".datum-orig") == "theirs");
}

TEST_CASE("resource: a symlink on the way that belongs to a user is refused when acting, too") {
  Modelled m;
  m.model.put_directory("/home/u/d", 0755, 1234);
  m.model.set_owner_of("/home/u", 1234, 1234);
  m.model.put_file("/root/x", "root's");
  m.pass.before_run = [&] {
    m.model.remove("/home/u/d");
    m.model.put_symlink("/home/u/d", "/root", 1234);
  };
  const auto done = m.pass.run({a_file("/home/u/d/x").content(m.scene.content, "planted").done()});
  CHECK(done.outcome("/home/u/d/x").starts_with("failed: not touched"));
  CHECK(m.text("/root/x") == "root's");
}

TEST_CASE("resource: an action on Datum's own file is refused when acting") {
  Modelled m;
  m.model.put_file("/srv/x", "old");
  m.pass.before_run = [&] { m.scene.machine().own_files.push_back(*m.model.find_stat("/srv")); };
  const auto done = m.pass.run({a_file("/srv/x").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/srv/x").find("belongs to Datum") != std::string::npos);
  CHECK(m.text("/srv/x") == "old");
}

TEST_CASE("resource: temp names tell stores, passes and actions apart and fit any name") {
  Id128 store;
  store.bytes.fill(0xff);
  CHECK(resource::temp_name(store, UINT64_MAX, UINT32_MAX).size() <= 60);
  CHECK(resource::temp_name(store, 1, 2) != resource::temp_name(store, 1, 3));
  CHECK(resource::temp_name(store, 1, 2) != resource::temp_name(store, 2, 2));
  CHECK(resource::temp_name(store, 1, 2) != resource::temp_name({}, 1, 2));
}
