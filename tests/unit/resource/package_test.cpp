// Packages over the modelled package manager: what is seen, what a wave asks for step by step, what
// it refuses, and what it says of each package afterwards.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"
#include "support/model_packages.hpp"
#include "support/model_units.hpp"

using namespace datum;
using namespace datum::test;
using core::Condition;
using core::Found;
using os::PackageState;
using support::ModelPackages;

namespace {

struct A {
  std::string name;
  std::string state = "present";
  std::string version = {};
  std::optional<bool> pinned = std::nullopt;
  std::string conffiles = {};

  [[nodiscard]] model::Resource done() const {
    model::Resource resource;
    resource.reference = {model::ResourceType::package, name};
    resource.fields = {{model::Field::state, state}};
    if (!version.empty()) resource.fields.push_back({model::Field::version, version});
    if (pinned) resource.fields.push_back({model::Field::pinned, *pinned});
    if (!conffiles.empty()) resource.fields.push_back({model::Field::conffiles, conffiles});
    if (name.find(':') != std::string::npos) {
      resource.fields.push_back({model::Field::package, name});
      resource.reference.name = "foreign";
    }
    model::finish_resource(resource);
    return resource;
  }
};

struct World {
  support::ModelFiles files;
  support::ModelUnits units;
  ModelPackages packages;
  Scene scene{files};
  resource::WaveOptions options;
  core::State state;
  std::vector<std::string> steps;               // what the wave asked to be run
  std::vector<std::vector<std::string>> argvs;  // and in full
  std::map<std::string, std::string> outcomes;  // by target
  std::map<std::string, core::ActionResult> results;
  std::int64_t paused_ns = 0;
  std::function<void()> at_pause;
  std::function<void(resource::ToolStepEnd&)> end;  // what the tool's end is told to be
  std::string cancel_before;                        // step that may not begin any more

  World() {
    scene.machine().units = &units;
    scene.machine().packages = &packages;
  }

  std::string drifts(const A& one) { return drifts_of(scene.observe(one.done())); }

  void run_steps(resource::Wave& wave) {
    while (auto step = wave.next_step()) {
      if (step->pause_ns > 0) {
        paused_ns += step->pause_ns;
        if (at_pause) at_pause();
        continue;
      }
      if (step->tool.argv.at(1) == cancel_before) {
        wave.cancel("the mode is observe now");
        continue;
      }
      steps.push_back(step->what);
      argvs.push_back(step->tool.argv);
      resource::ToolStepEnd ended;
      ended.unit = "datum-tool.service";
      const int status = packages.carry_out(step->tool.argv);
      ended.succeeded = status == 0;
      if (status != 0) ended.how = "its main process ended with status " + std::to_string(status);
      ended.output = "Setting up bad (1.0) ...\nit broke\nSetting up good (1.0) ...\n";
      if (end) end(ended);
      wave.end_step(std::move(ended));
    }
  }

  void apply(const std::vector<A>& all) {
    std::vector<model::Resource> resources;
    for (const auto& one : all) resources.push_back(one.done());
    auto declared = declare(resources, state.owned);
    resource::Observer observer(scene.shared(), declared);
    std::vector<core::Observation> before;
    for (const auto& one : declared->manifest->resources) before.push_back(observer.observe(*one));
    core::PlanInput input;
    input.manifest = declared->manifest.get();
    input.observations = before;
    input.state = &state;
    auto plan = std::make_shared<core::Plan>(core::compute_plan(input));
    const auto ordinals = core::next_wave(*plan, {});
    if (ordinals.empty()) return;
    const auto wave = resource::make_wave(scene.shared(), declared, plan, ordinals, options);
    MemoryBlobs blobs;
    REQUIRE(wave->prepare(blobs));
    REQUIRE(wave->uses_tools());
    run_steps(*wave);
    CHECK(wave->act() == 0);
    for (auto& result : wave->finish()) {
      const auto name = plan->actions[result.ordinal].target.name.str();
      outcomes[name] = result.error     ? "failed: " + result.error->message()
                       : result.skipped ? "skipped: " + result.message
                                        : "succeeded";
      results[name] = std::move(result);
    }
  }
};

using Steps = std::vector<std::string>;

}  // namespace

TEST_CASE("package: each state, version and hold is told apart [P02] [P07]") {
  World world;
  CHECK(world.drifts({"a"}) == "state: absent -> present\n");
  CHECK(world.drifts({"a", "absent"}).empty());
  world.packages.put("a", {"1:1.0-1"});
  CHECK(world.drifts({"a"}).empty());
  CHECK(world.drifts({"a", "absent"}) == "state: present -> absent\n");
  CHECK(world.drifts({"a", "present", "1:1.0-1"}).empty());
  CHECK(world.drifts({"a", "present", "1:2.0"}) == "version: 1:1.0-1 -> 1:2.0\n");
  CHECK(world.drifts({"a", "present", "1.0-1"}) ==
        "version: 1:1.0-1 (only the epoch differs) -> 1.0-1\n");
  CHECK(world.drifts({"a", "present", {}, true}) == "pinned: false -> true\n");
  world.packages.put("a", {"0:1.0", PackageState::installed, true});
  CHECK(world.drifts({"a", "present", "1.0"}).empty());
  CHECK(world.drifts({"a", "present", {}, false}) == "pinned: true -> false\n");
  world.packages.put("a", {"1.0", PackageState::half_configured});
  CHECK(world.drifts({"a"}) == "state: interrupted (half-configured) -> present\n");
  CHECK(world.drifts({"a", "absent"}) == "state: interrupted (half-configured) -> absent\n");
  world.packages.put("a", {"1.0", PackageState::triggers_pending});
  CHECK(world.drifts({"a"}) == "state: interrupted (triggers-pending) -> present\n");
  world.packages.put("a", {"1.0", PackageState::installed, false, true});
  CHECK(world.drifts({"a"}) == "state: interrupted (needs to be installed again) -> present\n");
  world.packages.put("a", {"1.0", PackageState::config_files});
  CHECK(world.drifts({"a", "absent"}).empty());
  CHECK(world.drifts({"a"}) == "state: absent -> present\n");
}

TEST_CASE("package: a look at many reads the database once, and a converged one runs nothing") {
  World world;
  std::vector<model::Resource> resources;
  for (int i = 0; i < 50; ++i) {
    const auto name = "p" + std::to_string(i);
    world.packages.put(name, {"1.0"});
    resources.push_back(A{name}.done());
  }
  const auto declared = declare(resources);
  resource::Observer observer(world.scene.shared(), declared);
  for (const auto& one : declared->manifest->resources)
    CHECK(observer.observe(*one).condition == Condition::converged);
  CHECK(world.packages.counts().reads == 1);
  CHECK(world.packages.counts().simulations == 0);
}

TEST_CASE("package: where nobody can be asked it is skipped or unknown with the reason") {
  World world;
  world.packages.set_absent("neither apt nor another package manager that Datum knows is here");
  CHECK(world.scene.observe(A{"a"}.done()).condition == Condition::skipped);
  world.scene.machine().root_path = "/mnt";
  CHECK(world.scene.observe(A{"a"}.done()).reason == "not under --root");
}

TEST_CASE("package: a wave is one transaction, told package by package") {
  World world;
  world.packages.offer("good", {"1.0", {"dep"}, {}, false});
  world.packages.offer("bad", {"1.0", {}, {}, true});
  world.packages.offer("dep", {"0.1", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"good"}, {"bad"}});
  CHECK(world.steps == Steps{"apt-get install"});
  CHECK(world.packages.counts().simulations == 1);
  CHECK(world.outcomes["good"] == "succeeded");
  CHECK(world.outcomes["bad"] ==
        "failed: it did not take effect: state is interrupted (half-configured); its main process "
        "ended with status 100");
  CHECK(world.results["bad"].output == "Setting up bad (1.0) ...\nit broke\n");
  CHECK(world.packages.find("dep")->version == "0.1");
}

TEST_CASE("package: what nobody named is neither removed nor changed, and the refusal names it") {
  World world;
  world.packages.put("gamma", {"1.0"});
  world.packages.put("lib", {"1.0"});
  world.packages.put("datum", {"1.0"});
  world.packages.offer("eater", {"1.0", {}, {"gamma"}, false});
  world.packages.offer("newer", {"1.0", {"lib"}, {}, false});
  world.packages.offer("rival", {"1.0", {}, {"datum"}, false});
  world.packages.offer("lib", {"2.0", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"eater"}});
  CHECK(world.outcomes["eater"] ==
        "failed: it would touch packages that nobody named: remove gamma; declare them too, or "
        "another version");
  world.apply({{"newer"}});
  CHECK(world.outcomes["newer"].find("change lib (1.0 to 2.0)") != std::string::npos);
  world.apply({{"rival"}});
  CHECK(world.outcomes["rival"] == "failed: it would remove Datum's own package datum");
  world.apply({{"datum", "absent"}});
  CHECK(world.outcomes["datum"] == "failed: it belongs to Datum itself: it is never removed");
  CHECK(world.steps.empty());
  world.apply({{"gamma", "absent"}, {"eater"}});
  CHECK(world.outcomes["eater"] == "succeeded");
  CHECK(world.outcomes["gamma"] == "succeeded");
}

TEST_CASE(
    "package: lists are read again only where they are older than their sources or lack what is "
    "wanted") {
  World world;
  world.packages.offer("a", {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"a"}});
  CHECK(world.packages.counts().refreshes == 0);
  world.packages.offer("a", {"2.0", {}, {}, false});
  world.apply({{"a", "present", "2.0"}});
  CHECK(world.packages.counts().refreshes == 1);
  CHECK(world.outcomes["a"] == "succeeded");
  world.steps.clear();
  world.apply({{"a", "present", "3.0"}, {"nowhere"}});
  CHECK(world.steps == Steps{"apt-get update"});
  CHECK(world.outcomes["a"].find("failed: no source of packages offers it") == 0);
  world.packages.offer("b", {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.packages.set_lists_older(true);
  world.steps.clear();
  world.apply({{"b"}});
  CHECK(world.steps == Steps{"apt-get update", "apt-get install"});
  world.packages.set_lists_older(true);
  world.steps.clear();
  world.apply({{"b", "absent"}});
  CHECK(world.steps == Steps{"apt-get install"});
}

TEST_CASE("package: a name that is nowhere holds back only itself") {
  World world;
  world.packages.offer("a", {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"a"}, {"nowhere"}});
  CHECK(world.outcomes["a"] == "succeeded");
  CHECK(world.outcomes["nowhere"] ==
        "failed: no source of packages offers it: nowhere was not found");
}

TEST_CASE("package: holds are what they were before, and what is declared [P05]") {
  World world;
  world.packages.put("a", {"1.0", PackageState::installed, true});
  world.packages.put("other", {"1.0", PackageState::installed, true});
  world.packages.offer("a", {"2.0", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"a", "present", "2.0"}});
  CHECK(world.outcomes["a"] == "succeeded");
  CHECK(world.packages.find("a")->version == "2.0");
  CHECK(world.packages.find("a")->held);
  CHECK(world.packages.find("other")->held);
  CHECK(world.steps == Steps{"apt-get install", "apt-mark hold"});
  world.steps.clear();
  world.apply({{"a", "present", {}, false}, {"other", "present", {}, true}});
  CHECK(world.steps == Steps{"apt-mark unhold"});
  CHECK_FALSE(world.packages.find("a")->held);
}

TEST_CASE("package: keeping and replacing configuration files are two transactions [P03]") {
  World world;
  for (const auto* name : {"a", "b", "c"}) world.packages.offer(name, {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"a"}, {"b", "present", {}, {}, "replace"}, {"c", "present", {}, {}, "keep"}});
  CHECK(world.steps == Steps{"apt-get install", "apt-get install"});
  CHECK(world.packages.counts().transactions == 2);
  REQUIRE(world.argvs.size() == 2);
  CHECK(world.argvs[0] == Steps{ModelPackages::kProgram, "change", "0", "keep", "a", "c"});
  CHECK(world.argvs[1] == Steps{ModelPackages::kProgram, "change", "1", "replace", "b"});
  for (const auto* name : {"a", "b", "c"}) CHECK(world.outcomes[name] == "succeeded");
}

TEST_CASE("package: a lock is waited for, not for ever, and its holder is named [P01]") {
  World world;
  world.packages.offer("a", {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.packages.set_lock(os::LockHolder{4711, "unattended-upgr", "/var/lib/dpkg/lock-frontend"});
  world.apply({{"a"}});
  CHECK(world.paused_ns == 300 * kNsPerSecond);
  CHECK(
      world.outcomes["a"] ==
      "failed: the package manager is in use: /var/lib/dpkg/lock-frontend is held by process 4711 "
      "(unattended-upgr), for 300 s by now; it can be tried again");
  CHECK(world.results["a"].error->code() == ErrorCode::busy);
  world.paused_ns = 0;
  world.at_pause = [&] {
    if (world.paused_ns >= 3 * kNsPerSecond) world.packages.set_lock({});
  };
  world.apply({{"a"}});
  CHECK(world.outcomes["a"] == "succeeded");
  CHECK(world.paused_ns == 3 * kNsPerSecond);
}

TEST_CASE("package: what was cut off is finished only where that is Datum's or allowed [P02]") {
  World world;
  world.packages.put("other", {"1.0", PackageState::half_configured});
  world.packages.offer("a", {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.apply({{"a"}});
  CHECK(world.steps.empty());
  CHECK(world.outcomes["a"].find("failed: the package manager was interrupted, and not in a run of "
                                 "Datum's: other (half-configured)") == 0);
  world.options.finish_interrupted = true;
  world.apply({{"a"}});
  CHECK(world.steps == Steps{"dpkg --configure -a", "apt-get install"});
  CHECK(world.outcomes["a"] == "succeeded");
  // What the documents name themselves needs no such step.
  world.options.finish_interrupted = false;
  world.packages.put("a", {"1.0", PackageState::half_configured});
  world.steps.clear();
  world.apply({{"a"}});
  CHECK(world.steps == Steps{"apt-get install"});
  world.packages.set_unmerged(true);
  world.apply({{"a", "absent"}});
  CHECK(world.outcomes["a"].find("failed: the package manager was interrupted") == 0);
}

TEST_CASE("package: a tool past its limit is not killed, and nothing further begins") {
  World world;
  for (const auto* name : {"a", "b"}) world.packages.offer(name, {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.end = [](resource::ToolStepEnd& ended) { ended.still_running = true; };
  world.apply({{"a"}, {"b", "present", {}, {}, "replace"}});
  CHECK(world.steps == Steps{"apt-get install"});
  for (const auto* name : {"a", "b"}) {
    CHECK(world.results[name].still_running == "datum-tool.service");
    CHECK(world.results[name].error->code() == ErrorCode::timed_out);
  }
}

TEST_CASE("package: a tool whose end nobody knows is judged by what is there") {
  World world;
  for (const auto* name : {"a", "bad"})
    world.packages.offer(name, {"1.0", {}, {}, std::string(name) == "bad"});
  world.packages.read_lists();
  world.end = [](resource::ToolStepEnd& ended) {
    ended.error = Error(ErrorCode::unavailable, "the bus is gone");
  };
  world.apply({{"a"}, {"bad"}});
  CHECK(world.outcomes["a"] == "succeeded");
  CHECK(world.outcomes["bad"].find("; the bus is gone") != std::string::npos);
}

TEST_CASE("package: cancelled before its transaction it is skipped, after it told as it is") {
  World world;
  world.packages.put("a", {"1.0", PackageState::installed, true});
  world.packages.offer("a", {"2.0", {}, {}, false});
  world.packages.read_lists();
  world.cancel_before = "change";
  world.apply({{"a", "present", "2.0"}});
  CHECK(world.outcomes["a"] == "skipped: not begun: the mode is observe now");
  CHECK(world.packages.find("a")->version == "1.0");
  world.cancel_before = "hold";
  world.apply({{"a", "present", "2.0", true}});
  CHECK(world.outcomes["a"] == "failed: it did not take effect: pinned is false");
  CHECK(world.packages.find("a")->version == "2.0");
}

TEST_CASE("package: without a service manager nothing is begun, and the reason is told") {
  World world;
  world.packages.offer("a", {"1.0", {}, {}, false});
  world.packages.read_lists();
  world.units.set_absent("systemd does not run here");
  world.apply({{"a"}});
  CHECK(world.steps.empty());
  CHECK(world.outcomes["a"].find("failed: systemd does not run here: a package tool would end") ==
        0);
}

namespace {

// As it stands in the program's own file.
void install_release(World& world, const std::string& release) {
  world.files.put_directory("/usr");
  world.files.put_directory("/usr/sbin");
  world.files.put_file("/usr/sbin/datum-host",
                       "\x7f"
                       "ELF...Datum" +
                           std::string(3, '\0') + "datum-version=" + release +
                           " (abc)\ndatum-level=1\n",
                       0755);
}

}  // namespace

TEST_CASE("package: of Datum's own the version counts that its program's file says") {
  World world;
  world.packages.put("datum-host", {"1:0.2.0-3"});
  const A wanted{"datum-host", "present", "1:0.2.0-3"};
  CHECK(world.drifts(wanted).empty());
  install_release(world, "0.2.0");
  CHECK(world.drifts(wanted).empty());
  install_release(world, "0.1.0");
  CHECK(world.drifts(wanted) == "version: 0.1.0 (dpkg's database says 1:0.2.0-3) -> 1:0.2.0-3\n");
  CHECK(world.drifts({"datum-host", "present", "0.1.0"}) ==
        "version: 0.1.0 (dpkg's database says 1:0.2.0-3) -> 0.1.0\n");
  CHECK(world.drifts({"datum-host"}).empty());
  world.packages.put("nginx", {"0.2.0"});
  CHECK(world.drifts({"nginx", "present", "0.2.0"}).empty());
}

TEST_CASE("package: before Datum's own is upgraded the running release is kept [U09]") {
  World world;
  world.packages.put("datum-host", {"0.1.0"});
  world.packages.offer("datum-host", {"0.2.0", {}, {}, false});
  world.packages.read_lists();
  install_release(world, "0.1.0");
  SECTION("and then it is a transaction like others") {
    world.apply({{"datum-host", "present", "0.2.0"}});
    CHECK(world.steps == Steps{"keep the running release", "apt-get install"});
  }
  SECTION("and without a way back nothing is begun") {
    world.end = [](resource::ToolStepEnd& ended) {
      ended.succeeded = false;
      ended.how = "its main process ended with status 1";
      ended.output = "no room\n";
    };
    world.apply({{"datum-host", "present", "0.2.0"}});
    CHECK(world.steps == Steps{"keep the running release"});
    CHECK(world.outcomes["datum-host"].find("there would be no way back: its main process ended "
                                            "with status 1: no room") != std::string::npos);
  }
  SECTION("and what was rolled back is not installed again") {
    world.options.rolled_back = core::RolledBack{"0.2.0 (abc)", "0.1.0 (abc)", "it failed 3 times"};
    world.apply({{"datum-host", "present", "0.2.0"}});
    CHECK(world.steps.empty());
    CHECK(world.outcomes["datum-host"].find("0.2.0 (abc) was rolled back to 0.1.0 (abc): it failed "
                                            "3 times") != std::string::npos);
    world.packages.offer("datum-host", {"0.2.1", {}, {}, false});
    world.packages.read_lists();
    world.apply({{"datum-host", "present", "0.2.1"}});
    CHECK(world.steps == Steps{"keep the running release", "apt-get install"});
  }
  SECTION("and files of another release than the database's are installed again") {
    world.packages.put("datum-host", {"0.2.0"});
    world.apply({{"datum-host", "present", "0.2.0"}});
    CHECK(world.steps == Steps{"keep the running release", "apt-get install"});
  }
}

TEST_CASE(
    "package: a version is what the package manager has, whatever a tool that was cut off "
    "said [R12]") {
  World world;
  world.packages.put("a", {"1.0"});
  world.packages.offer("a", {"2.0", {}, {}, false});
  world.packages.read_lists();
  const A wanted{"a", "present", "2.0"};
  world.end = [&](resource::ToolStepEnd& ended) {
    ended.succeeded = true;
    world.packages.put("a", {"1.0"});
  };
  world.apply({wanted});
  CHECK(world.outcomes["a"].starts_with("failed: "));
  CHECK(world.drifts(wanted) == "version: 1.0 -> 2.0\n");
  world.end = {};
  world.apply({wanted});
  CHECK(world.outcomes["a"] == "succeeded");
  CHECK(world.drifts(wanted).empty());
}
