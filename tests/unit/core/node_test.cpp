// What a machine is to a mesh: enrolment, declarations by generation, the link.
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

const Actor kControlPlane{ActorKind::control_plane, "ops", 0, ""};

DeclarationId declaration(std::uint64_t epoch, std::uint64_t number) {
  DeclarationId id;
  id.mesh = id_of(9);
  id.node = "web-1";
  id.epoch = epoch;
  id.number = number;
  id.manifest.bytes[0] = static_cast<std::uint8_t>(number);
  return id;
}

ErrorCode code_of(World& world, const Command& command) {
  const auto done = world.try_run(command);
  REQUIRE_FALSE(done);
  return done.error().code();
}

void take(World& world, const DeclarationId& id) {
  world.run(ReceiveDeclaration{id});
  world.run(StoreDeclaration{id, {}});
  world.run(AcceptDeclaration{id, {}, kControlPlane});
}

}  // namespace

TEST_CASE("enrolment: a grant makes the machine enrolled in the same append, once") {
  World world;
  const RecordEnrolment grant{id_of(9), "prod", "web-1", "01ab", {5}, {"role=web"}, kControlPlane};
  const auto events = world.run(grant);
  REQUIRE(events.size() == 2);
  CHECK(std::get<EnrolmentGranted>(events[0]).node == "web-1");
  CHECK(std::get<LifecycleChanged>(events[1]).cause == "enrolled in prod as web-1");
  CHECK(world.state.lifecycle == NodeLifecycle::enrolled);
  CHECK(world.run(grant).size() == 1);
}

TEST_CASE("enrolment: what is told of it is bounded, and needs an open store") {
  World world;
  const auto refused = all_of_kind<EnrolmentRefused>(
      world.run(RefuseEnrolment{std::string(10'000, 'x'), "make another token"}));
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].reason.size() < 4096);
  CHECK(world.state.lifecycle != NodeLifecycle::enrolled);
  world.run(CloseStore{"stop"});
  CHECK(code_of(world, RequestEnrolment{"control:7600", "abcdefgh", {}, kControlPlane}) ==
        ErrorCode::conflict);
  CHECK(code_of(world, RecordKeyCreated{}) == ErrorCode::conflict);
}

TEST_CASE(
    "enrolment: a hold that came over the link ends with a new enrolment, one set here stays") {
  World world;
  world.run(SetHold{HoldOrigin::link, {}, "migration", kControlPlane});
  world.run(SetHold{HoldOrigin::local, {}, "by hand", kControlPlane});
  const auto events =
      world.run(RecordEnrolment{id_of(9), "prod", "web-1", "01ab", {5}, {}, kControlPlane});
  CHECK(all_of_kind<HoldLifted>(events).size() == 1);
  CHECK_FALSE(world.state.link_hold);
  CHECK(world.state.local_hold);
}

TEST_CASE(
    "declaration: another mesh counts for itself, and so does what is kept until a newer one") {
  World world;
  take(world, declaration(3, 7));
  auto other = declaration(1, 1);
  other.mesh = id_of(10);
  const auto target = path("/a");
  world.state.kept[target] = {8, {}, 0};
  take(world, other);
  CHECK(world.state.accepted == other);
  CHECK(world.state.kept.empty());
  CHECK(code_of(world, StoreDeclaration{other, {}}) == ErrorCode::refused);
}

TEST_CASE("declaration: received, stored and accepted are three steps, in that order only") {
  World world;
  const auto first = declaration(1, 1);
  CHECK(code_of(world, AcceptDeclaration{first, {}, kControlPlane}) == ErrorCode::conflict);
  world.run(ReceiveDeclaration{first});
  CHECK_FALSE(world.state.stored);
  CHECK(code_of(world, AcceptDeclaration{first, {}, kControlPlane}) == ErrorCode::conflict);
  world.run(StoreDeclaration{first, {}});
  CHECK(world.run(StoreDeclaration{first, {}}).empty());
  CHECK_FALSE(world.state.accepted);
  world.run(AcceptDeclaration{first, {}, kControlPlane});
  CHECK(world.state.accepted == first);
}

TEST_CASE("declaration: only a higher generation is taken, epoch before number") {
  World world;
  take(world, declaration(2, 5));
  for (const auto& old : {declaration(2, 5), declaration(2, 4), declaration(1, 9)}) {
    CHECK(code_of(world, ReceiveDeclaration{old}) == ErrorCode::refused);
    CHECK(code_of(world, StoreDeclaration{old, {}}) == ErrorCode::refused);
    CHECK(code_of(world, AcceptDeclaration{old, {}, kControlPlane}) == ErrorCode::refused);
  }
  take(world, declaration(2, 6));
  take(world, declaration(3, 1));
  CHECK(world.state.accepted == declaration(3, 1));
}

TEST_CASE("declaration: one that was stored and never accepted is told as superseded") {
  World world;
  world.run(StoreDeclaration{declaration(1, 1), {}});
  const auto superseded =
      all_of_kind<DeclarationSuperseded>(world.run(StoreDeclaration{declaration(1, 2), {}}));
  REQUIRE(superseded.size() == 1);
  CHECK(superseded[0] == DeclarationSuperseded{declaration(1, 1), declaration(1, 2)});
  CHECK(code_of(world, StoreDeclaration{declaration(1, 1), {}}) == ErrorCode::refused);
  CHECK(code_of(world, AcceptDeclaration{declaration(1, 1), {}, kControlPlane}) ==
        ErrorCode::refused);
}

TEST_CASE("declaration: the accepted one is told as superseded by the next, and not twice") {
  World world;
  take(world, declaration(1, 1));
  const auto stored = world.run(StoreDeclaration{declaration(1, 2), {}});
  CHECK(all_of_kind<DeclarationSuperseded>(stored).empty());
  const auto accepted = world.run(AcceptDeclaration{declaration(1, 2), {}, kControlPlane});
  CHECK(all_of_kind<DeclarationSuperseded>(accepted) ==
        std::vector<DeclarationSuperseded>{{declaration(1, 1), declaration(1, 2)}});
}

TEST_CASE("declaration: none is accepted while a pass runs") {
  World world;
  world.run(StoreDeclaration{declaration(1, 1), {}});
  world.start(manifest_of({file("motd", "/etc/motd")}), {});
  CHECK(code_of(world, AcceptDeclaration{declaration(1, 1), {}, kControlPlane}) ==
        ErrorCode::conflict);
  CHECK_FALSE(world.state.accepted);
}

TEST_CASE("declaration: one that waits keeps no pass of the accepted one from running [D04]") {
  World world;
  take(world, declaration(1, 1));
  world.run(ReceiveDeclaration{declaration(1, 2)});
  world.run(StoreDeclaration{declaration(1, 2), {}});
  StartPass start;
  start.started.declaration = declaration(1, 1);
  start.started.mode.mode = Mode::enforce;
  CHECK(all_of_kind<PassStarted>(world.run(start)).size() == 1);
  CHECK(world.state.pass->started.declaration == declaration(1, 1));
}

TEST_CASE("declaration: a rejection says why, bounded, and changes nothing") {
  World world;
  const auto before = world.state;
  const auto events = world.run(RejectDeclaration{declaration(1, 1), std::string(9000, 'y')});
  REQUIRE(events.size() == 1);
  CHECK(std::get<DeclarationRejected>(events[0]).reason.size() < 4096);
  CHECK(world.state.stored == before.stored);
  CHECK(world.state.accepted == before.accepted);
}

TEST_CASE("link: pairs that were not told are told as a number, and none of them as nothing") {
  World world;
  CHECK(world.run(RecordLinkUp{"control:7600"}).size() == 1);
  CHECK(world.run(RecordLinkDown{"the way broke"}).size() == 1);
  CHECK(world.run(RecordLinkPairs{0}).empty());
  CHECK(all_of_kind<LinkCoalesced>(world.run(RecordLinkPairs{12})) ==
        std::vector<LinkCoalesced>{{12}});
}
