// Settings over modelled files: how each is spoilt, what is said and done, several in one file, and
// what becomes of the file itself.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;

namespace {

constexpr const char* kFile = "/etc/app.ini";
constexpr const char* kTarget = "/etc/app.ini [main] level";

class Wanted {
 public:
  explicit Wanted(const std::string& value = "3", const std::string& key = "level") {
    resource_.reference = {model::ResourceType::setting, "r"};
    with(Field::path, kFile).with(Field::format, "ini").with(Field::section, "main");
    with(Field::key, key).with(Field::value, value);
  }
  Wanted& with(Field field, const std::string& value) {
    std::erase_if(resource_.fields, [&](const auto& one) { return one.field == field; });
    resource_.fields.push_back({field, value});
    return *this;
  }
  Wanted& secret(const std::string& name) {
    std::erase_if(resource_.fields, [](const auto& one) { return one.field == Field::value; });
    return with(Field::secret_ref, name);
  }
  Wanted& absent() { return with(Field::state, "absent"); }
  operator model::Resource() const {  // NOLINT: reads as what it is in a list
    auto resource = resource_;
    model::finish_resource(resource);
    return resource;
  }

 private:
  model::Resource resource_;
};

class OneSecret final : public resource::Secrets {
 public:
  std::string value = "s3cret\n";
  [[nodiscard]] Result<std::string> find(std::string_view name) const override {
    if (name == "token") return value;
    return fail(ErrorCode::not_found, "no such secret");
  }
};

struct World {
  support::ModelFiles files;
  Scene scene{files};
  Pass pass{scene};
  OneSecret secrets;

  World() {
    put("# app\n[main]\nname = x\n");
    scene.machine().secrets = &secrets;
  }
  void put(const std::string& text, std::uint32_t mode = 0644) {
    files.put_file(kFile, text, mode, 5, 6);
  }
  [[nodiscard]] std::string text() { return files.find_content(kFile).value_or("gone"); }
  [[nodiscard]] std::string seen(const model::Resource& wanted) {
    const auto observed = scene.observe(wanted);
    if (observed.condition == core::Condition::unknown) return "unknown: " + observed.reason.str();
    return drifts_of(observed);
  }
};

}  // namespace

TEST_CASE("setting: [F19] a missing value is added, and a second pass has nothing to do") {
  World world;
  world.put("# app\n[main]\nname = x");
  CHECK(world.seen(Wanted()) == "state: absent -> present\n");
  CHECK(world.pass.run({Wanted()}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == "# app\n[main]\nname = x\nlevel = 3\n");
  CHECK(world.pass.run({Wanted()}).plan->empty());
}

TEST_CASE("setting: [F22] another value is corrected on each of its lines, and nothing else") {
  World world;
  const std::string text = "; odd \xff\r\n[main]\r\nlevel=1\r\n\r\n#level=9\r\nlevel = 2 \r\nx";
  world.put(text);
  CHECK(world.seen(Wanted()) == "value: 1; 2 -> 3\n");
  CHECK(world.pass.run({Wanted()}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == "; odd \xff\r\n[main]\r\nlevel=3\r\n\r\n#level=9\r\nlevel = 3 \r\nx");
  CHECK(world.pass.run({Wanted()}).plan->empty());
}

TEST_CASE("setting: owner, mode and attributes of the file stay") {
  World world;
  world.put("[main]\n", 0640);
  world.files.put_attribute(kFile, "security.selinux", "label");
  CHECK(world.pass.run({Wanted()}).outcome(kTarget) == "succeeded");
  const auto stat = world.files.find_stat(kFile);
  CHECK((stat->uid == 5 && stat->gid == 6 && stat->mode == 0640));
}

TEST_CASE("setting: several values of one file are made in one pass") {
  World world;
  const model::Resource other = Wanted("y", "name");
  const auto made =
      world.pass.run({Wanted(), other, Wanted("1", "more").with(Field::section, "t")});
  CHECK(made.results.size() == 3);
  for (const auto& [ordinal, result] : made.results) CHECK_FALSE((result.error || result.skipped));
  CHECK(world.text() == "# app\n[main]\nname = y\nlevel = 3\n\n[t]\nmore = 1\n");
}

TEST_CASE("setting: a file that is missing is never made") {
  World world;
  world.files.remove(kFile);
  CHECK(world.seen(Wanted()) == "state: absent -> present\n");
  CHECK(world.pass.run({Wanted()}).outcome(kTarget).find("/etc/app.ini does not exist") !=
        std::string::npos);
  CHECK(world.text() == "gone");
  CHECK(world.seen(Wanted().absent()).empty());
}

TEST_CASE("setting: a file that an earlier action makes is there when its turn comes") {
  World world;
  world.files.remove(kFile);
  world.files.put_directory("/etc");
  auto file = a_file("/etc/app.ini.d").content(world.scene.content, "x").named("f").done();
  model::Resource wanted = Wanted();
  wanted.requirements = {file.reference};
  model::finish_resource(wanted);
  world.pass.before_run = [&] { world.put("[main]\n"); };
  CHECK(world.pass.run({file, wanted}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == "[main]\nlevel=3\n");
}

TEST_CASE("setting: what is no plain file is neither followed nor touched") {
  const auto what = GENERATE(as<std::string>{}, "link", "folder", "hard link", "fifo");
  CAPTURE(what);
  World world;
  world.files.remove(kFile);
  world.files.put_file("/srv/real", "[main]\n");
  if (what == "link") world.files.put_symlink(kFile, "/srv/real");
  if (what == "folder") world.files.put_directory(kFile);
  if (what == "hard link") world.files.put_hard_link(kFile, "/srv/real");
  if (what == "fifo") world.files.put_special(kFile, os::FileType::fifo);
  const auto done = world.pass.run({Wanted()});
  if (what == "hard link")
    CHECK(done.outcome(kTarget).find("hard links") != std::string::npos);
  else
    CHECK(world.seen(Wanted()).find("not followed and not touched") != std::string::npos);
  CHECK(world.files.find_content("/srv/real") == "[main]\n");
}

TEST_CASE("setting: a value that goes on in the next line is told and left alone") {
  World world;
  world.put("[main]\nlevel = 1 \\\n 2\n");
  CHECK(world.seen(Wanted()) == "value: 1 \\, which goes on in the next line -> 3\n");
  CHECK(world.pass.run({Wanted()}).outcome(kTarget).find("goes on") != std::string::npos);
  CHECK(world.text() == "[main]\nlevel = 1 \\\n 2\n");
}

TEST_CASE("setting: [S10] a secret value is never shown, and its neighbours are") {
  World world;
  world.put("[main]\nlevel = 1\ntoken = old\n");
  const model::Resource hidden = Wanted("", "token").secret("token");
  CHECK(world.seen(hidden) == "secretRef: (redacted) -> (redacted)\n");
  CHECK(world.seen(Wanted()) == "value: 1 -> 3\n");
  const auto done = world.pass.run({hidden});
  CHECK(done.outcome("/etc/app.ini [main] token") == "succeeded");
  CHECK(world.text() == "[main]\nlevel = 1\ntoken = s3cret\n");
  const auto seen = world.scene.observe(hidden);
  CHECK(seen.sensitive);
  CHECK(seen.content != crypto::sha256(as_bytes(std::string_view("s3cret"))));
  CHECK(world.pass.run({hidden}).plan->empty());
  world.secrets.value = "rotated";
  CHECK(world.seen(hidden) == "secretRef: (redacted) -> (redacted)\n");
}

TEST_CASE("setting: a value of a file that others may not read is not shown") {
  World world;
  world.put("[main]\nlevel = hidden\n", 0600);
  CHECK(world.seen(Wanted()) == "value: (redacted) -> 3\n");
}

TEST_CASE("setting: a secret that is missing or is no line changes nothing") {
  World world;
  CHECK(world.seen(Wanted().secret("none")).find("none") != std::string::npos);
  for (const auto* wrong : {"", "\n", "a\nb", " a", "a\\"}) {
    world.secrets.value = wrong;
    CHECK(world.seen(Wanted().secret("token")).find("is no value for a line") != std::string::npos);
  }
  CHECK(world.text() == "# app\n[main]\nname = x\n");
}

TEST_CASE("setting: [F21] what its validator refuses does not go live") {
  World world;
  world.files.put_file("/etc/x.json", "x = 1\n");
  const model::Resource wanted = Wanted("2", "x")
                                     .with(Field::path, "/etc/x.json")
                                     .with(Field::format, "key = value")
                                     .with(Field::validate, "json");
  auto plain = wanted;
  std::erase_if(plain.fields, [](const auto& one) { return one.field == Field::section; });
  model::finish_resource(plain);
  const auto done = world.pass.run({plain});
  CHECK(done.outcome("/etc/x.json x =").starts_with("failed: "));
  CHECK(world.files.find_content("/etc/x.json") == "x = 1\n");
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}

TEST_CASE("setting: what changed since it was observed is skipped") {
  World world;
  world.pass.before_run = [&] { world.put("[main]\nlevel = 7\n"); };
  CHECK(world.pass.run({Wanted()}).outcome(kTarget).starts_with("skipped: "));
  CHECK(world.text() == "[main]\nlevel = 7\n");
}

TEST_CASE("setting: other lines may change between looking and acting, and are kept") {
  World world;
  world.pass.before_run = [&] { world.put("# new\n[main]\nname = z\n"); };
  CHECK(world.pass.run({Wanted()}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == "# new\n[main]\nname = z\nlevel = 3\n");
}

TEST_CASE("setting: absent and leaving take the value, where it still is Datum's") {
  World world;
  SECTION("absent, whoever made it") {
    world.put("[main]\nlevel=1\nx=1\nlevel=2\n");
    CHECK(world.seen(Wanted().absent()) == "state: present -> absent\n");
    CHECK(world.pass.run({Wanted().absent()}).outcome(kTarget) == "succeeded");
    CHECK(world.text() == "[main]\nx=1\n");
  }
  SECTION("left, made by Datum") {
    world.pass.run({Wanted()});
    CHECK(world.pass.run({}).outcome(kTarget) == "succeeded");
    CHECK(world.text() == "# app\n[main]\nname = x\n");
  }
  SECTION("left, a secret made by Datum") {
    world.pass.run({Wanted().secret("token")});
    CHECK(world.pass.run({}).outcome(kTarget) == "succeeded");
    CHECK(world.text() == "# app\n[main]\nname = x\n");
  }
  SECTION("left, changed since") {
    world.pass.run({Wanted()});
    world.put("[main]\nlevel = 4\n");
    CHECK(world.pass.run({}).action(kTarget).kind == core::ActionKind::release);
    CHECK(world.text() == "[main]\nlevel = 4\n");
  }
  SECTION("left, there before") {
    world.put("[main]\nlevel = 3\n");
    world.pass.run({Wanted()});
    CHECK(world.pass.run({}).action(kTarget).kind == core::ActionKind::release);
    CHECK(world.text() == "[main]\nlevel = 3\n");
  }
}

TEST_CASE("setting: after a death at any step the outcome is told, and the next pass ends it") {
  const auto point = GENERATE(as<std::string>{}, "stage", "staged", "sync", "rename", "renamed",
                              "sync-folder", "folder-synced", "observe");
  CAPTURE(point);
  World world;
  const model::Resource wanted = Wanted();
  die_and_pass_again(world.scene, world.pass, wanted, point,
                     [&] { return world.seen(wanted).empty(); });
  CHECK(world.text() == "# app\n[main]\nname = x\nlevel = 3\n");
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}
