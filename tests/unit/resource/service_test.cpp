// Services over the modelled service manager: what is seen of a unit, how it differs, what a wave
// asks for, and what a unit can tell of a delivery after a death.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"
#include "support/model_units.hpp"

using namespace datum;
using namespace datum::test;
using core::Condition;
using core::Found;
using resource::Told;

namespace {

model::Resource a_service(const std::string& name, const std::string& state = "running",
                          bool enabled = true) {
  model::Resource resource;
  resource.reference = {model::ResourceType::service, name};
  resource.fields = {{model::Field::state, state}, {model::Field::enabled, enabled}};
  model::finish_resource(resource);
  return resource;
}

model::Resource masked(model::Resource resource, bool flag) {
  resource.fields.push_back({model::Field::masked, flag});
  model::finish_resource(resource);
  return resource;
}

struct World {
  support::ModelFiles files;
  support::ModelUnits units;
  Scene scene{files};

  World() {
    files.put_directory("/etc/systemd/system");
    scene.machine().units = &units;
  }

  std::string drifts(const model::Resource& service) { return drifts_of(scene.observe(service)); }

  // Observes, plans and runs the wave of one service; its outcome in words.
  std::string apply(const model::Resource& service) {
    const auto planned = plan_for(scene, state, {service});
    const auto& plan = planned.plan;
    if (plan->actions.empty()) return "nothing to do";
    if (!core::is_mutating(plan->actions[0].kind)) return "recorded only";
    if (between) between();
    resource::WaveOptions options;
    options.crash_point = [this](const char* point, std::uint32_t) { points.emplace_back(point); };
    const auto wave = resource::make_wave(scene.shared(), planned.declared, plan, {0}, options);
    MemoryBlobs blobs;
    REQUIRE(wave->prepare(blobs));
    settle = wave->act();
    if (settling) settling();
    last = std::move(wave->finish().front());
    return last.error ? "failed: " + last.error->message() : "succeeded";
  }

  core::State state;
  core::ActionResult last;
  std::int64_t settle = 0;
  std::function<void()> between, settling;
  std::vector<std::string> points;
};

}  // namespace

TEST_CASE("service: each word for a unit's file means enabled, not enabled, or no answer [V05]") {
  struct Row {
    const char* word;
    const char* if_enabled;   // the drift where it is declared enabled
    const char* if_disabled;  // and where it is declared not enabled
    bool warns;
  };
  const Row rows[] = {
      {"enabled", "", "enabled: true -> false\n", false},
      {"enabled-runtime", "enabled: false (enabled-runtime) -> true\n", "", false},
      {"linked", "enabled: false (linked) -> true\n", "", false},
      {"linked-runtime", "enabled: false (linked-runtime) -> true\n", "", false},
      {"disabled", "enabled: false -> true\n", "", false},
      {"masked", "enabled: false (masked) -> true\n", "", false},
      {"masked-runtime", "enabled: false (masked-runtime) -> true\n", "", false},
      {"alias", "", "", true},
      {"static", "", "", true},
      {"indirect", "", "", true},
      {"generated", "", "", true},
      {"transient", "", "", true},
      {"bad", "", "", true},
      {"of-a-later-version", "", "", true},
  };
  for (const auto& row : rows) {
    World world;
    auto& unit = world.units.put("web.service");
    unit.file_state = row.word;
    unit.runs = true;
    INFO(row.word);
    CHECK(world.drifts(a_service("web", "running", true)) == row.if_enabled);
    CHECK(world.drifts(a_service("web", "running", false)) == row.if_disabled);
    const auto seen = world.scene.observe(a_service("web"));
    CHECK(seen.warning.empty() == !row.warns);
    CHECK(seen.found == Found::present);
  }
}

TEST_CASE(
    "service: what a generator enables at each boot is no drift, what a person does is [V05]") {
  const std::string drift = "enabled: false (enabled-runtime) -> true\n";
  const std::string name = "web.service";
  for (const std::string folder :
       {"/run/systemd/generator.early/a.target.wants", "/run/systemd/generator/b.service.wants",
        "/run/systemd/generator.late/c.target.requires"}) {
    INFO(folder);
    World world;
    auto& unit = world.units.put(name);
    unit.file_state = "enabled-runtime";
    unit.runs = true;
    CHECK(world.drifts(a_service("web")) == drift);
    world.files.put_directory(folder);
    CHECK(world.drifts(a_service("web")) == drift);
    world.files.put_symlink(folder + "/" + name, "/lib/systemd/system/" + name);
    CHECK(world.drifts(a_service("web")).empty());
    CHECK(world.drifts(a_service("web", "running", false)).empty());
    CHECK(world.scene.observe(a_service("web")).warning.find("enabled by a generator") !=
          std::string::npos);
    const std::string by_hand = "/run/systemd/system/multi-user.target.wants";
    world.files.put_directory(by_hand);
    world.files.put_symlink(by_hand + "/" + name, "/lib/systemd/system/" + name);
    CHECK(world.drifts(a_service("web")) == drift);
  }
}

TEST_CASE("service: what runs and what does not is told apart, with how it ended") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  CHECK(world.drifts(a_service("web")) == "state: stopped -> running\n");
  CHECK(world.drifts(a_service("web", "stopped")).empty());
  unit.failed = true;
  CHECK(world.drifts(a_service("web")) ==
        "state: failed: its main process ended with status 3, result exit-code -> running\n");
  CHECK(world.drifts(a_service("web", "stopped")).empty());
  unit.failed = false;
  unit.runs = true;
  CHECK(world.drifts(a_service("web")).empty());
  CHECK(world.drifts(a_service("web", "stopped")) == "state: running -> stopped\n");
  unit.is_between = true;  // just reloading
  CHECK(world.drifts(a_service("web")).empty());
}

TEST_CASE("service: a unit that does not exist is missing only where it shall run or start") {
  World world;
  const auto wanted = world.scene.observe(a_service("web"));
  CHECK(wanted.found == Found::absent);
  CHECK(drifts_of(wanted) == "state: no such unit -> running\n");
  CHECK(world.drifts(a_service("web", "stopped", true)) == "state: no such unit -> stopped\n");
  const auto unwanted = world.scene.observe(a_service("web", "stopped", false));
  CHECK(unwanted.condition == Condition::converged);
}

TEST_CASE("service: an alias is its canonical unit, in state and mask [V01] [V03]") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.aliases = {"www.service"};
  unit.file_state = "enabled";
  unit.runs = true;
  CHECK(world.drifts(a_service("www")).empty());
  unit.masked = true;
  CHECK(world.drifts(masked(a_service("www", "running", false), false)) ==
        "masked: true -> false\n");
}

TEST_CASE("service: one unit that is declared under two of its names is not touched") {
  World world;
  world.units.put("web.service").aliases = {"www.service"};
  auto declared = declare({a_service("web"), a_service("www", "stopped")});
  resource::Observer observer(world.scene.shared(), declared);
  std::vector<const model::Resource*> both;
  for (const auto& one : declared->manifest->resources) both.push_back(one.get());
  observer.gather(both);
  for (const auto* one : both) {
    const auto seen = observer.observe(*one);
    CHECK(seen.condition == Condition::unknown);
    CHECK(seen.reason.view().find("the same unit, web.service") != std::string::npos);
  }
}

TEST_CASE("service: Datum's own unit is not touched under any name") {
  World world;
  world.units.put("datum-host.service").aliases = {"agent.service"};
  const auto seen = world.scene.observe(a_service("agent", "stopped"));
  CHECK(seen.condition == Condition::unknown);
  CHECK(seen.reason.view().find("belongs to Datum itself") != std::string::npos);
}

TEST_CASE("service: no job may end Datum's own unit, by any chain of others [U05]") {
  World world;
  auto& units = world.units;
  units.put("datum-host.service").aliases = {"agent.service"};
  units.put("web.service").stopped_by_start = {"old.service", "shutdown.target"};
  units.put("old.service").stopped_with = {"middle.service"};
  units.put("middle.service").stopped_with = {"old.service", "datum-host.service"};
  units.put("plain.service").stopped_with = {"web.service"};
  const auto refused = [&](const char* unit, os::UnitJob job) {
    const auto done = resource::refuse_own_end(units, unit, job);
    return done ? std::string() : done.error().message();
  };
  using os::UnitJob;
  for (const auto job : {UnitJob::stop, UnitJob::restart}) {
    CHECK(refused("old.service", job).find("would end datum-host.service") != std::string::npos);
    CHECK(refused("agent.service", job).find("would end datum-host.service") != std::string::npos);
    CHECK(refused("web.service", job).empty());
    CHECK(refused("plain.service", job).empty());
  }
  CHECK(refused("web.service", UnitJob::start).find("datum-host.service") != std::string::npos);
  CHECK(refused("old.service", UnitJob::start).empty());
  CHECK(refused("old.service", UnitJob::reload).empty());
  const auto said = world.apply(a_service("web"));
  CHECK(said.find("failed: to start it would end datum-host.service") == 0);
  CHECK(units.at("web.service").starts == 0);
  units.at("middle.service").stopped_with = {"old.service"};
  CHECK(world.apply(a_service("web")) == "succeeded");
}

TEST_CASE("service: without a manager it is skipped with the reason, and under another root too") {
  World world;
  world.units.set_absent("systemd does not run here");
  auto seen = world.scene.observe(a_service("web"));
  CHECK(seen.condition == Condition::skipped);
  CHECK(seen.reason == "systemd does not run here");
  world.units.set_absent({});
  world.scene.machine().root_path = "/srv/root";
  seen = world.scene.observe(a_service("web"));
  CHECK(seen.condition == Condition::skipped);
  CHECK(seen.reason == "not under --root");
}

TEST_CASE("service: a manager that does not answer makes it unknown, never stopped") {
  World world;
  world.units.put("web.service").runs = true;
  world.units.set_before_call([](support::UnitCall, std::string_view) -> std::optional<Error> {
    return Error(ErrorCode::timed_out, "no answer");
  });
  const auto seen = world.scene.observe(a_service("web", "stopped"));
  CHECK(seen.condition == Condition::unknown);
  CHECK(seen.drifts.empty());
}

TEST_CASE("service: many are asked about in one call") {
  World world;
  int calls = 0;
  std::vector<model::Resource> services;
  for (int i = 0; i < 60; ++i) services.push_back(a_service("s" + std::to_string(i)));
  world.units.set_before_call([&](support::UnitCall, std::string_view) -> std::optional<Error> {
    ++calls;
    return {};
  });
  auto declared = declare(services);
  resource::Observer observer(world.scene.shared(), declared);
  std::vector<const model::Resource*> all;
  for (const auto& one : declared->manifest->resources) all.push_back(one.get());
  observer.gather(all);
  for (const auto* one : all) CHECK(observer.observe(*one).found == Found::absent);
  CHECK(calls == 1);
}

TEST_CASE("service: a stopped and disabled unit is enabled, then started, and watched") {
  World world;
  auto& unit = world.units.put("web.service");
  CHECK(world.apply(a_service("web")) == "succeeded");
  CHECK(unit.runs);
  CHECK(unit.file_state == "enabled");
  CHECK(unit.starts == 1);
  CHECK(world.settle == 2 * kNsPerSecond);
  CHECK(world.last.after.condition == Condition::converged);
  CHECK(world.points ==
        std::vector<std::string>{"reload-manager", "unit-files", "job", "job-ended", "observe"});
  CHECK(world.apply(a_service("web")) == "recorded only");
  CHECK(unit.starts == 1);
}

TEST_CASE("service: only what the plan names is corrected") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  world.between = [&] { unit.file_state = "disabled"; };  // somebody, after it was observed
  CHECK(world.apply(a_service("web")) == "succeeded");
  CHECK(unit.runs);
  CHECK(unit.file_state == "disabled");
  CHECK(world.last.after.condition == Condition::drifted);
}

TEST_CASE("service: of a unit that came after it was observed all that is declared is corrected") {
  World world;
  world.between = [&] { world.units.put("web.service"); };  // a File of the same pass
  CHECK(world.apply(a_service("web")) == "succeeded");
  CHECK(world.units.at("web.service").runs);
  CHECK(world.units.at("web.service").file_state == "enabled");
  CHECK(world.last.after.condition == Condition::converged);
}

TEST_CASE("service: what somebody corrected meanwhile is not done again") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  world.between = [&] { unit.runs = true; };
  CHECK(world.apply(a_service("web")) == "succeeded");
  CHECK(unit.starts == 0);
}

TEST_CASE("service: a unit is stopped before it is masked, and unmasked before it is started") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.runs = true;
  unit.file_state = "enabled";
  std::vector<std::string> calls;
  world.units.set_after_call([&](support::UnitCall call, std::string_view) -> std::optional<Error> {
    calls.emplace_back(call == support::UnitCall::job           ? "job"
                       : call == support::UnitCall::change_file ? "file"
                                                                : "reload");
    return {};
  });
  CHECK(world.apply(masked(a_service("web", "stopped", false), true)) == "succeeded");
  CHECK(unit.masked);
  CHECK_FALSE(unit.runs);
  CHECK(calls == std::vector<std::string>{"file", "reload", "job", "file", "reload"});
  calls.clear();
  CHECK(world.apply(masked(a_service("web", "running", true), false)) == "succeeded");
  CHECK(unit.runs);
  CHECK_FALSE(unit.masked);
  CHECK(calls == std::vector<std::string>{"file", "file", "reload", "job"});
}

TEST_CASE("service: a masked unit that shall run fails, and is not unmasked for it") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.masked = true;
  const auto outcome = world.apply(a_service("web"));
  CHECK(outcome.find("masked") != std::string::npos);
  CHECK(unit.masked);
  CHECK_FALSE(unit.runs);
}

TEST_CASE("service: a unit that fails to start, or ends at once, or is restarted, is a failure") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  unit.starts_badly = true;
  CHECK(world.apply(a_service("web")).find("its start job ended as failed") != std::string::npos);
  CHECK(world.last.after.reference.name.empty());
  unit.starts_badly = false;
  unit.dies_at_once = true;
  CHECK(world.apply(a_service("web")).find("ended soon after") != std::string::npos);
  unit.dies_at_once = false;
  world.settling = [&] { REQUIRE(world.units.run_job("web.service", os::UnitJob::restart, 1)); };
  CHECK(world.apply(a_service("web")).find("it was started again") != std::string::npos);
}

TEST_CASE("service: the manager reads changed files once before a unit is acted on [V08]") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  unit.stale = true;
  world.units.put("other.service").stale = true;
  CHECK(world.apply(a_service("web")) == "succeeded");
  CHECK(world.units.manager_reloads() == 1);
  CHECK(world.apply(a_service("other")) == "succeeded");
  CHECK(world.units.manager_reloads() == 2);  // its link was made; the file was read before
}

TEST_CASE("service: a job whose end is not seen is left running, and says so") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  world.units.set_after_call([&](support::UnitCall call, std::string_view) -> std::optional<Error> {
    if (call != support::UnitCall::job) return {};
    return Error(ErrorCode::timed_out, "the service manager did not answer in time");
  });
  CHECK(world.apply(a_service("web")).starts_with("failed: start: "));
  CHECK(world.last.still_running == "web.service");
}

TEST_CASE("service: links that could not be made durable are a failure") {
  World world;
  world.units.put("web.service");
  world.files.set_reports_sync_errors(true);
  world.files.fail_call(support::Call::sync_file_system, 1, 5);
  CHECK(world.apply(a_service("web")).find("not durable") != std::string::npos);
}

TEST_CASE("service: a unit that left the declaration is looked at and never removed") {
  World world;
  world.units.put("web.service");
  resource::Observer observer(world.scene.shared(), declare({}));
  const model::Target web{model::TargetFamily::unit, "web.service"};
  const model::Target gone{model::TargetFamily::unit, "gone.service"};
  CHECK(observer.observe_leaving(web, {}).found == Found::present);
  CHECK(observer.observe_leaving(gone, {}).found == Found::absent);
  world.units.set_absent("systemd does not run here");
  CHECK(observer.observe_leaving(web, {}).found == Found::unseen);
}

TEST_CASE("service: after a death an action took effect, or did not, or cannot be told") {
  World world;
  auto& unit = world.units.put("web.service");
  unit.file_state = "enabled";
  const auto service = a_service("web");
  auto declared = declare({service});
  const auto before = world.scene.observe(declared, *declared->manifest->resources[0]);
  resource::DeadWave dead;
  dead.actions.push_back({0, core::ActionKind::update, service.target, Found::present});
  dead.observed.push_back(before.digest);
  const auto outcome = [&] {
    return resource::recover_actions(world.scene.machine(), *declared, dead).front().outcome;
  };
  CHECK(outcome() == core::RecoveredOutcome::did_not);
  unit.runs = true;
  CHECK(outcome() == core::RecoveredOutcome::took_effect);
  unit.runs = false;
  unit.failed = true;
  CHECK(outcome() == core::RecoveredOutcome::untellable);
  world.units.set_before_call([](support::UnitCall, std::string_view) -> std::optional<Error> {
    return Error(ErrorCode::timed_out, "no answer");
  });
  CHECK(outcome() == core::RecoveredOutcome::untellable);
}

// --- what a unit can tell of a delivery

namespace {

struct Delivery {
  support::ModelUnits units;
  support::ModelUnit& unit = units.put("web.service");
  std::string moment;

  Delivery() {
    must(os::UnitJob::start);
    announce();
  }
  void must(os::UnitJob job) { REQUIRE(units.run_job("web.service", job, 1)); }
  os::Unit look() {
    const std::vector<std::string> names{"web.service"};
    auto seen = units.query(names, 1);
    REQUIRE(seen);
    return seen->front();
  }
  void announce() { moment = resource::describe_moment(look()); }
  Told tell(bool restart, bool same_boot = true) {
    return resource::tell_delivery(moment, restart, same_boot, look());
  }
};

}  // namespace

TEST_CASE("delivery: a unit tells whether it was reloaded since, and whether that failed") {
  Delivery delivery;
  CHECK(delivery.tell(false) == Told::did_not);
  delivery.must(os::UnitJob::reload);
  CHECK(delivery.tell(false) == Told::happened);
  delivery.announce();
  delivery.unit.reloads_badly = true;
  delivery.must(os::UnitJob::reload);
  CHECK(delivery.tell(false) == Told::failed);
}

TEST_CASE("delivery: a unit tells whether it was restarted since; a reload is no restart") {
  Delivery delivery;
  CHECK(delivery.tell(true) == Told::did_not);
  delivery.must(os::UnitJob::reload);
  CHECK(delivery.tell(true) == Told::did_not);
  delivery.must(os::UnitJob::restart);
  CHECK(delivery.tell(true) == Told::happened);
  CHECK(delivery.tell(false) == Told::happened);  // it has read everything anew
}

TEST_CASE(
    "delivery: another boot is a start of its own; a unit that does not run was told nothing") {
  Delivery delivery;
  delivery.unit.file_state = "enabled";
  delivery.units.reboot();
  CHECK(delivery.tell(false, false) == Told::happened);
  delivery.must(os::UnitJob::stop);
  CHECK(delivery.tell(false, false) == Told::did_not);
}

TEST_CASE("delivery: a unit that was not at rest cannot tell whose reload it saw") {
  Delivery delivery;
  delivery.unit.is_between = true;
  delivery.announce();
  CHECK(delivery.tell(false) == Told::untellable);  // a job is still under way
  delivery.unit.is_between = false;
  CHECK(delivery.tell(false) == Told::did_not);  // nothing changed since
  delivery.must(os::UnitJob::reload);
  CHECK(delivery.tell(false) == Told::untellable);
  delivery.moment = "of an earlier version";
  CHECK(delivery.tell(false) == Told::untellable);
}
