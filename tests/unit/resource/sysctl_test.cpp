// Sysctls over modelled files, with files that stand in for the kernel's: the order of the two
// places, waves shared with files, and what recovery says after a death between any two steps.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using core::RecoveredOutcome;

namespace {

constexpr const char* kKey = "kernel.test";
constexpr const char* kLive = "/proc/sys/kernel/test";
constexpr const char* kDropIn = "/etc/sysctl.d/70-datum-kernel.test.conf";

model::Resource a_sysctl(const std::string& value, const std::string& key = kKey) {
  model::Resource resource;
  resource.reference = {model::ResourceType::sysctl, key};
  resource.fields = {{model::Field::value, value}};
  model::finish_resource(resource);
  return resource;
}

struct World {
  support::ModelFiles files;
  Scene scene{files};
  Pass pass{scene};

  World() {
    files.put_directory("/etc/sysctl.d");
    files.put_file(kLive, "0\n");
  }
  [[nodiscard]] std::string live() { return files.find_content(kLive).value_or("gone"); }
  [[nodiscard]] std::string drop_in() { return files.find_content(kDropIn).value_or("gone"); }
};

}  // namespace

TEST_CASE("sysctl: both places are made, and a second pass has nothing to do") {
  World world;
  const auto wanted = a_sysctl("1");
  const auto made = world.pass.run({wanted});
  CHECK(made.outcome(kKey) == "succeeded");
  CHECK(world.live() == "1\n");
  CHECK(world.drop_in().find("# before: 0\nkernel.test = 1\n") != std::string::npos);
  CHECK(drifts_of(world.scene.observe(wanted)).empty());
  CHECK(world.pass.run({wanted}).plan->empty());
}

TEST_CASE("sysctl: [C01] white space makes no difference in either place") {
  World world;
  world.files.put_file(kLive, "\t1\t 2   3\n");
  world.files.put_file(kDropIn, "kernel/test =1 2\t3  \n");
  CHECK(drifts_of(world.scene.observe(a_sysctl("1  2 3"))).empty());
  CHECK(drifts_of(world.scene.observe(a_sysctl("12 3"))) ==
        "value: 1 2 3 -> 12 3\npersisted: 1 2\\x093 -> 12 3\n");
}

TEST_CASE("sysctl: any number of them share a wave with files") {
  World world;
  std::vector<model::Resource> wanted{a_file("/etc/f").content(world.scene.content, "f\n").done()};
  for (int i = 0; i < 100; ++i) {
    const auto name = "test" + std::to_string(i);
    world.files.put_file("/proc/sys/kernel/" + name, "0\n");
    wanted.push_back(a_sysctl("1", "kernel." + name));
  }
  std::size_t waves = 0;
  world.pass.before_run = [&] { ++waves; };
  const auto made = world.pass.run(wanted);
  CHECK(waves == 1);
  CHECK(made.results.size() == 101);
  for (const auto& [ordinal, result] : made.results) CHECK_FALSE(result.error);
  CHECK(world.files.find_content("/proc/sys/kernel/test99") == "1\n");
}

TEST_CASE("sysctl: a drop-in that changed since it was observed is skipped, and the kernel too") {
  World world;
  world.files.put_file(kDropIn, "kernel.test = 5\n");
  world.pass.before_run = [&] { world.files.put_file(kDropIn, "kernel.test = 6\n"); };
  const auto made = world.pass.run({a_sysctl("1")});
  CHECK(made.outcome(kKey).starts_with("skipped: "));
  CHECK(world.live() == "0\n");
  CHECK(world.drop_in() == "kernel.test = 6\n");
}

TEST_CASE(
    "sysctl: after a death at any step the outcome is told, and the value before is not lost") {
  const auto point = GENERATE(as<std::string>{}, "stage", "staged", "sync", "rename", "live",
                              "renamed", "sync-folder", "folder-synced", "observe");
  CAPTURE(point);
  World world;
  const auto wanted = a_sysctl("1");
  const std::function<RecoveredOutcome()> find_outcome = [&] {
    if (drifts_of(world.scene.observe(wanted)).empty()) return RecoveredOutcome::took_effect;
    return world.drop_in() == "gone" ? RecoveredOutcome::did_not : RecoveredOutcome::untellable;
  };
  die_and_pass_again(world.scene, world.pass, wanted, point, find_outcome);
  CHECK(world.live() == "1\n");
  CHECK(world.drop_in().find("# before: 0\nkernel.test = 1\n") != std::string::npos);
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}

TEST_CASE("sysctl: a removal that fails at the kernel is told, and the drop-in is gone") {
  World world;
  const auto wanted = a_sysctl("1");
  world.pass.run({wanted});
  world.pass.before_run = [&] { world.files.set_read_only("/proc", true); };
  world.files.mount("/proc");
  world.files.put_file(kLive, "1\n");
  const auto gone = world.pass.run({});
  CHECK(gone.outcome(kKey).find("could not be put back to 0") != std::string::npos);
  CHECK(world.drop_in() == "gone");
  CHECK(world.live() == "1\n");
}
