// What a pass records, from its beginning to its end.
#include <algorithm>
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

std::size_t records_of(const World& world, std::size_t from) {
  return world.journal.size() - from;
}

}  // namespace

TEST_CASE("pass: a converged one appends its start and its end, whatever the number of resources") {
  World world;
  std::vector<model::Resource> many;
  for (int i = 0; i < 50; ++i)
    many.push_back(file("f" + std::to_string(i), "/f" + std::to_string(i)));
  const auto manifest = manifest_of(many);
  world.pass(manifest);
  world.pass(manifest);
  const auto from = world.journal.size();
  const auto events = world.pass(manifest);
  CHECK(records_of(world, from) == 2);
  CHECK(all_of_kind<PassFinished>(events).front().counts.converged == 50);
  CHECK(all_of_kind<PassFinished>(events).front().plan.empty());
}

TEST_CASE(
    "pass: [N07] standing drift in observe is recorded once, and the end says what would change") {
  World world;
  const auto manifest = manifest_of({file("a", "/a"), file("b", "/b")});
  World::PassOptions observe;
  observe.mode = Mode::observe;
  const auto first = world.pass(manifest, observe);
  CHECK(all_of_kind<ResourceObserved>(first).size() == 2);
  CHECK(all_of_kind<PlanComputed>(first).size() == 1);
  CHECK(all_of_kind<ObservationSummarized>(first).empty());
  CHECK(all_of_kind<PassFinished>(first).front().counts.drifted == 2);
  const auto second = world.pass(manifest, observe);
  CHECK(second.size() == 2);
  const auto finished = all_of_kind<PassFinished>(second).front();
  CHECK(finished.planned.create == 2);
  CHECK_FALSE(finished.plan.empty());
  CHECK(finished.condition == Condition::drifted);
  CHECK(world.machine.objects().empty());
}

TEST_CASE("pass: observations are recorded in order of reference, whatever their order") {
  World world;
  const auto manifest = manifest_of({file("a", "/z"), file("b", "/y"), folder("c", "/x")});
  world.start(manifest, {});
  auto observations = world.observe(manifest);
  std::reverse(observations.begin(), observations.end());
  const auto events = all_of_kind<ResourceObserved>(world.run(RecordObservations{observations}));
  REQUIRE(events.size() == 3);
  CHECK(events[0].reference == ref("Directory[c]"));
  CHECK(events[1].reference == ref("File[a]"));
  CHECK(events[2].reference == ref("File[b]"));
}

TEST_CASE("pass: a success counts as the last observation, so that the next pass records nothing") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.pass(manifest);
  CHECK(all_of_kind<ResourceObserved>(world.pass(manifest)).empty());
}

TEST_CASE("pass: what left the manifest leaves the status with the next observation") {
  World world;
  world.pass(manifest_of({file("a", "/a"), file("z", "/z")}));
  CHECK(world.state.resources.size() == 2);
  const auto events = world.pass(manifest_of({file("z", "/z")}));
  REQUIRE(all_of_kind<ResourcesForgotten>(events).size() == 1);
  CHECK(all_of_kind<ResourcesForgotten>(events).front().targets == std::vector{path("/a")});
  CHECK(world.state.resources.size() == 1);
  CHECK(all_of_kind<OwnershipRemoved>(events).size() == 1);
  CHECK(world.machine.find("/a") == nullptr);
}

TEST_CASE("pass: only one runs at a time") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  StartPass again;
  const auto refused = world.try_run(again);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::busy);
}

TEST_CASE("pass: an empty manifest is refused unless it is meant to be empty") {
  World world;
  StartPass start;
  start.manifest_empty = true;
  REQUIRE_FALSE(world.try_run(start));
  CHECK(world.try_run(start).error().code() == ErrorCode::refused);
  start.manifest_final = true;
  CHECK(world.try_run(start));
}

TEST_CASE("pass: a store with an accepted declaration runs nothing else") {
  World world;
  DeclarationId accepted;
  accepted.number = 3;
  accepted.manifest = digest_of("m");
  world.append(DeclarationAccepted{accepted, {}, {}});
  StartPass start;
  start.started.declaration.manifest = digest_of("other");
  CHECK(world.try_run(start).error().code() == ErrorCode::refused);
  start.started.declaration = accepted;
  start.foreign_manifest = true;
  CHECK(world.try_run(start).error().code() == ErrorCode::refused);
  start.foreign_manifest = false;
  CHECK(world.try_run(start));
}

TEST_CASE("pass: one that observes announces, owns and refuses nothing") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  World::PassOptions observe;
  observe.mode = Mode::observe;
  world.start(manifest, observe);
  const auto plan = world.observe_and_plan(manifest, observe);
  AnnounceWave wave;
  wave.actions = {{0, ActionKind::create, path("/a"), Found::absent, {}}};
  CHECK(world.try_run(wave).error().code() == ErrorCode::refused);
  CHECK(world.try_run(RecordOwnership{plan, manifest.get(), {}}).error().code() ==
        ErrorCode::refused);
  CHECK(world.try_run(RecordRefusals{plan, {}}).error().code() == ErrorCode::refused);
}

TEST_CASE("pass: it neither finishes nor is interrupted while an action has no end") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, {0});
  CHECK(world.try_run(FinishPass{}).error().code() == ErrorCode::conflict);
  CHECK(world.try_run(InterruptPass{}).error().code() == ErrorCode::conflict);
  CHECK(world.try_run(CloseStore{}).error().code() == ErrorCode::conflict);
  CHECK(world.try_run(AnnounceWave{{}, {{0, ActionKind::create, path("/a"), Found::absent, {}}}})
            .error()
            .code() == ErrorCode::conflict);
}

TEST_CASE("pass: a large wave is announced in records below 48 KiB") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  AnnounceWave wave;
  const std::string long_name(3000, 'n');
  for (std::uint32_t i = 0; i < 100; ++i)
    wave.actions.push_back(
        {i, ActionKind::create, path("/" + long_name + std::to_string(i)), Found::absent, {}});
  const auto records = all_of_kind<ActionsAnnounced>(world.run(wave));
  CHECK(records.size() == 7);
  std::size_t count = 0;
  for (const auto& record : records) {
    count += record.actions.size();
    CHECK(record.actions.size() * long_name.size() < 48 * 1024);
    CHECK(record.wave == 1);
  }
  CHECK(count == 100);
  CHECK(world.state.pass->open.size() == 100);
  CHECK(world.state.pass->wave_size == 100);
}

TEST_CASE(
    "pass: the end tells what was done, and how long it took on the clock that counts suspend") {
  World world;
  const auto manifest = manifest_of({file("a", "/a"), file("b", "/missing/b")});
  world.start(manifest, {});
  world.advance(3);
  const auto plan = world.observe_and_plan(manifest, {});
  world.run(RecordRefusals{plan, {}});
  world.finish(*plan);
  const auto& finished = world.state.last_pass->finished;
  CHECK(finished.failed == 1);
  CHECK(finished.duration_ns == 3 * kNsPerSecond);
  CHECK(finished.planned.create == 2);
  CHECK((finished.flags & static_cast<std::uint32_t>(StatusFlag::failed)) != 0);
}

TEST_CASE("pass: what was not begun is recorded as such, in bounded records") {
  World world;
  world.start(manifest_of({file("a", "/a")}), {});
  RecordNotStarted not_started;
  for (std::uint32_t i = 0; i < 10'000; ++i) not_started.ordinals.push_back(i);
  not_started.reason = "the mode is observe now";
  const auto records = all_of_kind<ActionsNotStarted>(world.run(not_started));
  CHECK(records.size() == 2);
  CHECK(world.state.pass->not_started == 10'000);
  CHECK(world.try_run(not_started).error().code() == ErrorCode::conflict);
}

TEST_CASE("pass: two observations of one target are a conflict and change nothing") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  auto observations = world.observe(manifest);
  observations.push_back(observations.front());
  const auto before = world.state;
  CHECK(world.try_run(RecordObservations{observations}).error().code() == ErrorCode::conflict);
  CHECK(world.state == before);
}

TEST_CASE(
    "pass: records of a time that has not come hold nothing up once the clock is right [K03]") {
  World world;
  const auto manifest = manifest_of({file("a", "/a"), file("b", "/b")});
  const auto right = world.now;
  world.now.ns += 3650LL * 86'400 * kNsPerSecond;
  world.pass(manifest);
  world.now = right;
  world.advance(60);
  CHECK((world.status().flags & static_cast<std::uint32_t>(StatusFlag::stale)) == 0);
  world.machine.edit("/a", "by hand");
  const auto events = world.pass(manifest);
  CHECK(all_of_kind<ActionSucceeded>(events).size() == 1);
  CHECK(all_of_kind<PassFinished>(events).size() == 1);
  CHECK(world.status().condition == Condition::converged);
  // What was corrected ten years from now is no contest with what is corrected today.
  CHECK(all_of_kind<TargetContested>(events).empty());
}
