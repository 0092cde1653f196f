// Validators: what stands between staged bytes and the live file.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;

namespace {

struct Modelled {
  support::ModelFiles model;
  Scene scene{model};
  Pass pass{scene};
  std::vector<std::string> argv;
  std::string seen;  // what the program would have read
  std::string environment;
  loop::ChildResult answer;

  Modelled() {
    model.put_directory("/run");
    for (const auto* program :
         {"/usr/sbin/sshd", "/usr/sbin/visudo", "/usr/bin/systemd-analyze", "/usr/sbin/nginx"})
      model.put_file(program, "", 0755);
    answer.exit_status = 0;
    pass.options.run_child = [this](const loop::ChildOptions& child) -> Result<loop::ChildResult> {
      argv = child.argv;
      seen = model.find_content(child.argv.back()).value_or("(nothing)");
      environment.clear();
      for (const auto& one : child.environment) environment += one + "\n";
      return answer;
    };
  }
  std::string run(const std::string& path, const std::string& text, const char* validator) {
    auto file = a_file(path).content(scene.content, text).mode("0644");
    file.with(Field::validate, std::string(validator));
    return pass.run({file.done()}).outcome(path);
  }
  std::string text(const std::string& path) {
    return model.find_content(path).value_or("(nothing)");
  }
  std::string leftovers() {
    std::string names;
    for (const auto& path : model.paths())
      if (path.find("/.datum-") != std::string::npos) names += path + "\n";
    return names;
  }
};

}  // namespace

TEST_CASE("resource: json and yaml that do not parse never go live, with the place of the fault") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  CHECK(m.run("/etc/x", "{\"a\": 1,}", "json").starts_with("failed: validate: json"));
  CHECK(m.run("/etc/x", "a: [1\nb: 2\n", "yaml").find("line ") != std::string::npos);
  CHECK(m.text("/etc/x") == "old");
  CHECK(m.leftovers().empty());
  CHECK(m.run("/etc/x", "{\"a\": [1, null]}", "json") == "succeeded");
  CHECK(m.run("/etc/x", "a: yes\nb: ~\n---\nc: 1\n", "yaml") == "succeeded");
}

TEST_CASE("resource: [F21] a program gets the staged path and its refusal keeps the old file") {
  Modelled m;
  m.model.put_file("/etc/ssh/sshd_config", "PermitRootLogin yes\n");
  m.answer.exit_status = 255;
  m.answer.output = "line 1: Bad configuration option";
  auto file = a_file("/etc/ssh/sshd_config")
                  .content(m.scene.content, "PermitRootLogin True\n")
                  .mode("0644");
  file.with(Field::validate, std::string("sshd"));
  const auto done = m.pass.run({file.done()});
  CHECK(done.outcome("/etc/ssh/sshd_config") == "failed: validate: sshd: refused, exit status 255");
  CHECK(done.result("/etc/ssh/sshd_config").output == "line 1: Bad configuration option");
  CHECK(m.text("/etc/ssh/sshd_config") == "PermitRootLogin yes\n");
  CHECK(m.seen == "PermitRootLogin True\n");
  REQUIRE(m.argv.size() == 4);
  CHECK(m.argv[0] == "/usr/sbin/sshd");
  CHECK(m.argv[1] == "-t");
  CHECK(m.argv[3].starts_with("/etc/ssh/.datum-"));
  CHECK(m.environment ==
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
        "LANG=C.UTF-8\nHOME=/\nTERM=dumb\n");
  CHECK(m.model.find_stat("/run/sshd"));
  CHECK(m.leftovers().empty());
  m.answer.exit_status = 0;
  CHECK(m.pass.run({file.done()}).outcome("/etc/ssh/sshd_config") == "succeeded");
}

TEST_CASE("resource: a validator that is missing, killed or too slow is a failure") {
  Modelled m;
  m.model.put_file("/etc/sudoers", "old");
  m.model.remove("/usr/sbin/visudo");
  CHECK(m.run("/etc/sudoers", "new", "sudoers").find("visudo is not installed") !=
        std::string::npos);
  CHECK(m.argv.empty());
  m.model.put_file("/usr/bin/visudo", "", 0755);
  CHECK(m.run("/etc/sudoers", "new", "sudoers") == "succeeded");
  CHECK(m.argv[0] == "/usr/bin/visudo");
  m.answer = {};
  m.answer.signal = 9;
  CHECK(m.run("/etc/sudoers", "newer", "sudoers").find("signal 9") != std::string::npos);
  m.answer.timed_out = true;
  CHECK(m.run("/etc/sudoers", "newer", "sudoers").find("30 seconds") != std::string::npos);
  m.pass.options.run_child = {};
  CHECK(m.run("/etc/sudoers", "newer", "sudoers").starts_with("failed"));
  CHECK(m.text("/etc/sudoers") == "new");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: systemd's validator sees a unit under the unit's own name") {
  Modelled m;
  m.model.put_directory("/etc/systemd/system");
  CHECK(m.run("/etc/systemd/system/x.service", "[Service]\n", "systemd-unit") == "succeeded");
  CHECK(m.argv.back().ends_with("/x.service"));
  CHECK(m.seen == "[Service]\n");
  CHECK(m.leftovers().empty());
  m.answer.exit_status = 1;
  CHECK(m.run("/etc/systemd/system/x.service", "[Servic]\n", "systemd-unit").starts_with("failed"));
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: a drop-in is validated merged with the unit that it belongs to") {
  Modelled m;
  m.model.put_directory("/etc/systemd/system/x.service.d");
  const std::string path = "/etc/systemd/system/x.service.d/10-limits.conf";
  CHECK(m.run(path, "[Service]\n", "systemd-unit").find("x.service") != std::string::npos);
  m.model.put_file("/usr/lib/systemd/system/x.service", "the unit");
  std::string drop_in;
  m.pass.options.run_child = [&](const loop::ChildOptions& child) -> Result<loop::ChildResult> {
    m.seen = m.text(child.argv.back());
    drop_in = m.text(child.argv.back() + ".d/10-limits.conf");
    m.environment = child.environment.back();
    return m.answer;
  };
  CHECK(m.run(path, "[Service]\nx\n", "systemd-unit") == "succeeded");
  CHECK(m.seen == "the unit");
  CHECK(drop_in == "[Service]\nx\n");
  CHECK(m.environment.starts_with("SYSTEMD_UNIT_PATH=/etc/systemd/system/x.service.d/.datum-"));
  CHECK(m.environment.ends_with(":"));
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: a part of nginx's configuration is validated from the main file, in place") {
  Modelled m;
  m.model.put_directory("/etc/nginx/sites-available");
  m.model.put_directory("/etc/nginx/sites-enabled");
  m.model.put_file("/etc/nginx/mime.types", "types");
  m.model.put_file("/etc/nginx/nginx.conf",
                   "# include /etc/nginx/conf.d/no.conf;\nhttp {\n  include mime.types;\n"
                   "  include /etc/nginx/conf.d/*.conf; log \"include x;\";\n"
                   "  include sites-enabled/*;\n}\n");
  m.model.put_file("/etc/nginx/conf.d/a.conf", "a");
  m.model.put_file("/etc/nginx/conf.d/z.conf", "z");
  m.model.put_file("/etc/nginx/snippets/tls.conf", "old");
  m.model.put_file("/etc/nginx/sites-available/shop", "server { include snippets/tls.conf; }");
  m.model.put_symlink("/etc/nginx/sites-enabled/shop", "../sites-available/shop");
  std::string main_file;
  std::map<std::string, std::string> shadow;
  m.pass.options.run_child = [&](const loop::ChildOptions& child) -> Result<loop::ChildResult> {
    main_file = m.text(child.argv.back());
    shadow.clear();
    for (const auto& path : m.model.paths())
      if (path.find("-check/") != std::string::npos)
        shadow[path.substr(path.rfind('/') + 1)] =
            m.model.find_target(path).value_or(m.model.find_content(path).value_or("?"));
    return m.answer;
  };

  SECTION("a new one that a pattern covers stands at its place, beside the live ones") {
    CHECK(m.run("/etc/nginx/conf.d/m.conf", "new", "nginx") == "succeeded");
    const auto at = main_file.find(
        "include \"/etc/nginx/conf.d/a.conf\"; include \""
        "/etc/nginx/conf.d/.datum-");
    CHECK(at != std::string::npos);
    CHECK(main_file.find("; include \"/etc/nginx/conf.d/z.conf\"; ", at) != std::string::npos);
    CHECK(main_file.find("# include /etc/nginx/conf.d/no.conf;") == 0);
    CHECK(main_file.find("include mime.types;") != std::string::npos);
    CHECK(main_file.find("log \"include x;\";") != std::string::npos);
    CHECK(shadow.at("mime.types") == "/etc/nginx/mime.types");
  }
  SECTION("one that another file includes is reached through a copy of that file") {
    CHECK(m.run("/etc/nginx/snippets/tls.conf", "new", "nginx") == "succeeded");
    CHECK(main_file.find("include \"/etc/nginx/conf.d") == std::string::npos);
    const auto& site = shadow.at(".datum-part-4");
    CHECK(site.starts_with("server { include \"/etc/nginx/snippets/.datum-"));
    CHECK(main_file.find(".datum-part-4\"; ") != std::string::npos);
  }
  SECTION("one that is reached through a link is that link's place") {
    CHECK(m.run("/etc/nginx/sites-available/shop", "new", "nginx") == "succeeded");
    CHECK(main_file.find("include \"/etc/nginx/sites-available/.datum-") != std::string::npos);
  }
  SECTION("one that nothing includes leaves all as it is, and a refusal changes nothing") {
    CHECK(m.run("/etc/nginx/sites-available/other", "new", "nginx") == "succeeded");
    CHECK(main_file == m.text("/etc/nginx/nginx.conf"));
    m.answer.exit_status = 1;
    CHECK(m.run("/etc/nginx/conf.d/a.conf", "b", "nginx").starts_with("failed: validate: nginx"));
    CHECK(m.text("/etc/nginx/conf.d/a.conf") == "a");
  }
  SECTION("without a main file there is nothing to test it in") {
    m.model.remove("/etc/nginx/nginx.conf");
    CHECK(m.run("/etc/nginx/conf.d/a.conf", "b", "nginx").starts_with("failed"));
  }
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: a shadow that a dead process left is no obstacle, and recovery removes it") {
  Modelled m;
  m.model.put_directory("/etc/systemd/system");
  const auto shadow = "/etc/systemd/system/" +
                      resource::temp_name(m.pass.options.store, m.pass.options.pass, 0) + "-check";
  m.model.put_file(shadow + "/x.service", "dead");
  m.model.put_file(shadow + "/x.service.d/y.conf", "dead");
  const core::AnnouncedState announced{0,
                                       core::ActionKind::create,
                                       {model::TargetFamily::path, "/etc/systemd/system/x.service"},
                                       core::Found::absent};
  const resource::DeadWave dead{m.pass.options.store, m.pass.options.pass, {announced}, {}};
  const auto seen = resource::recover_actions(m.scene.machine(), *declare({}), dead).front();
  CHECK(seen.outcome == core::RecoveredOutcome::did_not);
  REQUIRE(seen.temporary_left);
  CHECK(resource::remove_leftover(m.scene.machine(), dead.store,
                                  {dead.pass, announced.ordinal, announced.target}));
  CHECK(m.leftovers().empty());
  m.model.put_file(shadow + "/x.service", "dead");
  CHECK(m.run("/etc/systemd/system/x.service", "[Service]\n", "systemd-unit") == "succeeded");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: [S06] in a folder that others may write no program is shown a path") {
  Modelled m;
  m.model.put_directory("/home/anna", 0755, 1000, 1000);
  m.answer.exit_status = 1;
  m.answer.output = "line 1 of what the path led to";
  for (const auto* validator : {"sshd", "sudoers", "systemd-unit"}) {
    auto file = a_file("/home/anna/x").content(m.scene.content, "new").mode("0644");
    file.with(Field::validate, std::string(validator));
    const auto done = m.pass.run({file.done()});
    CHECK(done.outcome("/home/anna/x").find("/home/anna: owner uid 1000") != std::string::npos);
    CHECK(done.result("/home/anna/x").output.empty());
  }
  CHECK(m.argv.empty());
  CHECK(m.leftovers().empty());
  CHECK(m.run("/home/anna/x.json", "{}", "json") == "succeeded");
}

TEST_CASE("resource: [S06] recovery empties no folder that somebody moved to a shadow's name") {
  Modelled m;
  m.model.put_directory("/home/anna", 0755, 1000, 1000);
  const auto moved =
      "/home/anna/" + resource::temp_name(m.pass.options.store, m.pass.options.pass, 0) + "-check";
  m.model.put_directory(moved, 0700);
  m.model.put_file(moved + "/key", "root's own");
  const core::AnnouncedState announced{0,
                                       core::ActionKind::create,
                                       {model::TargetFamily::path, "/home/anna/x"},
                                       core::Found::absent};
  const resource::DeadWave dead{m.pass.options.store, m.pass.options.pass, {announced}, {}};
  const auto seen = resource::recover_actions(m.scene.machine(), *declare({}), dead).front();
  CHECK(m.text(moved + "/key") == "root's own");
  CHECK_FALSE(seen.temporary_left);
  CHECK(resource::remove_leftover(m.scene.machine(), m.pass.options.store,
                                  {m.pass.options.pass, 0, announced.target}));
  CHECK(m.text(moved + "/key") == "root's own");
}

TEST_CASE("resource: under another root the validator is that root's own, run inside it") {
  Modelled m;
  m.scene.machine().root_path = "/mnt/image";
  m.model.put_file("/etc/sudoers", "old");
  CHECK(m.run("/etc/sudoers", "new", "sudoers") == "succeeded");
  REQUIRE(m.argv.size() == 6);
  CHECK(m.argv[0] == "/usr/sbin/chroot");
  CHECK(m.argv[1] == "/mnt/image");
  CHECK(m.argv[2] == "/usr/sbin/visudo");
  CHECK(m.argv[5].starts_with("/etc/.datum-"));
  m.model.remove("/usr/sbin/visudo");
  CHECK(m.run("/etc/sudoers", "newer", "sudoers").find("not installed") != std::string::npos);
  m.scene.machine().trusted_uid = 1000;
  m.argv.clear();
  CHECK(m.run("/etc/sudoers", "newer", "sudoers").find("only root") != std::string::npos);
  CHECK(m.argv.empty());
  CHECK(m.text("/etc/sudoers") == "new");
  CHECK(m.run("/etc/x.json", "{}", "json") == "succeeded");
}

TEST_CASE("resource: a validator that somebody other than root could have written is not run") {
  Modelled m;
  m.model.put_file("/etc/sudoers", "old");
  m.model.put_file("/usr/sbin/visudo", "", 0775);
  CHECK(m.run("/etc/sudoers", "new", "sudoers").find("its mode 0775") != std::string::npos);
  m.model.remove("/usr/sbin/visudo");
  m.model.put_directory("/opt/any", 0777);
  m.model.put_file("/opt/any/visudo", "", 0755);
  m.model.put_symlink("/usr/sbin/visudo", "/opt/any/visudo");
  CHECK(m.run("/etc/sudoers", "new", "sudoers").find("writable by others") != std::string::npos);
  CHECK(m.argv.empty());
  m.model.put_directory("/opt/any", 0755);
  CHECK(m.run("/etc/sudoers", "new", "sudoers") == "succeeded");
  CHECK(m.argv[0] == "/opt/any/visudo");
}

TEST_CASE("resource: of much output the first and last 8 KiB are kept, and the gap is named") {
  Modelled m;
  m.model.put_file("/etc/sudoers", "old");
  m.answer.exit_status = 1;
  m.answer.output = std::string(8192, 'a') + std::string(8192, 'z');
  m.answer.output_left_out = 77;
  auto file = a_file("/etc/sudoers").content(m.scene.content, "new").mode("0644");
  file.with(Field::validate, std::string("sudoers"));
  const auto output = m.pass.run({file.done()}).result("/etc/sudoers").output;
  CHECK(output.find("a\n[77 bytes were left out here]\nz") == 8191);
}

TEST_CASE("resource: [S08] what a validator says of a sensitive file is not recorded") {
  Modelled m;
  m.model.put_file("/etc/sudoers", "old", 0440);
  m.answer.exit_status = 1;
  m.answer.output = "near: hunter2";
  auto file = a_file("/etc/sudoers").content(m.scene.content, "hunter2").mode("0440");
  file.with(Field::validate, std::string("sudoers"));
  CHECK(m.pass.run({file.done()}).result("/etc/sudoers").output == "(redacted)");
}

TEST_CASE("resource: a file written in place is validated before the first byte") {
  Modelled m;
  m.model.put_file("/etc/x", "{}");
  auto file = a_file("/etc/x").content(m.scene.content, "{").mode("0644");
  file.with(Field::validate, std::string("json"));
  file.with(Field::replace, std::string("inPlace"));
  CHECK(m.pass.run({file.done()}).outcome("/etc/x").starts_with("failed: validate: json"));
  CHECK(m.text("/etc/x") == "{}");
  CHECK(m.leftovers().empty());
}
