// Tools that run as services of their own, over the modelled manager and a loop of virtual time.
#include "datum/engine/tool.hpp"

#include <catch2/catch.hpp>

#include "support/model_files.hpp"
#include "support/model_units.hpp"
#include "support/sim_loop.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

struct World {
  support::SimLoop loop{1};
  support::ModelFiles files;
  support::ModelUnits units;
  os::Handle folder;

  World() {
    files.put_directory("/var/lib/datum/tools", 0700);
    auto opened = files.open_root("/var/lib/datum/tools");
    REQUIRE(opened);
    folder = std::move(*opened);
  }
  static ToolOrder order(std::int64_t limit_ns) {
    const auto name = tool_name(Id128{}, 7, 1, 1);
    return {{name, "a tool", {"/usr/bin/tool"}, {}, "/var/lib/datum/tools/" + name + ".out"},
            limit_ns};
  }
  Result<ToolEnd> finish(loop::Task<Result<ToolEnd>> task) {
    loop.post([&task] { task.start(); });
    loop.run();
    REQUIRE(task.done());
    return task.take();
  }
  Result<ToolEnd> run(std::int64_t limit_ns = 60 * kNsPerSecond) {
    return finish(run_tool(loop, units, files, folder, order(limit_ns)));
  }
  Result<ToolEnd> adopt(std::int64_t limit_ns = 60 * kNsPerSecond) {
    return finish(adopt_tool(loop, units, files, folder, order(limit_ns)));
  }
};

}  // namespace

TEST_CASE("tool: it is waited for, and its end and output are told until it is forgotten") {
  World world;
  world.units.script_tool("/usr/bin/tool", 5, 0);
  const auto end = world.run();
  REQUIRE(end);
  CHECK(end->state == ToolState::ended);
  CHECK(end->succeeded);
  const auto path = World::order(0).service.output_path;
  REQUIRE(world.files.find_stat(path));
  CHECK(world.files.find_stat(path)->mode == 0600);
  const auto again = world.adopt();
  REQUIRE(again);
  CHECK(again->succeeded);
  REQUIRE(forget_tool(world.units, world.files, world.folder, World::order(0).service));
  CHECK_FALSE(world.files.find_stat(path));
  CHECK(world.adopt()->state == ToolState::unknown);
  CHECK(world.units.tools_started().size() == 1);
}

TEST_CASE("tool: one that fails says how, and what it wrote is kept at both ends") {
  World world;
  world.units.script_tool("/usr/bin/tool", 0, 3);
  const auto end = world.run();
  REQUIRE(end);
  CHECK_FALSE(end->succeeded);
  CHECK(end->how == "its main process ended with status 3, result exit-code");
  const std::string text = std::string(20'000, 'a') + std::string(20'000, 'z');
  world.files.put_file(World::order(0).service.output_path, text);
  const auto told = world.adopt();
  REQUIRE(told);
  CHECK(told->output.size() == kToolOutput);
  CHECK(told->output.front() == 'a');
  CHECK(told->output.back() == 'z');
  CHECK(told->output_left_out == text.size() - kToolOutput);
}

TEST_CASE("tool: past its limit it is left running, and a later look finds its end") {
  World world;
  world.units.script_tool("/usr/bin/tool", 20, 0);
  const auto late = world.run(kNsPerSecond);
  REQUIRE(late);
  CHECK(late->state == ToolState::still_running);
  CHECK(
      forget_tool(world.units, world.files, world.folder, World::order(0).service).error().code() ==
      ErrorCode::conflict);
  const auto end = world.adopt();
  REQUIRE(end);
  CHECK(end->succeeded);
}

TEST_CASE("tool: it outlives the process that began it, and is begun once") {
  World world;
  world.units.script_tool("/usr/bin/tool", 10, 0);
  {
    auto task = run_tool(world.loop, world.units, world.files, world.folder,
                         World::order(60 * kNsPerSecond));
    world.loop.post([&task] { task.start(); });
    world.loop.run_for(200 * kNsPerMs);
    REQUIRE_FALSE(task.done());
  }
  const auto end = world.adopt();
  REQUIRE(end);
  CHECK(end->state == ToolState::ended);
  CHECK(world.units.tools_started().size() == 1);
}

TEST_CASE("tool: what cannot be started is an error, and a lost answer is not") {
  World world;
  const auto missing = world.run();
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message().starts_with("/usr/bin/tool: "));
  World other;
  other.units.script_tool("/usr/bin/tool", 3, 0);
  other.units.set_after_call([](support::UnitCall call, std::string_view) -> std::optional<Error> {
    if (call != support::UnitCall::transient) return {};
    return Error(ErrorCode::timed_out, "no answer");
  });
  const auto end = other.run();
  REQUIRE(end);
  CHECK(end->succeeded);
}

TEST_CASE("tool: after the machine went down the manager knows nothing of it") {
  World world;
  world.units.script_tool("/usr/bin/tool", 1000, 0);
  REQUIRE(world.run(kNsPerSecond)->state == ToolState::still_running);
  world.units.reboot();
  CHECK(world.adopt()->state == ToolState::unknown);
}

TEST_CASE("tool: its name tells store and record") {
  Id128 store;
  store.bytes[0] = 0xab;
  CHECK(tool_name(store, 42, 3, 1) == "datum-ab00000000000000-42-3-1.service");
}
