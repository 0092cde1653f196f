// The store's own life, holds, recovery after a death, quarantine.
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

// A pass that died while these actions were running.
std::shared_ptr<const Plan> die_in_wave(World& world, const model::ManifestPtr& manifest,
                                        const std::vector<std::uint32_t>& wave) {
  world.start(manifest, {});
  auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, wave);
  return plan;
}

LastEnd reopen(World& world, const Id128& boot, const std::string& version = "1.0") {
  world.boot = boot;
  return all_of_kind<StoreOpened>(world.run(OpenStore{boot, version, "/", "h"})).front().last_end;
}

}  // namespace

TEST_CASE("store: opening tells how the last run ended") {
  World world;
  CHECK(all_of_kind<StoreOpened>({world.journal[1].event}).front().last_end == LastEnd::created);
  CHECK(reopen(world, world.boot) == LastEnd::crashed);
  CHECK(reopen(world, id_of(8)) == LastEnd::rebooted);
  world.run(CloseStore{"done"});
  CHECK(reopen(world, id_of(9)) == LastEnd::clean);
}

TEST_CASE("store: it is created once and opens for one root and one host only") {
  World world;
  CHECK(world.try_run(CreateStore{id_of(2), "/", "h", "", ""}).error().code() ==
        ErrorCode::conflict);
  CHECK(world.try_run(OpenStore{world.boot, "1.0", "/mnt", "h"}).error().code() ==
        ErrorCode::refused);
  CHECK(world.try_run(OpenStore{world.boot, "1.0", "/", "other"}).error().code() ==
        ErrorCode::refused);
}

TEST_CASE("store: a required reboot is seen with the first opening in another boot") {
  World world;
  world.append(RebootRequired{"Package[kernel]"});
  CHECK(all_of_kind<RebootSeen>(world.run(OpenStore{world.boot, "1.0", "/", "h"})).empty());
  CHECK(flags_in(world.status().flags) == std::vector{StatusFlag::awaiting_reboot});
  CHECK(all_of_kind<RebootSeen>(world.run(OpenStore{id_of(8), "1.0", "/", "h"})).size() == 1);
  CHECK(world.state.reboot_required_by.empty());
}

TEST_CASE("store: one that begins after a damaged one says so with its first records [L04]") {
  const CreateStore create{
      id_of(3), "/", "h", "local", "1.0", {{"/s/damaged-1", "page 7"}, {"/s/damaged-2", "no end"}}};
  const auto events = decide(State{}, create);
  REQUIRE(events);
  REQUIRE(events->size() == 3);
  CHECK(std::holds_alternative<StoreCreated>(events->front()));
  CHECK(all_of_kind<CorruptDetected>(*events) ==
        std::vector<CorruptDetected>{{"/s/damaged-1", "page 7"}, {"/s/damaged-2", "no end"}});
}

TEST_CASE("store: records may go only below a checkpoint and while no pass runs") {
  World world;
  world.pass(manifest_of({file("motd", "/etc/motd")}));
  const Seq head = world.state.seq;
  const RecordArchive archive{1, head - 1, "f", digest_of("head"), head, digest_of("state")};
  const auto events = world.run(archive);
  CHECK(all_of_kind<CheckpointTaken>(events) ==
        std::vector<CheckpointTaken>{{head, digest_of("state")}});
  CHECK(all_of_kind<RecordsArchived>(events) ==
        std::vector<RecordsArchived>{{1, head - 1, "f", digest_of("head")}});
  CHECK_FALSE(world.try_run(RecordArchive{0, 1, "f", {}, head, {}}));
  CHECK_FALSE(world.try_run(RecordArchive{2, 1, "f", {}, head, {}}));
  CHECK_FALSE(world.try_run(RecordArchive{1, head + 1, "f", {}, head, {}}));
  CHECK_FALSE(world.try_run(RecordArchive{1, 2, "f", {}, head + 99, {}}));
  world.start(manifest_of({file("motd", "/etc/motd")}), {});
  CHECK(world.try_run(RecordArchive{1, 2, "f", {}, head, {}}).error().code() ==
        ErrorCode::conflict);
}

TEST_CASE("store: what could not be kept is told once it can be again") {
  World world;
  const auto events = world.run(RecordUnwritable{"the disk failed", 5, 17});
  CHECK(all_of_kind<StoreUnwritable>(events) ==
        std::vector<StoreUnwritable>{{"the disk failed", 5}});
  CHECK(all_of_kind<StoreWritableAgain>(events) == std::vector<StoreWritableAgain>{{17}});
}

TEST_CASE(
    "hold: local and link holds do not touch each other, and one that stands is not repeated") {
  World world;
  const SetHold local{HoldOrigin::local, {}, "migration", {}};
  CHECK(world.run(local).size() == 1);
  CHECK(world.run(local).empty());
  world.run(SetHold{HoldOrigin::link, WallNs{world.now.ns + 10 * kNsPerSecond}, "rollout", {}});
  world.run(LiftHold{HoldOrigin::link, {}});
  CHECK(world.state.local_hold);
  CHECK_FALSE(world.state.link_hold);
  CHECK(world.try_run(LiftHold{HoldOrigin::link, {}}).error().code() == ErrorCode::refused);
  CHECK(flags_in(world.status().flags) == std::vector{StatusFlag::held});
}

TEST_CASE("hold: one with a time ends by itself") {
  World world;
  world.run(SetHold{HoldOrigin::link, WallNs{world.now.ns + 10 * kNsPerSecond}, "rollout", {}});
  CHECK(flags_in(world.status().flags) == std::vector{StatusFlag::held});
  world.advance(10);
  CHECK(flags_in(world.status().flags).empty());
}

TEST_CASE(
    "store: [K03] a clock that was set back is recorded, and what was stored in the future holds "
    "up nothing") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.now.ns += 365 * 86'400 * kNsPerSecond;
  world.pass(manifest);
  world.run(CloseStore{"end"});
  const auto future = world.now;
  world.now.ns -= 365 * 86'400 * kNsPerSecond;
  const auto opened = world.run(OpenStore{world.boot, "1.0", "/", "h", world.now});
  REQUIRE(all_of_kind<ClockJumped>(opened).size() == 1);
  CHECK(all_of_kind<ClockJumped>(opened)[0].before == future);
  CHECK(all_of_kind<ClockJumped>(opened)[0].after == world.now);
  world.machine.edit("/a", "by hand");
  CHECK(all_of_kind<ActionSucceeded>(world.pass(manifest)).size() == 1);
  CHECK(world.status().condition == Condition::converged);
  world.run(CloseStore{"end"});
  CHECK(all_of_kind<ClockJumped>(world.run(OpenStore{world.boot, "1.0", "/", "h", world.now}))
            .empty());
}

TEST_CASE("store: a clock that was corrected by a little, or of which nobody tells, did not jump") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  const WallNs earlier{world.now.ns - kClockSlackNs};
  for (const auto now : {earlier, WallNs{}}) {
    world.run(CloseStore{"end"});
    CHECK(all_of_kind<ClockJumped>(world.run(OpenStore{world.boot, "1.0", "/", "h", now})).empty());
  }
}

TEST_CASE("judgement: only what is declared or owned is acknowledged or kept") {
  World world;
  CHECK(world.try_run(Acknowledge{path("/a"), {}, "known", {}}).error().code() ==
        ErrorCode::refused);
  CHECK(world.try_run(KeepTarget{path("/a"), 4}).error().code() == ErrorCode::refused);
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(world.try_run(Acknowledge{path("/a"), {}, "known", {}}));
  CHECK(world.try_run(KeepTarget{path("/a"), 4}));
}

TEST_CASE("judgement: an acknowledgement is lifted by hand, once, and its reason is bounded") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(world.try_run(LiftAcknowledgement{path("/a"), {}, {}}).error().code() ==
        ErrorCode::refused);
  world.run(Acknowledge{path("/a"), {}, std::string(10'000, 'x'), {}});
  CHECK(world.state.acknowledged.at(path("/a")).reason.size() < 4096);
  CHECK(standing_acknowledgements(world.state, world.now).size() == 1);
  world.run(LiftAcknowledgement{path("/a"), {}, "mended"});
  CHECK(world.state.acknowledged.empty());
  CHECK_FALSE(world.try_run(LiftAcknowledgement{path("/a"), {}, {}}));
}

TEST_CASE("judgement: a kept target is let go by the generation it waits for, or by hand") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  world.run(KeepTarget{path("/a"), 4});
  DeclarationId declaration;
  declaration.number = 3;
  world.append(DeclarationAccepted{declaration, {}, {}});
  CHECK(world.state.kept.size() == 1);
  declaration.number = 4;
  world.append(DeclarationAccepted{declaration, {}, {}});
  CHECK(world.state.kept.empty());
  world.run(KeepTarget{path("/a"), 9});
  world.run(KeepTarget{path("/a"), 0});
  CHECK(world.state.kept.empty());
  CHECK(world.try_run(KeepTarget{path("/a"), 0}).error().code() == ErrorCode::refused);
}

TEST_CASE("recovery: what took effect is owned, and what did not is planned afresh") {
  World world;
  const auto manifest = manifest_of({file("a", "/a"), file("b", "/b")});
  const auto plan = die_in_wave(world, manifest, {0, 1});
  world.machine.put("/a", Found::file, "x");
  const auto* object = world.machine.find("/a");
  reopen(world, world.boot);
  RecordRecovery recovery;
  recovery.manifest = manifest.get();
  const Left left{Found::file, 1, object->inode, digest_of("x")};
  recovery.actions = {{0, RecoveredOutcome::took_effect, left}, {1, RecoveredOutcome::did_not, {}}};
  world.run(recovery);
  CHECK(world.state.owned.at(path("/a")).created);
  CHECK(world.state.owned.at(path("/a")).left == left);
  CHECK(world.state.pass->phases[0] == Phase::succeeded);
  CHECK(world.state.pass->phases[1] == Phase::waiting);
  world.run(InterruptPass{Interruption::reboot, ""});
  CHECK(world.state.interrupted->cause == Interruption::crash);  // the same boot
  CHECK(world.status().condition == Condition::drifted);
  world.pass(manifest);
  CHECK(world.status().condition == Condition::converged);
}

TEST_CASE("recovery: what cannot be told is not owned, and failed until it is tried again [R10]") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  die_in_wave(world, manifest, {0});
  world.machine.put("/a", Found::file, "x");
  reopen(world, world.boot);
  RecordRecovery recovery;
  recovery.manifest = manifest.get();
  recovery.actions = {{0, RecoveredOutcome::untellable, {}}};
  world.run(recovery);
  CHECK(world.state.owned.empty());
  CHECK(world.state.pass->phases[0] == Phase::failed);
}

TEST_CASE("recovery: a pass that ended with its boot is a reboot") {
  World world;
  die_in_wave(world, manifest_of({file("a", "/a")}), {0});
  reopen(world, id_of(8));
  world.run(RecordRecovery{{{0, RecoveredOutcome::did_not, {}}}, nullptr});
  world.run(InterruptPass{Interruption::crash, ""});
  CHECK(world.state.interrupted->cause == Interruption::reboot);
}

TEST_CASE(
    "recovery: what cannot be told is told to whom it may concern, what did not happen is not") {
  for (const auto outcome : {RecoveredOutcome::untellable, RecoveredOutcome::did_not}) {
    World world;
    const auto [manifest, plan] = announce_told_file(world);
    const auto events = world.run(RecordRecovery{{{0, outcome, {}, false}}, manifest.get()});
    CHECK(all_of_kind<NotificationRaised>(events).size() ==
          (outcome == RecoveredOutcome::untellable ? 1 : 0));
  }
}

TEST_CASE("recovery: without the manifest of the dead pass its plan says who is to be told") {
  for (const auto outcome :
       {RecoveredOutcome::took_effect, RecoveredOutcome::untellable, RecoveredOutcome::did_not}) {
    World world;
    const auto told = announce_told_file(world);
    RecordRecovery recovery{{{0, outcome, {}, false}}};
    recovery.plan = told.plan.get();
    const auto raised = all_of_kind<NotificationRaised>(world.run(recovery));
    REQUIRE(raised.size() == (outcome == RecoveredOutcome::did_not ? 0 : 1));
    if (raised.empty()) continue;
    CHECK(raised.front().unit == model::Target{model::TargetFamily::unit, "web.service"});
    CHECK(raised.front().by == ref("File[a]"));
    CHECK_FALSE(raised.front().restart);
  }
}

TEST_CASE("recovery: a job that goes on without the process is told as adopted") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  CHECK(world.try_run(RecordToolAdopted{0, "web.service"}).error().code() == ErrorCode::conflict);
  world.announce(*plan, {0});
  const auto events = world.run(RecordToolAdopted{0, "web.service"});
  REQUIRE(all_of_kind<ActionToolAdopted>(events).size() == 1);
  CHECK(world.state.pass->open.contains(0));  // it has no end yet
}

TEST_CASE("recovery: the notification of what took effect is raised and not lost") {
  World world;
  auto unit = service("web");
  unit.restart_on = {ref("File[a]")};
  const auto manifest = manifest_of({unit, file("a", "/a")});
  world.machine.put({model::TargetFamily::unit, "web.service"}, Found::present, "running");
  const auto plan = die_in_wave(world, manifest, {0});
  REQUIRE(plan->actions[0].target == path("/a"));
  reopen(world, world.boot);
  world.run(RecordRecovery{{{0, RecoveredOutcome::took_effect, {}}}, manifest.get()});
  CHECK(world.state.pending.size() == 1);
}

TEST_CASE("recovery: without the manifest the state still knows the owner's name") {
  World world;
  die_in_wave(world, manifest_of({file("a", "/a")}), {0});
  reopen(world, world.boot);
  world.run(RecordRecovery{{{0, RecoveredOutcome::took_effect, {}}}, nullptr});
  CHECK(world.state.owned.at(path("/a")).reference == ref("File[a]"));
}

TEST_CASE("recovery: an action that has no announcement is a conflict") {
  World world;
  die_in_wave(world, manifest_of({file("a", "/a")}), {0});
  CHECK(
      world.try_run(RecordRecovery{{{7, RecoveredOutcome::did_not, {}}}, nullptr}).error().code() ==
      ErrorCode::conflict);
}

TEST_CASE("quarantine: the third death in a wave of one, and only there, quarantines") {
  World world;
  const auto manifest = manifest_of({file("a", "/a"), file("b", "/b")});
  const auto die = [&](const std::vector<std::uint32_t>& wave) {
    die_in_wave(world, manifest, wave);
    reopen(world, world.boot);
    RecordRecovery recovery;
    for (const auto ordinal : wave)
      recovery.actions.push_back({ordinal, RecoveredOutcome::did_not, {}});
    world.run(recovery);
    world.run(InterruptPass{});
  };
  for (int i = 0; i < 4; ++i) die({0, 1});
  CHECK(world.state.quarantined.empty());
  CHECK_FALSE(world.plan(manifest).actions[0].repeatable);  // run alone from now on
  die({0});
  die({0});
  CHECK(world.state.quarantined.empty());
  die({0, 1});  // in company it may be innocent, whatever it did before
  CHECK(world.state.quarantined.empty());
  die({0});
  REQUIRE(world.state.quarantined.contains(path("/a")));
  CHECK(find_action(world.plan(manifest), path("/a"))->refusal.find("quarantined") == 0);
  CHECK(find_action(world.plan(manifest), path("/b"))->refusal.empty());
  world.run(LiftQuarantine{path("/a")});
  CHECK(find_action(world.plan(manifest), path("/a"))->refusal.empty());
  CHECK_FALSE(find_action(world.plan(manifest), path("/a"))->repeatable);  // another chance, alone
  die({0});
  die({0});
  CHECK(world.state.quarantined.empty());  // the deaths before it do not count any more
  die({0});
  CHECK(world.state.quarantined.contains(path("/a")));
}

TEST_CASE("quarantine: another version of the host or a newer declaration lifts it") {
  World world;
  const ActionQuarantined quarantined{1, 0, path("/a"), 3};
  world.append(quarantined);
  reopen(world, world.boot);
  CHECK(world.state.quarantined.size() == 1);
  reopen(world, world.boot, "1.1");
  CHECK(world.state.quarantined.empty());
  world.append(quarantined);
  world.append(DeclarationAccepted{});
  CHECK(world.state.quarantined.empty());
}

TEST_CASE("quarantine: a newer local declaration lifts it, and only once it is enforced") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  for (int i = 0; i < 3; ++i) {
    die_in_wave(world, manifest, {0});
    reopen(world, world.boot);
    world.run(RecordRecovery{{{0, RecoveredOutcome::did_not, {}}}, nullptr});
    world.run(InterruptPass{});
  }
  REQUIRE(world.state.quarantined.contains(path("/a")));
  World::PassOptions observe;
  observe.mode = Mode::observe;
  world.pass(manifest);  // the same one
  CHECK(world.state.quarantined.contains(path("/a")));
  auto changed = *manifest_of({file("a", "/a", "y")});
  changed.digest = digest_of("newer");
  const auto newer = std::make_shared<const model::Manifest>(std::move(changed));
  world.pass(newer, observe);
  CHECK(world.state.quarantined.contains(path("/a")));
  world.pass(newer);
  CHECK(world.state.quarantined.empty());
  CHECK(world.state.suspects.empty());
  CHECK(world.machine.find("/a"));
}

TEST_CASE("recovery: a failed action whose file lies about is remembered until that is gone") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  World::PassOptions options;
  world.start(manifest, options);
  const auto plan = world.observe_and_plan(manifest, options);
  world.announce(*plan, {0});
  ActionResult failed;
  failed.ordinal = 0;
  failed.error = Error(ErrorCode::io_error, "not durable");
  failed.temporary_left = true;
  world.run(RecordResults{plan, manifest.get(), {failed}, world.now});
  const auto pass = world.state.pass->id;
  CHECK(world.state.pass->phases.at(0) == Phase::failed);
  CHECK(world.state.suspects.empty());  // it did not die
  const std::vector<Leftover> left{{pass, 0, path("/a")}};
  CHECK(world.state.leftovers == left);
  world.finish(*plan);
  world.run(RecordCleaned{left});
  CHECK(world.state.leftovers.empty());
}

TEST_CASE(
    "store: a package or account that was begun where nothing was is Datum's, unfinished too") {
  for (const auto outcome : {RecoveredOutcome::did_not, RecoveredOutcome::untellable}) {
    World world;
    const model::Target target{model::TargetFamily::package, "p"};
    const auto manifest = manifest_of({package("p")});
    world.start(manifest, {});
    const auto plan = world.observe_and_plan(manifest, {});
    world.announce(*plan, {0});
    const Left left{Found::present, 0, 0, digest_of("half")};
    RecoveredAction seen{0, outcome, left, false};
    seen.begun = true;
    world.run(RecordRecovery{{seen}, manifest.get()});
    REQUIRE(world.state.owned.contains(target));
    CHECK(world.state.owned.at(target).created);
    CHECK(world.state.owned.at(target).left == left);
  }
}

TEST_CASE("store: a file that lies there after a death without its end told is not claimed") {
  World world;
  const auto manifest = manifest_of({file("a", "/a")});
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, {0});
  const Left left{Found::file, 1, 5, digest_of("anybody's")};
  world.run(RecordRecovery{{{0, RecoveredOutcome::untellable, left, false}}, manifest.get()});
  CHECK(world.state.owned.empty());
}
