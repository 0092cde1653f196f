// Mounts over modelled files, with a file that stands in for the kernel's table: the lines of
// fstab, what is mounted, and which tools would change it.
#include <catch2/catch.hpp>
#include <random>

#include "mount/fstab.hpp"
#include "pass.hpp"
#include "support/model_files.hpp"
#include "support/model_units.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;
using resource::WantedMount;

namespace {

constexpr const char* kFstab = "/etc/fstab";
constexpr const char* kTable = "/proc/self/mountinfo";
const std::string kHead = "# static\nproc /proc proc defaults 0 0\n";
const std::string kLine = "UUID=ab-cd /data ext4 nosuid,noatime 0 0\n";

std::string mounted(const std::string& options = "nosuid,noatime",
                    const std::string& number = "8:1", const std::string& source = "/dev/sda1",
                    const std::string& of_all = "rw") {
  return "22 1 0:5 / /proc rw - proc proc rw\n36 22 " + number + " / /data rw," + options +
         " shared:9 - ext4 " + source + " " + of_all + "\n";
}

struct World {
  support::ModelFiles files;
  support::ModelUnits units;
  Scene scene{files};
  core::State state;
  std::vector<std::string> steps;
  std::function<void(const std::string&)> effect;  // of a tool
  std::string fails;                               // the tool that ends badly

  World() {
    scene.machine().units = &units;
    files.put_file(kFstab, kHead);
    files.put_file(kTable, "22 1 0:5 / /proc rw - proc proc rw\n");
    files.put_symlink("/dev/disk/by-uuid/ab-cd", "../../sda1");
    files.put_symlink("/dev/disk/by-label/my\\x20disk", "../../sdb1");
    files.put_special("/dev/sda1", os::FileType::block_device);
    files.put_file("/sys/class/block/sda1/dev", "8:1\n");
    files.put_file("/sys/class/block/sdb1/dev", "8:17\n");
    files.put_directory("/data");
    effect = [this](const std::string& tool) {
      if (tool.starts_with("umount"))
        files.put_file(kTable, "22 1 0:5 / /proc rw - proc proc rw\n");
      if (tool.starts_with("mount")) files.put_file(kTable, mounted());
    };
  }

  static model::Resource wanted(const std::string& mount_state,
                                std::vector<model::FieldValue> more = {}) {
    model::Resource resource;
    resource.reference = {model::ResourceType::mount, "data"};
    resource.fields = {{Field::path, std::string("/data")},
                       {Field::device, std::string("UUID=ab-cd")},
                       {Field::fs_type, std::string("ext4")},
                       {Field::options, std::string("nosuid,noatime")},
                       {Field::state, mount_state}};
    for (auto& one : more) {
      std::erase_if(resource.fields, [&](const auto& each) { return each.field == one.field; });
      resource.fields.push_back(std::move(one));
    }
    model::finish_resource(resource);
    return resource;
  }
  std::string fstab() { return files.find_content(kFstab).value_or("gone"); }
  std::string seen(const model::Resource& one) { return drifts_of(scene.observe(one)); }

  // Its outcome; "nothing" if there is nothing to do.
  std::string apply(const std::vector<model::Resource>& resources) {
    steps.clear();
    const auto planned = plan_for(scene, state, resources);
    const auto& plan = *planned.plan;
    const auto ordinals = planned.first_wave();
    if (ordinals.empty()) return plan.empty() ? "nothing" : plan.actions[0].note;
    const auto wave =
        resource::make_wave(scene.shared(), planned.declared, planned.plan, ordinals, {});
    MemoryBlobs blobs;
    if (!wave->prepare(blobs)) return "not prepared";
    run_tools(*wave);
    static_cast<void>(wave->act());
    return record_one(state, plan, wave->finish().front());
  }

 private:
  void run_tools(resource::Wave& wave) {
    while (auto step = wave.next_step()) {
      std::string words;
      for (const auto& one : step->tool.argv) words += (words.empty() ? "" : " ") + one;
      words = words.substr(words.rfind('/', words.find(' ')) + 1);
      steps.push_back(words);
      resource::ToolStepEnd end;
      end.unit = "datum-tool.service";
      end.succeeded = fails.empty() || !words.starts_with(fails);
      if (!end.succeeded) end.how = "its main process ended with status 32";
      if (end.succeeded) effect(words);
      wave.end_step(std::move(end));
    }
  }
};

using Steps = std::vector<std::string>;

}  // namespace

TEST_CASE("mount: [M05] [T01] one line whatever is in its fields, however often it is made") {
  World world;
  world.files.put_file(kFstab, "proc /proc proc defaults 0 0");
  const WantedMount wanted{"/a b\\c", "//srv/my share", "cifs", "user=a b"};
  auto text = resource::write_fstab(world.fstab(), wanted);
  CHECK(text ==
        "proc /proc proc defaults 0 0\n//srv/my\\040share /a\\040b\\134c cifs "
        "user=a\\040b 0 0\n");
  for (int i = 0; i < 3; ++i) text = resource::write_fstab(text, wanted);
  CHECK(resource::find_fstab_lines(text, "/a b\\c").size() == 1);
  CHECK(resource::remove_fstab(text, "/a b\\c") == "proc /proc proc defaults 0 0\n");
}

TEST_CASE("mount: only the fields that differ change, in each line of the mount point") {
  const std::string text =
      "# UUID=ab-cd /data\r\n\n  LABEL=x\t/data/\text3\tro   1 2 # mine\nodd line\nUUID=ab-cd "
      "/data "
      "ext4\nother /data2 ext4 ro 0 0";
  const WantedMount wanted{"/data", "UUID=ab-cd", "ext4", "noatime,nosuid"};
  const auto edited = resource::write_fstab(text, wanted);
  CHECK(edited ==
        "# UUID=ab-cd /data\r\n\n  UUID=ab-cd\t/data/\text4\tnoatime,nosuid   1 2 # mine\nodd "
        "line\nUUID=ab-cd /data ext4 noatime,nosuid\nother /data2 ext4 ro 0 0");
  CHECK(resource::write_fstab(edited, wanted) == edited);
  CHECK(resource::write_fstab(edited, {"/data", "UUID=ab-cd", "ext4", "nosuid,noatime"}) == edited);
  CHECK(resource::write_fstab(edited, {"/data", "UUID=ab-cd", "ext4", {}}) == edited);
}

TEST_CASE("mount: [M03] options are sets, and what they take away is asked of the kernel") {
  CHECK(resource::are_same_options("ro,nosuid", "nosuid,ro,defaults"));
  CHECK_FALSE(resource::are_same_options("ro", "rw"));
  CHECK(resource::restrictions("defaults").empty());
  CHECK(resource::restrictions("user,exec,size=1g") ==
        std::set<std::string, std::less<>>{"nodev", "nosuid"});
  CHECK(resource::restrictions("ro,rw").empty());
  CHECK(resource::restrictions("sync,lazytime,nosymfollow,async") ==
        std::set<std::string, std::less<>>{"lazytime", "nosymfollow"});
  const auto seen = resource::find_mounted(
      "36 22 8:1 / /data rw,noexec,nosymfollow,relatime - ext4 /dev/a rw,sync,lazytime,data=x\n",
      "/data");
  REQUIRE(seen);
  CHECK(resource::restrictions(seen->options) ==
        std::set<std::string, std::less<>>{"lazytime", "noexec", "nosymfollow", "sync"});
}

TEST_CASE("mount: over any bytes an edit holds, is repeatable and keeps every other line") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> pieces{"/data", "UUID=ab-cd", " ",   "\t",     "\n",
                                        "\r\n",  "ext4",       "ro",  "#",      "\\040",
                                        "\\",    "\xff",       "0 0", "/data/", "a b c\n"};
  const WantedMount wanted{"/data", "UUID=ab-cd", "ext4", "ro"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto count = random() % 20; count > 0; --count) text += pieces[random() % pieces.size()];
    CAPTURE(text);
    const auto edited = resource::write_fstab(text, wanted);
    const auto lines = resource::find_fstab_lines(edited, "/data");
    const auto before = resource::find_fstab_lines(text, "/data").size();
    REQUIRE(lines.size() == std::max<std::size_t>(before, 1));
    for (const auto& line : lines) REQUIRE(resource::is_wanted(line, wanted));
    REQUIRE(resource::write_fstab(edited, wanted) == edited);
    const auto rest = resource::remove_fstab(edited, "/data");
    const auto kept = resource::remove_fstab(text, "/data");
    REQUIRE((rest == kept || rest == kept + "\n"));
  }
}

TEST_CASE("mount: it is written and mounted, and a second pass has nothing to do") {
  World world;
  const auto wanted = World::wanted("mounted");
  CHECK(world.seen(wanted) == "state: absent -> mounted\n");
  CHECK(world.apply({wanted}) == "succeeded");
  CHECK(world.fstab() == kHead + kLine);
  CHECK(world.steps == Steps{"mount --target /data"});
  CHECK(world.units.manager_reloads() == 1);
  CHECK(world.apply({wanted}) == "nothing");
}

TEST_CASE("mount: [M03] [M01] each difference is seen, and corrected by what it takes") {
  struct Row {
    const char* what;
    std::string fstab;
    std::string table;
    std::string drift;
    Steps steps;
  };
  const std::string none = "22 1 0:5 / /proc rw - proc proc rw\n";
  const auto row = GENERATE_COPY(
      Row{"not mounted",
          kHead + kLine,
          none,
          "state: in fstab, not mounted -> mounted\n",
          {"mount --target /data"}},
      Row{"not in fstab", kHead, mounted(), "state: mounted, not in fstab -> mounted\n", {}},
      Row{"another device in fstab",
          kHead + "LABEL=x /data ext4 nosuid,noatime 0 0\n",
          mounted(),
          "device: LABEL=x -> UUID=ab-cd\n",
          {}},
      Row{"another type in fstab",
          kHead + "UUID=ab-cd /data xfs nosuid,noatime 0 0\n",
          mounted(),
          "fsType: xfs -> ext4\n",
          {}},
      Row{"other options in fstab",
          kHead + "UUID=ab-cd /data ext4 ro 0 0\n",
          mounted(),
          "options: ro -> nosuid,noatime\n",
          {}},
      Row{"other options mounted",
          kHead + kLine,
          mounted("nosuid,relatime"),
          "mountedOptions: nosuid -> noatime,nosuid\n",
          {"mount --options remount --target /data"}},
      Row{"a file system that is written at once",
          kHead + kLine,
          mounted("nosuid,noatime", "8:1", "/dev/sda1", "rw,sync"),
          "mountedOptions: noatime,nosuid,sync -> noatime,nosuid\n",
          {"mount --options remount --target /data"}},
      Row{"another device mounted",
          kHead + kLine,
          mounted("nosuid,noatime", "8:17", "/dev/sdb1"),
          "mountedDevice: /dev/sdb1 -> UUID=ab-cd\n",
          {"umount -- /data", "mount --target /data"}});
  CAPTURE(row.what);
  World world;
  world.files.put_file(kFstab, row.fstab);
  world.files.put_file(kTable, row.table);
  const auto wanted = World::wanted("mounted");
  CHECK(world.seen(wanted) == row.drift);
  CHECK(world.apply({wanted}) == "succeeded");
  CHECK(world.steps == row.steps);
  CHECK(world.fstab() == kHead + kLine);
  CHECK(world.apply({wanted}) == "nothing");
}

TEST_CASE("mount: [M01] a device is the same by its number, whatever it is called") {
  World world;
  world.files.put_file(kTable, mounted());
  for (const auto* device : {"UUID=ab-cd", "/dev/sda1", "/dev/disk/by-uuid/ab-cd"}) {
    world.files.put_file(kFstab, std::string(device) + " /data ext4 nosuid,noatime 0 0\n");
    CHECK(world.seen(World::wanted("mounted", {{Field::device, std::string(device)}})).empty());
  }
  const auto label = World::wanted("mounted", {{Field::device, std::string("LABEL=my disk")}});
  world.files.put_file(kFstab, "LABEL=my\\040disk /data ext4 nosuid,noatime 0 0\n");
  CHECK(world.seen(label) == "mountedDevice: /dev/sda1 -> LABEL=my disk\n");
  const auto gone = World::wanted("mounted", {{Field::device, std::string("UUID=none")}});
  world.files.put_file(kFstab, "UUID=none /data ext4 nosuid,noatime 0 0\n");
  CHECK(world.seen(gone).empty());
  CHECK(world.scene.observe(gone).warning.view().find("cannot be told") != std::string_view::npos);
}

TEST_CASE("mount: each state is reached from each other one") {
  const auto from = GENERATE(as<std::string>{}, "mounted", "present", "unmounted", "absent");
  const auto to = GENERATE(as<std::string>{}, "mounted", "present", "unmounted", "absent");
  CAPTURE(from, to);
  World world;
  world.apply({World::wanted(from)});
  const auto outcome = world.apply({World::wanted(to)});
  CHECK((outcome == "succeeded" || outcome == "nothing" || outcome == "already gone"));
  CHECK(world.seen(World::wanted(to)).empty());
  const bool line = world.fstab() != kHead;
  CHECK(line == (to != "absent"));
}

TEST_CASE("mount: a tool that fails is told, and nothing is claimed") {
  World world;
  world.fails = "mount";
  CHECK(world.apply({World::wanted("mounted")}) == "failed: its main process ended with status 32");
  CHECK(world.fstab() == kHead + kLine);
  world.fails.clear();
  CHECK(world.apply({World::wanted("mounted")}) == "succeeded");
  world.fails = "umount";
  CHECK(world.apply({World::wanted("absent")}) == "failed: its main process ended with status 32");
  CHECK(world.fstab() == kHead + kLine);
  world.fails.clear();
  world.effect = [](const std::string&) {};
  CHECK(world.apply({World::wanted("absent")}).starts_with("failed: it did not take effect"));
}

TEST_CASE(
    "mount: what left the declaration loses its line where Datum made it, and stays mounted") {
  World world;
  SECTION("made by Datum") {
    world.apply({World::wanted("mounted")});
    CHECK(world.apply({}) == "succeeded");
    CHECK(world.fstab() == kHead);
    CHECK(world.steps.empty());
  }
  SECTION("changed since") {
    world.apply({World::wanted("mounted")});
    world.files.put_file(kFstab, kHead + "UUID=ab-cd /data ext4 ro 0 0\n");
    CHECK(world.apply({}).find("changed since Datum made it") != std::string::npos);
    CHECK(world.fstab() == kHead + "UUID=ab-cd /data ext4 ro 0 0\n");
  }
}

TEST_CASE("mount: under another root only fstab is looked at and changed") {
  World world;
  world.scene.machine().root_path = "/mnt";
  CHECK(world.seen(World::wanted("mounted")) == "state: absent -> mounted\n");
  CHECK(world.apply({World::wanted("mounted")}) == "succeeded");
  CHECK(world.steps.empty());
  CHECK(world.fstab() == kHead + kLine);
  CHECK(world.seen(World::wanted("unmounted")).empty());
}

TEST_CASE("mount: what is made below it in one plan comes after it, and its folder before it") {
  World world;
  world.files.remove("/data");
  auto file = a_file("/data/x").content(world.scene.content, "x").named("a").done();
  auto folder = a_directory("/data").named("z").done();
  const auto planned = plan_for(world.scene, world.state, {World::wanted("mounted"), file, folder});
  std::string order;
  for (const auto& action : planned.plan->actions) order += action.target.text() + " ";
  CHECK(order == "/data mount:/data /data/x ");
}
