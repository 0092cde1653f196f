// Users and Groups over modelled files and tools that are played: which tools run with which
// arguments, where the hash goes, and what is believed of a tool's end.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;

namespace {

constexpr const char* kHash = "$6$salt$hash";

struct World {
  support::ModelFiles files;
  resource::FolderSecrets secrets{files, "/secrets", 0};
  Scene scene{files};
  core::State state;
  std::vector<loop::ChildOptions> ran;
  std::function<loop::ChildResult(const loop::ChildOptions&)> play;

  World() {
    files.put_file("/etc/passwd",
                   "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000:A:/home/anna:/bin/sh\n");
    files.put_file("/etc/shadow", "root:*:1::::::\nanna:$6$old$h:1::::::\n", 0600);
    files.put_file("/etc/group", "root:x:0:\nanna:x:1000:\nadm:x:4:anna\nwww:x:33:\n");
    files.put_file("/etc/gshadow", "root:*::\nanna:!::\nadm:*::anna\nwww:*::\n", 0600);
    files.put_file("/secrets/anna", std::string(kHash) + "\n", 0600);
    scene.machine().secrets = &secrets;
  }

  static model::Resource user(const std::string& name, std::vector<model::FieldValue> fields) {
    model::Resource resource;
    resource.reference = {model::ResourceType::user, name};
    resource.fields = std::move(fields);
    resource.fields.push_back({model::Field::state, std::string("present")});
    model::finish_resource(resource);
    return resource;
  }

  // Observes, plans and runs the wave of one user; its outcome in words.
  std::string apply(const model::Resource& resource) {
    ran.clear();
    const auto planned = plan_for(scene, state, {resource});
    const auto& plan = planned.plan;
    if (plan->actions.empty()) return "nothing to do";
    if (!plan->actions[0].refusal.empty()) return "refused: " + plan->actions[0].refusal;
    CHECK(plan->actions[0].privileged);
    resource::WaveOptions options;
    options.run_child = [this](const loop::ChildOptions& child) -> Result<loop::ChildResult> {
      ran.push_back(child);
      if (play) return play(child);
      loop::ChildResult ended;
      ended.exit_status = 0;
      return ended;
    };
    if (between) between();
    const auto wave = resource::make_wave(scene.shared(), planned.declared, plan, {0}, options);
    MemoryBlobs blobs;
    REQUIRE(wave->prepare(blobs));
    wave->act();
    last = std::move(wave->finish().front());
    if (last.skipped) return "skipped: " + last.message;
    return last.error ? "failed: " + last.error->message() : "succeeded";
  }

  [[nodiscard]] std::string argv(std::size_t index) const {
    std::string text;
    for (const auto& word : ran.at(index).argv) text += (text.empty() ? "" : " ") + word;
    return text;
  }

  core::ActionResult last;
  std::function<void()> between;
};

model::FieldValue text(model::Field field, const char* value) {
  return {field, std::string(value)};
}

}  // namespace

TEST_CASE(
    "account: all that differs goes into one usermod, the hash into chpasswd's input alone [S08]") {
  World world;
  const auto wanted =
      World::user("anna", {text(model::Field::shell, "/bin/bash"),
                           text(model::Field::comment, "-rf; $(x)"),
                           {model::Field::groups, std::vector<std::string>{"www", "adm"}},
                           text(model::Field::password_ref, "anna")});
  CHECK(world.apply(wanted).starts_with("failed: it did not take effect: "));
  REQUIRE(world.ran.size() == 2);
  CHECK(world.argv(0) ==
        "/usr/sbin/usermod --groups adm,www --shell /bin/bash --comment -rf; $(x) anna");
  CHECK(world.ran[0].input.empty());
  CHECK(world.argv(1) == "/usr/sbin/chpasswd --encrypted");
  CHECK(world.ran[1].input == "anna:$6$salt$hash\n");
  for (const auto& child : world.ran)
    for (const auto& word : child.environment) CHECK(word.find("hash") == std::string::npos);
  CHECK_FALSE(world.last.changed);  // the files are as they were
}

TEST_CASE("account: a lock stays over a new password, the bare one of a new account does not") {
  for (const auto& [field, input] :
       std::vector<std::pair<std::string, std::string>>{{"!", "anna:$6$salt$hash\n"},
                                                        {"!!", "anna:$6$salt$hash\n"},
                                                        {"!$6$old$h", "anna:!$6$salt$hash\n"},
                                                        {"*", "anna:!$6$salt$hash\n"}}) {
    World world;
    world.files.put_file("/etc/shadow", "root:*:1::::::\nanna:" + field + ":1::::::\n", 0600);
    world.apply(World::user("anna", {text(model::Field::password_ref, "anna")}));
    REQUIRE(world.ran.size() == 1);
    CHECK(world.ran[0].input == input);
  }
}

TEST_CASE("account: no password is set without a shadow file, and nothing done to one with NUL") {
  World world;
  world.files.remove("/etc/shadow");
  const auto wanted = World::user("anna", {text(model::Field::password_ref, "anna")});
  CHECK(world.apply(wanted) == "nothing to do");
  CHECK(world.ran.empty());
  world.files.put_file("/etc/shadow", std::string("root:*:1::::::\nan\0na:*:1::::::\n", 30), 0600);
  CHECK(world.apply(wanted) == "nothing to do");
  CHECK(world.ran.empty());
}

TEST_CASE("account: root is never removed, by whatever name") {
  World world;
  for (const bool renamed : {false, true}) {
    if (renamed) world.files.put_file("/etc/passwd", "anna:x:0:0::/root:/bin/sh\n");
    auto gone = World::user(renamed ? "anna" : "root", {});
    gone.fields.front() = {model::Field::state, std::string("absent")};
    model::finish_resource(gone);
    CHECK(world.apply(gone) == "nothing to do");
    CHECK(world.ran.empty());
  }
}

TEST_CASE("account: a hash that a tool prints is redacted in its output and its failure") {
  World world;
  world.play = [](const loop::ChildOptions& child) {
    loop::ChildResult ended;
    ended.exit_status = child.input.empty() ? 0 : 1;
    ended.output = "cannot take " + child.input;
    return ended;
  };
  const auto told = world.apply(World::user("anna", {text(model::Field::password_ref, "anna")}));
  CHECK(told == "failed: chpasswd ended with status 1: cannot take anna:(redacted)");
  CHECK(world.last.output.find("$6$") == std::string::npos);
}

TEST_CASE("account: success is what the files say, not what the tool does") {
  World world;
  const auto wanted = World::user("anna", {text(model::Field::shell, "/bin/bash")});
  CHECK(world.apply(wanted) == "failed: it did not take effect: shell is /bin/sh");
  world.play = [&](const loop::ChildOptions&) {
    world.files.put_file("/etc/passwd", "anna:x:1000:1000:A:/home/anna:/bin/bash\n");
    loop::ChildResult ended;
    ended.exit_status = 0;
    return ended;
  };
  CHECK(world.apply(wanted) == "succeeded");
  CHECK(world.last.left.found == core::Found::present);
}

TEST_CASE("account: what is there after a failure is told only where a tool succeeded") {
  for (const bool by_us : {true, false}) {
    World world;
    auto wanted = World::user("berta", {text(model::Field::password_ref, "anna")});
    // useradd does it and chpasswd fails; or somebody else was faster, and useradd fails.
    world.play = [&, by_us](const loop::ChildOptions& child) {
      if (child.input.empty())
        world.files.put_file("/etc/passwd", "berta:x:1001:1001:B:/home/berta:/bin/sh\n");
      loop::ChildResult ended;
      ended.exit_status = child.input.empty() == by_us ? 0 : 1;
      return ended;
    };
    CHECK(world.apply(wanted).starts_with("failed: "));
    CHECK(world.last.changed);
    REQUIRE(world.last.remains.has_value() == by_us);
    if (!by_us) continue;
    CHECK(world.last.remains->left.found == core::Found::present);
    CHECK(world.last.remains->made);
  }
}

TEST_CASE("account: [G01] groups are a set, and the primary one is none of them") {
  World world;
  const auto in = [](std::vector<std::string> names) {
    return World::user("anna", {{model::Field::groups, std::move(names)}});
  };
  CHECK(drifts_of(world.scene.observe(in({"adm"}))).empty());
  CHECK(drifts_of(world.scene.observe(in({"anna", "adm"}))).empty());
  CHECK(drifts_of(world.scene.observe(in({"www", "adm"}))) == "groups: adm -> adm, www\n");
  CHECK(drifts_of(world.scene.observe(in({}))) == "groups: adm -> none\n");
}

TEST_CASE("account: one that somebody changed since it was observed is skipped, and no tool runs") {
  World world;
  world.between = [&] {
    world.files.put_file("/etc/passwd", "anna:x:1000:1000:A:/home/anna:/bin/zsh\n");
  };
  CHECK(world.apply(World::user("anna", {text(model::Field::shell, "/bin/bash")})) ==
        "skipped: it was changed since it was observed");
  CHECK(world.ran.empty());
}

TEST_CASE("account: a tool past its limit or dead of a signal is told as such") {
  World world;
  const auto wanted = World::user("anna", {text(model::Field::shell, "/bin/bash")});
  world.play = [](const loop::ChildOptions&) {
    loop::ChildResult ended;
    ended.timed_out = true;
    ended.signal = 9;
    return ended;
  };
  CHECK(world.apply(wanted).find("did not end within 60 seconds") != std::string::npos);
  world.play = [](const loop::ChildOptions&) {
    loop::ChildResult ended;
    ended.signal = 11;
    return ended;
  };
  CHECK(world.apply(wanted) == "failed: usermod died of signal 11");
}

TEST_CASE("account: under another root the tools get it, and a number in use is never changed") {
  World world;
  world.scene.machine().root_path = "/srv/other";
  const auto number = model::FieldValue{model::Field::uid, std::int64_t{2000}};
  CHECK(world.apply(World::user("anna", {number})).starts_with("refused: not corrected"));
  const auto told = world.apply(World::user("anna", {number, text(model::Field::shell, "/x")}));
  CHECK(world.argv(0) == "/usr/sbin/usermod --prefix /srv/other --shell /x anna");
  CHECK(told.starts_with("failed: "));
  world.apply(World::user("bert", {number, {model::Field::system, true}}));
  CHECK(world.argv(0) ==
        "/usr/sbin/useradd --prefix /srv/other --no-create-home --system --uid 2000 bert");
}
