// Hostname and Timezone over modelled files, with a file that stands in for the kernel's name.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;

namespace {

constexpr const char* kName = "/etc/hostname";
constexpr const char* kLive = "/proc/sys/kernel/hostname";
constexpr const char* kZone = "/etc/localtime";
constexpr const char* kZoneName = "/etc/timezone";

model::Resource a_hostname(const std::string& name) {
  model::Resource resource;
  resource.reference = {model::ResourceType::hostname, "name"};
  resource.fields = {{model::Field::hostname, name}};
  model::finish_resource(resource);
  return resource;
}
model::Resource a_timezone(const std::string& zone) {
  model::Resource resource;
  resource.reference = {model::ResourceType::timezone, "zone"};
  resource.fields = {{model::Field::zone, zone}};
  model::finish_resource(resource);
  return resource;
}

struct World {
  support::ModelFiles files;
  Scene scene{files};
  Pass pass{scene};

  World() {
    files.put_directory("/etc");
    files.put_file(kName, "old\n");
    files.put_file(kLive, "old\n");
    files.put_file("/etc/debian_version", "12\n");
    files.put_file("/usr/share/zoneinfo/Europe/Berlin", "TZif");
    files.put_file("/usr/share/zoneinfo/UTC", "TZif");
  }
  [[nodiscard]] std::string content(const char* path) {
    return files.find_content(path).value_or("gone");
  }
};

}  // namespace

TEST_CASE("hostname: both places get the name, and a second pass has nothing to do") {
  World world;
  const auto wanted = a_hostname("web-1");
  CHECK(drifts_of(world.scene.observe(wanted)) ==
        "hostname: old -> web-1\npersisted: old -> web-1\n");
  CHECK(world.pass.run({wanted}).outcome(kName) == "succeeded");
  CHECK(world.content(kName) == "web-1\n");
  CHECK(world.content(kLive) == "web-1\n");
  CHECK(world.pass.run({wanted}).plan->empty());
}

TEST_CASE("hostname: each place is seen and corrected by itself") {
  struct Row {
    const char* path;
    const char* content;
    std::uint32_t mode;
    const char* drift;
  };
  const auto row =
      GENERATE(Row{kLive, "other\n", 0644, "hostname: other -> web-1\n"},
               Row{kName, "other\n", 0644, "persisted: other -> web-1\n"},
               Row{kName, "", 0644, "persisted: no name -> web-1\n"},
               Row{kName, "# web-1\n\n", 0644, "persisted: no name -> web-1\n"},
               Row{kName, "web-1\n", 0666,
                   "persisted: web-1, in a file that others than root can write -> web-1\n"});
  CAPTURE(row.drift);
  World world;
  const auto wanted = a_hostname("web-1");
  world.pass.run({wanted});
  world.files.put_file(row.path, row.content, row.mode);
  CHECK(drifts_of(world.scene.observe(wanted)) == row.drift);
  CHECK(world.pass.run({wanted}).outcome(kName) == "succeeded");
  CHECK(world.pass.run({wanted}).plan->empty());
  CHECK(world.content(kName) == "web-1\n");
  CHECK(world.content(kLive) == "web-1\n");
}

TEST_CASE("hostname: a comment, an empty line and a missing line end make no difference") {
  World world;
  world.files.put_file(kLive, "web-1\n");
  for (const auto* text : {"web-1", "web-1\n", "# comment\n\n  web-1 \nsecond\n"}) {
    world.files.put_file(kName, text);
    CHECK(drifts_of(world.scene.observe(a_hostname("web-1"))).empty());
  }
}

TEST_CASE("hostname: a missing file is made, a folder in its place is left alone") {
  World world;
  world.files.remove(kName);
  CHECK(world.pass.run({a_hostname("web-1")}).outcome(kName) == "succeeded");
  CHECK(world.content(kName) == "web-1\n");
  world.files.remove(kName);
  world.files.put_directory(kName);
  CHECK(drifts_of(world.scene.observe(a_hostname("web-1"))) == "persisted: a directory -> web-1\n");
  CHECK(world.pass.run({a_hostname("web-1")}).outcome(kName).starts_with("refused: type conflict"));
}

TEST_CASE("hostname: [F01] a file that is a mount point fails, and its bytes stay") {
  World world;
  world.files.mount(kName);
  const auto before = world.content(kName);
  const auto done = world.pass.run({a_hostname("web-1")});
  CHECK(done.outcome(kName).find("mount point") != std::string::npos);
  CHECK(world.content(kName) == before);
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}

TEST_CASE("hostname: under another root only the file is looked at") {
  World world;
  world.scene.machine().root_path = "/mnt";
  CHECK(drifts_of(world.scene.observe(a_hostname("web-1"))) == "persisted: old -> web-1\n");
  world.pass.run({a_hostname("web-1")});
  CHECK(world.content(kLive) == "old\n");
}

TEST_CASE("hostname: what leaves the declaration is released, and the name stays") {
  World world;
  world.files.remove(kName);
  world.pass.run({a_hostname("web-1")});
  const auto gone = world.pass.run({});
  CHECK(gone.action(kName).kind == core::ActionKind::release);
  CHECK(world.content(kName) == "web-1\n");
  CHECK(world.content(kLive) == "web-1\n");
}

TEST_CASE("timezone: the link and the name are made, and a second pass has nothing to do") {
  World world;
  const auto wanted = a_timezone("Europe/Berlin");
  CHECK(drifts_of(world.scene.observe(wanted)) ==
        "zone: absent -> Europe/Berlin\npersisted: absent -> Europe/Berlin\n");
  CHECK(world.pass.run({wanted}).outcome(kZone) == "succeeded");
  CHECK(world.files.find_target(kZone) == "/usr/share/zoneinfo/Europe/Berlin");
  CHECK(world.content(kZoneName) == "Europe/Berlin\n");
  CHECK(world.pass.run({wanted}).plan->empty());
}

TEST_CASE("timezone: each place is seen and corrected by itself") {
  const auto spoil = GENERATE(as<std::string>{}, "relative", "other", "dangling", "elsewhere",
                              "copy", "no name", "other name", "open name");
  CAPTURE(spoil);
  World world;
  const auto wanted = a_timezone("Europe/Berlin");
  world.pass.run({wanted});
  std::string drift;
  if (spoil == "relative") world.files.put_symlink(kZone, "../usr/share/zoneinfo/Europe/Berlin");
  if (spoil == "other" || spoil == "dangling" || spoil == "elsewhere") {
    const std::string zone = spoil == "other" ? "UTC" : "Mars/North";
    world.files.put_symlink(kZone,
                            spoil == "elsewhere" ? "/srv/zone" : "/usr/share/zoneinfo/" + zone);
    drift =
        "zone: " + (spoil == "elsewhere" ? "a link to /srv/zone" : zone) + " -> Europe/Berlin\n";
  }
  if (spoil == "copy") {
    world.files.remove(kZone);
    world.files.put_file(kZone, "TZif");
    drift = "zone: a regular file -> Europe/Berlin\n";
  }
  if (spoil == "no name") world.files.remove(kZoneName);
  if (spoil == "no name") drift = "persisted: absent -> Europe/Berlin\n";
  if (spoil == "other name") world.files.put_file(kZoneName, "UTC\n");
  if (spoil == "other name") drift = "persisted: UTC -> Europe/Berlin\n";
  if (spoil == "open name") world.files.set_mode_of(kZoneName, 0666);
  if (spoil == "open name")
    drift =
        "persisted: Europe/Berlin, in a file that others than root can write -> Europe/Berlin\n";
  CHECK(drifts_of(world.scene.observe(wanted)) == drift);
  if (!drift.empty()) CHECK(world.pass.run({wanted}).outcome(kZone) == "succeeded");
  CHECK(world.pass.run({wanted}).plan->empty());
  CHECK(world.content(kZoneName) == "Europe/Berlin\n");
}

TEST_CASE("timezone: a zone that the system does not have changes nothing, and is told") {
  World world;
  world.pass.run({a_timezone("UTC")});
  const auto wanted = a_timezone("Europe/Atlantis");
  const auto done = world.pass.run({wanted});
  CHECK(done.outcome(kZone).find("Europe/Atlantis does not exist") != std::string::npos);
  CHECK(world.files.find_target(kZone) == "/usr/share/zoneinfo/UTC");
  CHECK(world.content(kZoneName) == "UTC\n");
  world.files.put_symlink(kZone, "/usr/share/zoneinfo/Europe/Atlantis");
  world.files.put_file(kZoneName, "Europe/Atlantis\n");
  CHECK(drifts_of(world.scene.observe(wanted)) ==
        "zone: Europe/Atlantis, which this system does not have -> Europe/Atlantis\n");
}

TEST_CASE("timezone: where the distribution has no file with the name, none is made") {
  World world;
  world.files.remove("/etc/debian_version");
  CHECK(world.pass.run({a_timezone("UTC")}).outcome(kZone) == "succeeded");
  CHECK(world.content(kZoneName) == "gone");
}

TEST_CASE("timezone: what leaves the declaration is released, and the zone stays") {
  World world;
  world.pass.run({a_timezone("UTC")});
  CHECK(world.pass.run({}).action(kZone).kind == core::ActionKind::release);
  CHECK(world.files.find_target(kZone) == "/usr/share/zoneinfo/UTC");
}
