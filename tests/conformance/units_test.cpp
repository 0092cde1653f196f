// What every os::Units must do: the contract of units.hpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "units_scenes.hpp"

using namespace datum;
using namespace datum::os;
using conformance::UnitKind;

namespace {

struct Opened {
  std::unique_ptr<conformance::UnitScene> scene = conformance::make_scene();
  Units& units = scene->units();

  Unit look(const std::string& name) {
    const std::vector<std::string> names{name};
    auto seen = units.query(names, kUnitCallNs);
    if (!seen) FAIL(seen.error().message());
    return seen->front();
  }
  std::string job(const std::string& name, UnitJob which) {
    auto ended = units.run_job(name, which, kUnitCallNs);
    return ended ? *ended : std::string(to_string(ended.error().code()));
  }
  std::string change(const std::string& name, UnitFileChange which) {
    auto changed = units.change_file(name, which, kUnitCallNs);
    if (!changed) return std::string(to_string(changed.error().code()));
    REQUIRE(units.reload_manager(kUnitCallNs));
    return look(name).file_state;
  }
  // Until it has ended, as the manager tells.
  Unit wait_for_tool(const std::string& name) {
    for (;;) {
      auto seen = look(name);
      if (!is_running_tool(seen)) return seen;
    }
  }
  TransientService service(const std::string& name, const std::string& program) {
    std::ofstream(scene->output_file()).close();
    return {name, "a tool of a test", {program}, {"LANG=C.UTF-8"}, scene->output_file()};
  }
  std::string output() {
    std::ifstream in(scene->output_file());
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
};

}  // namespace

TEST_CASE("units: a name that nothing stands behind is not found, in the middle of others too") {
  Opened at;
  at.scene->put("datum-a.service", {});
  const std::vector<std::string> names{"datum-none.service", "datum-a.service",
                                       "datum-none.service"};
  auto seen = at.units.query(names, kUnitCallNs);
  REQUIRE(seen);
  REQUIRE(seen->size() == 3);
  CHECK((*seen)[0].load_state == "not-found");
  CHECK((*seen)[0].file_state.empty());
  CHECK((*seen)[1].load_state == "loaded");
  CHECK((*seen)[1].file_state == "disabled");
  CHECK((*seen)[2].name == "datum-none.service");
}

TEST_CASE(
    "units: an alias leads to the canonical name, and its state to the canonical unit [V03]") {
  Opened at;
  at.scene->put("datum-b.service", {});
  at.scene->add_alias("datum-b-too.service", "datum-b.service");
  REQUIRE(at.job("datum-b.service", UnitJob::start) == "done");
  const auto seen = at.look("datum-b-too.service");
  CHECK(seen.id == "datum-b.service");
  CHECK(seen.active_state == "active");
  CHECK(seen.file_state == "disabled");
  CHECK(std::count(seen.names.begin(), seen.names.end(), "datum-b-too.service") == 1);
  const auto before = seen.invocation;
  CHECK(at.job("datum-b-too.service", UnitJob::start) == "done");  // runs already
  CHECK(at.look("datum-b.service").invocation == before);
}

TEST_CASE("units: each start has an invocation of its own, and a reload has none") {
  Opened at;
  at.scene->put("datum-c.service", {});
  CHECK(at.look("datum-c.service").invocation.empty());
  REQUIRE(at.job("datum-c.service", UnitJob::start) == "done");
  const auto first = at.look("datum-c.service");
  CHECK(first.invocation.size() == 32);
  REQUIRE(at.job("datum-c.service", UnitJob::reload) == "done");
  const auto second = at.look("datum-c.service");
  CHECK(second.invocation == first.invocation);
  CHECK(second.state_changed_us > first.state_changed_us);
  CHECK(second.reload_result == "success");
  CHECK(at.scene->reloads("datum-c.service") == 1);
  REQUIRE(at.job("datum-c.service", UnitJob::restart) == "done");
  CHECK(at.look("datum-c.service").invocation != first.invocation);
  REQUIRE(at.job("datum-c.service", UnitJob::stop) == "done");
  CHECK(at.look("datum-c.service").active_state == "inactive");
}

TEST_CASE("units: looking changes nothing, not even the time of the last change") {
  Opened at;
  at.scene->put("datum-d.service", {});
  REQUIRE(at.job("datum-d.service", UnitJob::start) == "done");
  const auto first = at.look("datum-d.service");
  const auto second = at.look("datum-d.service");
  CHECK(second.state_changed_us == first.state_changed_us);
  CHECK(second.invocation == first.invocation);
  CHECK_FALSE(second.has_job);
}

TEST_CASE("units: a job that fails says so, and one that makes no sense is refused") {
  Opened at;
  at.scene->put("datum-e.service", {.can_reload = false, .installs = true, .starts_badly = true});
  CHECK(at.job("datum-e.service", UnitJob::start) == "failed");
  const auto seen = at.look("datum-e.service");
  CHECK(seen.active_state == "failed");
  CHECK(seen.result == "exit-code");
  CHECK(at.job("datum-none.service", UnitJob::start) == "not found");
  at.scene->put("datum-f.service", {.can_reload = false});
  REQUIRE(at.job("datum-f.service", UnitJob::start) == "done");
  CHECK_FALSE(at.look("datum-f.service").can_reload);
  CHECK(at.job("datum-f.service", UnitJob::reload) != "done");
}

TEST_CASE("units: enabling and masking last, and a masked unit does not start") {
  Opened at;
  REQUIRE(at.units.find_absence() == std::nullopt);
  at.scene->put("datum-g.service", {});
  CHECK(at.change("datum-g.service", UnitFileChange::enable) == "enabled");
  CHECK(at.change("datum-g.service", UnitFileChange::disable) == "disabled");
  CHECK(at.change("datum-g.service", UnitFileChange::mask) == "masked");
  CHECK(at.look("datum-g.service").load_state == "masked");
  CHECK(at.job("datum-g.service", UnitJob::start) == "conflict");
  CHECK(at.change("datum-g.service", UnitFileChange::unmask) == "disabled");
  CHECK(at.job("datum-g.service", UnitJob::start) == "done");
  CHECK(at.change("datum-none.service", UnitFileChange::enable) == "not found");
  CHECK(at.change("datum-none.service", UnitFileChange::disable) == "not found");
}

TEST_CASE("units: a unit without an installation stays static, whoever enables it [V05]") {
  Opened at;
  at.scene->put("datum-h.service", {.can_reload = true, .installs = false});
  CHECK(at.change("datum-h.service", UnitFileChange::enable) == "static");
}

TEST_CASE("units: a changed file is told until the manager has read it again [V08]") {
  Opened at;
  at.scene->put("datum-i.service", {});
  REQUIRE(at.job("datum-i.service", UnitJob::start) == "done");
  CHECK_FALSE(at.look("datum-i.service").needs_daemon_reload);
  at.scene->change_file("datum-i.service");
  CHECK(at.look("datum-i.service").needs_daemon_reload);
  REQUIRE(at.units.reload_manager(kUnitCallNs));
  CHECK_FALSE(at.look("datum-i.service").needs_daemon_reload);
}

TEST_CASE("units: a template has a file and no process") {
  Opened at;
  at.scene->put("datum-t@.service", {});
  const auto seen = at.look("datum-t@.service");
  CHECK(seen.load_state == "template");
  CHECK(seen.file_state == "disabled");
  CHECK(at.look("datum-none@.service").load_state == "not-found");
}

TEST_CASE("units: a tool runs under its name, and its end is known until it is forgotten") {
  Opened at;
  const auto slow = at.service("datum-tool-1.service", at.scene->slow_tool());
  REQUIRE(at.units.start_transient(slow, kUnitCallNs));
  CHECK(is_running_tool(at.look("datum-tool-1.service")));
  CHECK(at.units.forget("datum-tool-1.service", kUnitCallNs).error().code() == ErrorCode::conflict);
  CHECK(at.units.start_transient(slow, kUnitCallNs).error().code() == ErrorCode::already_exists);
  const auto ended = at.wait_for_tool("datum-tool-1.service");
  CHECK(ended.exit_code == 1);
  CHECK(ended.exit_status == 0);
  CHECK(at.output() == "tool ran\n");
  REQUIRE(at.units.forget("datum-tool-1.service", kUnitCallNs));
  CHECK(at.look("datum-tool-1.service").load_state == "not-found");
  CHECK(at.units.forget("datum-tool-1.service", kUnitCallNs));
}

TEST_CASE("units: a tool that fails keeps its status until it is forgotten") {
  Opened at;
  const auto failing = at.service("datum-tool-2.service", at.scene->failing_tool());
  const auto started = at.units.start_transient(failing, kUnitCallNs);
  INFO((started ? std::string("started") : started.error().message()));
  REQUIRE(started);
  const auto ended = at.wait_for_tool("datum-tool-2.service");
  CHECK(ended.exit_status == 3);
  CHECK(ended.result == "exit-code");
  CHECK(describe_end(ended) == "its main process ended with status 3, result exit-code");
  REQUIRE(at.units.forget("datum-tool-2.service", kUnitCallNs));
  CHECK(at.look("datum-tool-2.service").load_state == "not-found");
  auto missing = at.service("datum-tool-3.service", "/tool/that/is/not/there");
  CHECK_FALSE(at.units.start_transient(missing, kUnitCallNs));
  CHECK(at.units.forget("datum-tool-3.service", kUnitCallNs));
}
