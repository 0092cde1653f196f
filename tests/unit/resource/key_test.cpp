// AuthorizedKeys over modelled files: how each field is spoilt, what is said and done, and that
// nothing in a home leads anywhere else.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;

namespace {

constexpr const char* kKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
constexpr const char* kOther =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
constexpr const char* kTarget = "anna SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA";
constexpr const char* kHome = "/home/anna";
constexpr const char* kFolder = "/home/anna/.ssh";
constexpr const char* kFile = "/home/anna/.ssh/authorized_keys";
constexpr std::uint32_t kAnna = 1000;

class Wanted {
 public:
  Wanted() {
    resource_.reference = {model::ResourceType::authorized_key, "r"};
    with(Field::user, "anna").with(Field::key, kKey);
  }
  Wanted& with(Field field, const std::string& value) {
    std::erase_if(resource_.fields, [&](const auto& one) { return one.field == field; });
    resource_.fields.push_back({field, value});
    return *this;
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

model::Resource other_key() {
  return Wanted().with(Field::key, kOther);
}

struct World {
  support::ModelFiles files;
  Scene scene{files};
  Pass pass{scene};

  World() {
    files.put_file("/etc/passwd",
                   "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n"
                   "slash:x:1001:1001::/:/bin/sh\n");
    files.put_directory(kHome, 0755, kAnna, kAnna);
    scene.accounts.users["anna"] = kAnna;
    scene.accounts.groups["anna"] = kAnna;
  }
  void put(const std::string& text, std::uint32_t mode = 0600, std::uint32_t uid = kAnna) {
    files.put_directory(kFolder, 0700, kAnna, kAnna);
    files.put_file(kFile, text, mode, uid, uid);
  }
  [[nodiscard]] std::string text() { return files.find_content(kFile).value_or("gone"); }
  [[nodiscard]] std::string seen(const model::Resource& wanted) {
    const auto observed = scene.observe(wanted);
    if (observed.condition == core::Condition::unknown) return "unknown: " + observed.reason.str();
    return drifts_of(observed);
  }
};

const std::string kLine = std::string(kKey) + "\n";

}  // namespace

TEST_CASE("key: folder and file are made as sshd wants them, and are the user's") {
  World world;
  const model::Resource wanted = Wanted().with(Field::comment, "anna@desk");
  CHECK(world.seen(wanted) == "state: absent -> present\n");
  CHECK(world.pass.run({wanted}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == std::string(kKey) + " anna@desk\n");
  const auto folder = world.files.find_stat(kFolder);
  const auto file = world.files.find_stat(kFile);
  REQUIRE((folder && file));
  CHECK((folder->uid == kAnna && folder->gid == kAnna && folder->mode == 0700));
  CHECK((file->uid == kAnna && file->gid == kAnna && file->mode == 0600));
  CHECK(world.pass.run({wanted}).plan->empty());
}

TEST_CASE("key: [F19] other lines stay byte for byte, and a last line without an end gets one") {
  const std::string odd =
      "# mine\r\n\n  \nnot a key at all\nfrom=\"10.0.0.0/8\" ssh-rsa AAAA broken\n" +
      std::string(kOther) + " twice\n" + std::string(kOther) + " twice\n\xff\xfe";
  World world;
  world.put(odd);
  CHECK(world.pass.run({Wanted()}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == odd + "\n" + kLine);
  CHECK(world.pass.run({Wanted()}).plan->empty());
}

TEST_CASE("key: each field is seen and corrected by itself, on each line of the key") {
  struct Row {
    const char* before;  // in front of the key
    const char* behind;
    const char* drift;
    const char* after;  // the whole line
  };
  const auto row =
      GENERATE(Row{"", " old", "comment: old -> new\n", "KEY new"},
               Row{"", "", "options: none -> no-pty\n", "no-pty KEY"},
               Row{"no-pty,command=\"a \\\" b\" ", " old words ",
                   "options: no-pty,command=\"a \\\" b\" -> no-pty\n", "no-pty KEY old words"},
               Row{"  \tfrom=\"a b\"  ", "", "options: from=\"a b\" -> no-pty\n", "no-pty KEY"});
  const bool twice = GENERATE(false, true);
  CAPTURE(row.drift, twice);
  World world;
  const auto line = std::string(row.before) + kKey + row.behind + "\n";
  world.put("# first\n" + line + (twice ? line : "") + kOther + " last");
  const bool comment = std::string_view(row.drift).starts_with("comment");
  const model::Resource wanted =
      comment ? Wanted().with(Field::comment, "new") : Wanted().with(Field::options, "no-pty");
  CHECK(world.seen(wanted) == row.drift);
  CHECK(world.pass.run({wanted}).outcome(kTarget) == "succeeded");
  auto after = std::string(row.after) + "\n";
  after.replace(after.find("KEY"), 3, kKey);
  CHECK(world.text() == "# first\n" + after + (twice ? after : "") + kOther + " last");
  CHECK(world.pass.run({wanted}).plan->empty());
}

TEST_CASE("key: an empty options means none, and takes them away") {
  World world;
  world.put("command=\"/bin/false\" " + kLine);
  const model::Resource wanted = Wanted().with(Field::options, "");
  CHECK(world.seen(wanted) == "options: command=\"/bin/false\" -> none\n");
  world.pass.run({wanted});
  CHECK(world.text() == kLine);
}

TEST_CASE("key: permissions that make sshd pass over the file are seen and corrected") {
  const auto what = GENERATE(as<std::string>{}, "file", "folder", "owner");
  CAPTURE(what);
  World world;
  world.put(kLine, what == "file" ? 0666 : 0644, what == "owner" ? 0 : kAnna);
  if (what == "folder") world.files.set_mode_of(kFolder, 0777);
  CHECK(world.seen(Wanted()) == (what == "file"     ? "mode: 0666 -> 0644\n"
                                 : what == "folder" ? "folder: 0777 -> 0755\n"
                                                    : "owner: root -> anna\n"));
  CHECK(world.pass.run({Wanted()}).outcome(kTarget) == "succeeded");
  CHECK(world.files.find_stat(kFile)->mode == 0644);
  CHECK(world.files.find_stat(kFile)->uid == kAnna);
  CHECK(world.text() == kLine);
  CHECK(world.pass.run({Wanted()}).plan->empty());
}

TEST_CASE("key: a home that others can write is named, since sshd takes no key there") {
  World world;
  world.put(kLine);
  world.files.set_mode_of(kHome, 0777);
  CHECK(world.scene.observe(Wanted()).warning.view().find("mode 0777") != std::string_view::npos);
}

TEST_CASE("key: [S06] nothing of a home is followed, taken over or handed out") {
  struct Row {
    const char* what;
    const char* reason;
  };
  const auto row =
      GENERATE(Row{"file is a link", "symbolic link; not followed and not touched"},
               Row{"folder is a link", "not looked at and not touched"},
               Row{"home is a link", "not looked at and not touched"},
               Row{"file is a name of shadow", "other names too; not touched"},
               Row{"file is a private one of root", "it belongs to root, not to anna; not touched"},
               Row{"file is somebody else's", "it belongs to test, not to anna; not touched"},
               Row{"folder is a full one of root", "it belongs to root, not to anna; not touched"},
               Row{"file is a folder", "is a directory; not followed and not touched"},
               Row{"file is a fifo", "not followed and not touched"});
  CAPTURE(row.what);
  const std::string what = row.what;
  World world;
  world.files.put_file("/etc/shadow", "root:secret:\n", 0640);
  world.files.put_file("/etc/keys/authorized_keys", "root only\n", 0600);
  world.files.put_directory(kFolder, 0700, kAnna, kAnna);
  if (what == "file is a link") world.files.put_symlink(kFile, "/etc/shadow", kAnna);
  if (what == "folder is a link") {
    world.files.remove(kFolder);
    world.files.put_symlink(kFolder, "/etc/keys", kAnna);
  }
  if (what == "home is a link") {
    world.files.put_directory("/home", 0777, kAnna, kAnna);
    world.files.remove(kHome);
    world.files.put_symlink(kHome, "/etc", kAnna);
  }
  if (what == "file is a name of shadow") world.files.put_hard_link(kFile, "/etc/shadow");
  if (what == "file is a private one of root") world.files.put_file(kFile, "mine\n", 0600);
  if (what == "file is somebody else's") world.files.put_file(kFile, "mine\n", 0644, 1234, 1234);
  if (what == "folder is a full one of root") {
    world.files.put_directory(kFolder, 0700);
    world.files.put_file(std::string(kFolder) + "/secret", "mine\n", 0600);
  }
  if (what == "file is a folder") world.files.put_directory(kFile, 0700, kAnna, kAnna);
  if (what == "file is a fifo") world.files.put_special(kFile, os::FileType::fifo);
  const auto before = world.files.paths();
  CHECK(world.seen(Wanted()).find(row.reason) != std::string::npos);
  CHECK(world.pass.run({Wanted()}).plan->empty());
  CHECK(world.files.paths() == before);
  CHECK(world.files.find_content("/etc/shadow") == "root:secret:\n");
  CHECK(world.files.find_content("/etc/keys/authorized_keys") == "root only\n");
}

TEST_CASE("key: a link that is put in its place while it works is not written through") {
  const auto moment = GENERATE(as<std::string>{}, "before", "stage", "staged", "rename");
  const bool folder = GENERATE(false, true);
  CAPTURE(moment, folder);
  World world;
  world.put(std::string(kOther) + "\n");
  world.files.put_file("/etc/keys/authorized_keys", "root only\n", 0600);
  const auto swap = [&] {
    world.files.remove(folder ? kFolder : kFile);
    world.files.put_symlink(folder ? kFolder : kFile,
                            folder ? "/etc/keys" : "/etc/keys/authorized_keys", kAnna);
  };
  if (moment == "before") world.pass.before_run = swap;
  world.pass.options.crash_point = [&](const char* at, std::uint32_t) {
    if (at == moment) swap();
  };
  const auto done = world.pass.run({Wanted()});
  CHECK(done.outcome(kTarget) != "succeeded");
  CHECK(world.files.find_content("/etc/keys/authorized_keys") == "root only\n");
  CHECK(world.files.find_stat("/etc/keys/authorized_keys")->uid == 0);
}

TEST_CASE("key: what changed since it was observed is skipped, and the other hand's work stays") {
  World world;
  world.put("# mine\n");
  world.pass.before_run = [&] { world.put("from=\"x\" " + kLine); };
  CHECK(world.pass.run({Wanted()}).outcome(kTarget).starts_with("skipped: "));
  CHECK(world.text() == "from=\"x\" " + kLine);
  world.put("# mine\n");
  world.pass.before_run = {};
  world.pass.options.crash_point = [&](const char* at, std::uint32_t) {
    if (std::string_view(at) == "rename") world.put("# theirs\n");
  };
  CHECK(world.pass.run({Wanted()}).outcome(kTarget).starts_with("skipped: "));
  CHECK(world.text() == "# theirs\n");
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}

TEST_CASE("key: several keys of one file are made in one pass, and each is removed by itself") {
  World world;
  world.put("# mine\n");
  const auto made = world.pass.run({Wanted(), other_key()});
  for (const auto& [ordinal, result] : made.results) CHECK_FALSE((result.error || result.skipped));
  CHECK(world.text().size() == std::string("# mine\n").size() + 2 * kLine.size());
  CHECK(world.pass.run({Wanted(), other_key()}).plan->empty());
  world.pass.run({other_key()});
  CHECK(world.text() == "# mine\n" + std::string(kOther) + "\n");
}

TEST_CASE("key: state absent takes each line of the key and leaves all others") {
  World world;
  world.put("# a\n" + kLine + "no-pty " + kLine + "# b\n" + kKey + " last");
  CHECK(world.seen(Wanted().absent()) == "state: present -> absent\n");
  CHECK(world.pass.run({Wanted().absent()}).outcome(kTarget) == "succeeded");
  CHECK(world.text() == "# a\n# b\n");
  CHECK(world.pass.run({Wanted().absent()}).plan->empty());
}

TEST_CASE("key: what left the declaration goes only where Datum made it and nobody changed it") {
  World world;
  SECTION("made by Datum") {
    world.put("# mine\n");
    world.pass.run({Wanted()});
    CHECK(world.pass.run({}).outcome(kTarget) == "succeeded");
    CHECK(world.text() == "# mine\n");
  }
  SECTION("made by Datum, and the other lines changed since") {
    world.pass.run({Wanted()});
    world.put("# new\n" + kLine);
    CHECK(world.pass.run({}).outcome(kTarget) == "succeeded");
    CHECK(world.text() == "# new\n");
  }
  SECTION("changed since") {
    world.pass.run({Wanted()});
    world.put("no-pty " + kLine);
    CHECK(world.pass.run({}).action(kTarget).kind == core::ActionKind::release);
    CHECK(world.text() == "no-pty " + kLine);
  }
  SECTION("there before") {
    world.put(kLine);
    world.pass.run({Wanted()});
    CHECK(world.pass.run({}).action(kTarget).kind == core::ActionKind::release);
    CHECK(world.text() == kLine);
  }
}

TEST_CASE("key: a user that does not exist yet is drift, and fails when nobody makes it") {
  World world;
  const model::Resource wanted = Wanted().with(Field::user, "nobody-yet");
  CHECK(world.seen(wanted) == "state: absent -> present\n");
  const auto done = world.pass.run({wanted});
  CHECK(done.outcome(wanted.target.name.str()).find("no user nobody-yet") != std::string::npos);
  CHECK(world.seen(Wanted().with(Field::user, "nobody-yet").absent()).empty());
  CHECK(world.seen(Wanted().with(Field::user, "slash")).find("is no place for keys") !=
        std::string::npos);
}

TEST_CASE("key: a home that is missing fails by its name, and is never made") {
  World world;
  world.files.remove(kHome);
  const auto done = world.pass.run({Wanted()});
  CHECK(done.outcome(kTarget).starts_with("failed: "));
  CHECK_FALSE(world.files.find_stat(kHome));
}

TEST_CASE("key: after a death at any step the outcome is told, and the next pass ends it") {
  const auto point = GENERATE(as<std::string>{}, "stage", "staged", "sync", "rename", "renamed",
                              "sync-folder", "folder-synced", "observe");
  CAPTURE(point);
  World world;
  const model::Resource wanted = Wanted();
  die_and_pass_again(world.scene, world.pass, wanted, point,
                     [&] { return world.seen(wanted).empty(); });
  CHECK(world.text() == kLine);
  CHECK(world.files.find_stat(kFolder)->uid == kAnna);
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}
