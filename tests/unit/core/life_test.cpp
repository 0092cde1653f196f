// What the service tells of its own life: lifecycle, mode, configuration, version.
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

const Actor kService{ActorKind::service, "datum-host", 0, ""};

}  // namespace

TEST_CASE("lifecycle: a machine becomes hosted once, with cause and actor") {
  World world;
  CHECK(world.state.lifecycle == NodeLifecycle::unmanaged);
  const ChangeLifecycle hosted{NodeLifecycle::hosted, "the service started", kService};
  CHECK(all_of_kind<LifecycleChanged>(world.run(hosted)) ==
        std::vector<LifecycleChanged>{
            {NodeLifecycle::unmanaged, NodeLifecycle::hosted, "the service started", kService}});
  CHECK(world.state.lifecycle == NodeLifecycle::hosted);
  CHECK(world.run(hosted).empty());
  CHECK(decide(State{}, hosted).error().code() == ErrorCode::conflict);
}

TEST_CASE(
    "version: it is confirmed once, by the pass that finished last, if it is the one that runs") {
  World world;
  const auto version = world.state.version;
  CHECK(world.try_run(ConfirmVersion{version, 1}).error().code() == ErrorCode::refused);
  world.pass(manifest_of({file("motd", "/etc/motd")}));
  const auto pass = world.state.last_pass->id;
  CHECK(world.try_run(ConfirmVersion{version, pass + 1}).error().code() == ErrorCode::refused);
  CHECK(world.try_run(ConfirmVersion{"9.9", pass}).error().code() == ErrorCode::refused);
  CHECK(all_of_kind<VersionConfirmed>(world.run(ConfirmVersion{version, pass})) ==
        std::vector<VersionConfirmed>{{version, pass}});
  CHECK(world.state.confirmed_version == version);
  CHECK(world.run(ConfirmVersion{version, pass}).empty());
}

TEST_CASE("version: an upgrade is told between passes, never inside of one") {
  World world;
  const RecordUpgradePending pending{"1.0", "1.1"};
  CHECK(all_of_kind<UpgradePending>(world.run(pending)) ==
        std::vector<UpgradePending>{{"1.0", "1.1"}});
  world.start(manifest_of({file("motd", "/etc/motd")}), {});
  CHECK(world.try_run(pending).error().code() == ErrorCode::conflict);
}

TEST_CASE("version: a rollback is told once and stands until another version is confirmed") {
  World world;
  const RecordRolledBack back{"1.1", "0.9", "it failed 3 times"};
  CHECK(all_of_kind<RolledBack>(world.run(back)) ==
        std::vector<RolledBack>{{"1.1", "0.9", "it failed 3 times"}});
  CHECK(world.run(back).empty());
  CHECK(world.state.confirmed_version == "0.9");
  world.pass(manifest_of({file("motd", "/etc/motd")}));
  const auto version = world.state.version;
  world.run(ConfirmVersion{version, world.state.last_pass->id});
  CHECK_FALSE(world.state.rolled_back.has_value());
}

TEST_CASE("version: what was put back does not forget that it was by being confirmed again") {
  World world;
  world.pass(manifest_of({file("motd", "/etc/motd")}));
  const auto version = world.state.version;
  world.run(RecordRolledBack{"9.9", version, "no pass"});
  world.run(ConfirmVersion{version, world.state.last_pass->id});
  CHECK(world.state.rolled_back.has_value());
}

TEST_CASE("configuration: one that is refused is told with its place, and a long problem is cut") {
  World world;
  const auto told = all_of_kind<ConfigRejected>(
      world.run(RejectConfig{"/etc/datum/agent.yaml", 3, 1, std::string(100'000, 'x')}));
  REQUIRE(told.size() == 1);
  CHECK(told.front().file == "/etc/datum/agent.yaml");
  CHECK(told.front().line == 3);
  CHECK(told.front().problem.size() < 10'000);
}

TEST_CASE("mode: a change is told with both terms, and none where nothing changed") {
  World world;
  const EffectiveMode observe{Mode::observe, ModeTerm::absent, "no configuration names a mode"};
  const EffectiveMode enforce{Mode::enforce, ModeTerm::configuration, "agent.yaml says enforce"};
  CHECK(all_of_kind<ModeChanged>(world.run(ChangeMode{observe, enforce, kService})) ==
        std::vector<ModeChanged>{{observe, enforce, kService}});
  CHECK(world.run(ChangeMode{observe, observe, kService}).empty());
}
