// Timers over modelled files and a modelled service manager that reads them.
#include <catch2/catch.hpp>
#include <functional>

#include "pass.hpp"
#include "support/model_files.hpp"
#include "support/model_units.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;

namespace {

constexpr const char* kFile = "/etc/systemd/system/backup.timer";
const std::string kText =
    "# Kept by Datum: changes made here are undone.\n[Unit]\nDescription=Starts backup.service at "
    "its times\n\n[Timer]\nOnCalendar=daily\nOnCalendar=Mon 12:00\nPersistent=true\n"
    "RandomizedDelaySec=5m\nUnit=backup.service\n\n[Install]\nWantedBy=timers.target\n";

struct World {
  support::ModelFiles files;
  support::ModelUnits units;
  Scene scene{files};
  core::State state;
  resource::WaveOptions options;
  bool accepts = true;               // the validator, and the manager
  std::function<void()> before_act;  // between the look that the plan rests on and the wave
  std::vector<std::vector<std::string>> validated;

  World() {
    scene.machine().units = &units;
    files.put_directory("/etc/systemd/system");
    files.put_file("/usr/bin/systemd-analyze", "", 0755);
    units.set_before_call([this](support::UnitCall call, std::string_view) -> std::optional<Error> {
      if (call == support::UnitCall::reload_manager) read_files();
      return std::nullopt;
    });
    options.run_child = [this](const loop::ChildOptions& child) -> Result<loop::ChildResult> {
      validated.push_back(child.argv);
      loop::ChildResult ended;
      ended.exit_status = accepts ? 0 : 1;
      ended.output = accepts ? "" : "it is wrong\n";
      return ended;
    };
  }
  // As the manager does: a unit comes with its file and goes with it.
  void read_files() {
    const bool there = files.find_content(kFile).has_value();
    if (there && !known_) units.put("backup.timer");
    if (!there && known_) units.take("backup.timer");
    known_ = there;
  }
  static model::Resource wanted(std::vector<model::FieldValue> more = {}) {
    model::Resource resource;
    resource.reference = {model::ResourceType::timer, "backup"};
    resource.fields = {{Field::on_calendar, std::vector<std::string>{"daily", "Mon 12:00"}},
                       {Field::persistent, true},
                       {Field::randomized_delay, std::string("5m")}};
    for (auto& one : more) {
      std::erase_if(resource.fields, [&](const auto& each) { return each.field == one.field; });
      resource.fields.push_back(std::move(one));
    }
    model::finish_resource(resource);
    return resource;
  }
  static model::Resource absent() { return wanted({{Field::state, std::string("absent")}}); }
  std::string text() { return files.find_content(kFile).value_or("gone"); }
  std::string seen(const model::Resource& one) {
    const auto observed = scene.observe(one);
    if (observed.condition == core::Condition::unknown ||
        observed.condition == core::Condition::skipped)
      return std::string(to_string(observed.condition)) + ": " + observed.reason.str();
    return drifts_of(observed);
  }

  std::string apply(const std::vector<model::Resource>& resources) {
    const auto planned = plan_for(scene, state, resources);
    const auto& plan = *planned.plan;
    const auto ordinals = planned.first_wave();
    if (ordinals.empty()) return plan.empty() ? "nothing" : plan.actions[0].note;
    const auto wave =
        resource::make_wave(scene.shared(), planned.declared, planned.plan, ordinals, options);
    MemoryBlobs blobs;
    if (!wave->prepare(blobs)) return "not prepared";
    if (before_act) before_act();
    static_cast<void>(wave->act());
    return record_one(state, plan, wave->finish().front());
  }

 private:
  bool known_ = false;
};

}  // namespace

TEST_CASE("timer: [T01] [T05] one file, enabled and started, however often it is declared") {
  World world;
  CHECK(world.seen(World::wanted()) == "state: absent -> present\n");
  CHECK(world.apply({World::wanted()}) == "succeeded");
  CHECK(world.text() == kText);
  CHECK(world.files.find_stat(kFile)->mode == 0644);
  CHECK(world.units.at("backup.timer").runs);
  CHECK(world.units.at("backup.timer").file_state == "enabled");
  CHECK(world.seen(World::wanted()).empty());
  for (int i = 0; i < 3; ++i) CHECK(world.apply({World::wanted()}) == "nothing");
}

TEST_CASE("timer: each field is seen and corrected by itself") {
  struct Row {
    const char* what;
    const char* from;
    const char* to;
    const char* drift;
  };
  const auto row = GENERATE(
      Row{"another time", "=daily", "=weekly",
          "onCalendar: weekly; Mon 12:00 -> daily; Mon 12:00\n"},
      Row{"a time less", "OnCalendar=Mon 12:00\n", "", "onCalendar: daily -> daily; Mon 12:00\n"},
      Row{"persistent", "Persistent=true\n", "", "persistent: none -> true\n"},
      Row{"delay", "Sec=5m", "Sec=1h", "randomizedDelay: 1h -> 5m\n"},
      Row{"unit", "Unit=backup.service", "Unit=other.service",
          "unit: other.service -> backup.service\n"},
      Row{"other lines", "[Install]\n", "[Install]\nAlias=x.timer\n",
          "content: other lines -> as Datum writes it\n"});
  CAPTURE(row.what);
  World world;
  world.apply({World::wanted()});
  auto text = kText;
  text.replace(text.find(row.from), std::string_view(row.from).size(), row.to);
  world.files.put_file(kFile, text);
  CHECK(world.seen(World::wanted()) == row.drift);
  const auto starts = world.units.at("backup.timer").starts;
  CHECK(world.apply({World::wanted()}) == "succeeded");
  CHECK(world.text() == kText);
  CHECK(world.units.at("backup.timer").starts == starts + 1);
  CHECK(world.apply({World::wanted()}) == "nothing");
}

TEST_CASE("timer: what became of its unit is seen and corrected") {
  const auto what = GENERATE(as<std::string>{}, "stopped", "disabled", "stale", "open", "gone");
  CAPTURE(what);
  World world;
  world.apply({World::wanted()});
  auto& unit = world.units.at("backup.timer");
  if (what == "stopped") unit.runs = false;
  if (what == "disabled") unit.file_state = "disabled";
  if (what == "stale") unit.stale = true;
  if (what == "open") world.files.set_mode_of(kFile, 0666);
  if (what == "gone") world.files.remove(kFile);
  CHECK(world.seen(World::wanted()) == (what == "stopped"    ? "running: stopped -> true\n"
                                        : what == "disabled" ? "enabled: disabled -> true\n"
                                        : what == "stale"
                                            ? "loaded: as an older file said -> as the file says\n"
                                        : what == "open" ? "mode: 0666 -> writable by root alone\n"
                                                         : "state: absent -> present\n"));
  CHECK(world.apply({World::wanted()}) == "succeeded");
  CHECK(world.seen(World::wanted()).empty());
}

TEST_CASE("timer: [T05] one that is to be enabled, and has stopped meanwhile, is started too") {
  World world;
  world.apply({World::wanted()});
  auto& unit = world.units.at("backup.timer");
  unit.file_state = "disabled";
  world.before_act = [&] { unit.runs = false; };
  CHECK(world.apply({World::wanted()}) == "succeeded");
  CHECK(unit.runs);
  CHECK(unit.file_state == "enabled");
}

TEST_CASE("timer: what its validator refuses does not go live") {
  World world;
  world.apply({World::wanted()});
  world.accepts = false;
  const auto other = World::wanted({{Field::on_calendar, std::vector<std::string>{"Mon..Noday"}}});
  CHECK(world.apply({other}).starts_with("failed: "));
  CHECK(world.text() == kText);
  CHECK(world.units.at("backup.timer").runs);
  REQUIRE_FALSE(world.validated.empty());
  CHECK(world.validated.back().front() == "/usr/bin/systemd-analyze");
  for (const auto& path : world.files.paths()) CHECK(path.find("/.datum-") == std::string::npos);
}

TEST_CASE("timer: a manager that does not start it makes the action fail, and it drifts") {
  World world;
  world.apply({World::wanted()});
  world.units.at("backup.timer").runs = false;
  world.units.at("backup.timer").starts_badly = true;
  CHECK(world.apply({World::wanted()}).starts_with("failed: its start job ended as "));
  CHECK(world.seen(World::wanted()).find("running: ") == 0);
}

TEST_CASE("timer: absent and leaving stop and disable it before its file goes") {
  const bool leaves = GENERATE(false, true);
  CAPTURE(leaves);
  World world;
  world.apply({World::wanted()});
  std::vector<std::string> calls;
  world.units.set_before_call(
      [&](support::UnitCall call, std::string_view) -> std::optional<Error> {
        if (call == support::UnitCall::reload_manager) world.read_files();
        if (call == support::UnitCall::job) CHECK(world.text() == kText);
        if (call == support::UnitCall::change_file) CHECK(world.text() == kText);
        return std::nullopt;
      });
  auto none = leaves ? std::vector<model::Resource>{} : std::vector{World::absent()};
  CHECK(world.apply(none) == "succeeded");
  CHECK(world.text() == "gone");
  CHECK(world.seen(World::absent()).empty());
}

TEST_CASE("timer: a changed file stays when it leaves the declaration") {
  World world;
  world.apply({World::wanted()});
  world.files.put_file(kFile, kText + "# mine\n");
  CHECK(world.apply({}).find("changed since Datum made it") != std::string::npos);
  CHECK(world.text() == kText + "# mine\n");
}

TEST_CASE("timer: a link in its place, as a mask is, is left alone") {
  World world;
  world.files.put_symlink(kFile, "/dev/null");
  CHECK(world.seen(World::wanted()).find("a masked unit is a link") != std::string::npos);
  CHECK(world.apply({World::wanted()}) == "nothing");
}

TEST_CASE("timer: without a service manager it is skipped, with the reason") {
  World world;
  world.units.set_absent("no systemd runs here");
  CHECK(world.seen(World::wanted()).find("no systemd runs here") != std::string::npos);
}
