// Orders: whom they are for, when they go, and what becomes of their answers.
#include "datum/control/orders.hpp"

#include "control_scene.hpp"

using namespace datum;
using namespace datum::control;
using test::ControlScene;
using test::Machine;
using test::person_named;

namespace {

State mesh_of(const std::vector<std::string>& names) {
  State state;
  state.mesh = "prod";
  for (const auto& name : names) {
    core::control::NodeEnrolled enrolled;
    enrolled.applicant.node = name;
    enrolled.applicant.fingerprint = crypto::sha256(as_bytes(name));
    enrolled.labels = {{"role", name.substr(0, 2)}, {"site", "lab"}};
    evolve(state, enrolled, {state.seq + 1, {}});
  }
  return state;
}

core::control::OrderIssued issued(const core::OrderBody& body) {
  core::control::OrderIssued event{body.node, body.kind, body.number, {}, person_named("ada")};
  event.order.body = codec::encode_order_body(body);
  return event;
}

// To these nodes, as the desk records it.
Events hold_events(const State& state, const std::vector<std::string>& nodes,
                   core::OrderKind kind = core::OrderKind::hold) {
  const auto bodies = make_orders(state, nodes, {kind, 0, "migration", "ada"}, WallNs{5});
  REQUIRE(bodies);
  Events events;
  for (const auto& body : *bodies) events.emplace_back(issued(body));
  return events;
}

core::OrderAnswer answer_to(std::uint64_t number, bool carried_out = true) {
  return {number, carried_out, 9, carried_out ? "" : "it is for another"};
}

}  // namespace

TEST_CASE("orders: nodes are chosen by name, by all of the labels, or all, in one way") {
  auto state = mesh_of({"db-1", "web-1", "web-2"});
  CHECK(*choose_nodes(state, {{"web-2", "db-1", "web-2"}, false, {}}) ==
        std::vector<std::string>{"db-1", "web-2"});
  CHECK(choose_nodes(state, {{}, true, {}})->size() == 3);
  CHECK(choose_nodes(state, {{}, false, {{"role", "we"}, {"site", "lab"}}})->size() == 2);
  CHECK(choose_nodes(state, {{}, false, {{"role", "we"}, {"site", "far"}}}).error().code() ==
        ErrorCode::not_found);
  CHECK(choose_nodes(state, {}).error().code() == ErrorCode::invalid_argument);
  CHECK(choose_nodes(state, {{"web-1"}, true, {}}).error().code() == ErrorCode::invalid_argument);
  CHECK(choose_nodes(state, {{"web-1", "web-9"}, false, {}}).error().code() ==
        ErrorCode::not_found);
  CHECK(choose_nodes(State{}, {{}, true, {}}).error().code() == ErrorCode::not_found);
  evolve(state, core::control::CredentialEnded{"web-1", Standing::revoked, "", {}}, {9, {}});
  CHECK(choose_nodes(state, {{"web-1"}, false, {}}).error().code() == ErrorCode::conflict);
  CHECK(choose_nodes(state, {{}, true, {}})->size() == 2);
}

TEST_CASE("orders: every restore of a backup begins an epoch and order numbers of its own") {
  const auto restored = [](const State& backup, std::int64_t seconds) {
    const auto events = restore_plane(backup, person_named("ada"), {seconds * kNsPerSecond + 7});
    REQUIRE(events.size() == 1);
    return std::get<core::control::PlaneRestored>(events.front());
  };
  constexpr std::int64_t kNow = 1'800'000'000;
  State backup;
  backup.last = {1, 9};
  backup.last_order = 30;
  const auto first = restored(backup, kNow);
  CHECK(first.last == core::Generation{1, 9});
  CHECK(first.epoch == 1'800'000'000);
  CHECK(first.order == 1'800'000'000'000);
  const auto second = restored(backup, kNow + 1);
  CHECK(second.epoch > first.epoch);
  CHECK(second.order >= first.order + 1'000);
  // A clock that stands before the backup, or before 1970.
  for (const auto seconds : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-5}}) {
    CHECK(restored(backup, seconds).epoch == 2);
    CHECK(restored(backup, seconds).order == 1'000'030);
    CHECK(restored(State{}, seconds).epoch == 2);
  }
  auto again = backup;
  evolve(again, second, {1, {}});
  CHECK(restored(again, kNow).epoch == second.epoch + 1);
  CHECK(restored(again, kNow).order == second.order + 1'000'000);
}

TEST_CASE("orders: what a node has of one restore is newer to the next, not known to it") {
  auto state = mesh_of({"web-1"});
  state.last = {1, 3};
  const auto restore = [&](std::int64_t seconds) {
    auto plane = state;
    for (const auto& event : restore_plane(plane, person_named("ada"), {seconds * kNsPerSecond}))
      evolve(plane, event, {9, {}});
    return plane;
  };
  const core::Generation of_first{restore(1'800'000'000).last.epoch, 1};
  CHECK_FALSE(check_newer(restore(1'800'000'000), "web-1", of_first).is_refused);
  CHECK(check_newer(restore(1'800'000'060), "web-1", of_first).is_refused);
}

TEST_CASE("orders: each has a number of its own above all before, and a duration that ends") {
  auto state = mesh_of({"web-1", "web-2", "web-3"});
  for (const auto& event : hold_events(state, {"web-1", "web-2"}))
    evolve(state, event, {state.seq + 1, {}});
  CHECK(state.last_order == 2);
  const auto bodies = make_orders(state, {"web-3"}, {core::OrderKind::hold, 7, "r", "ada"}, {});
  REQUIRE(bodies);
  CHECK(bodies->front().number == 3);
  CHECK(bodies->front().until == WallNs{7});
  const auto refused = [&](std::int64_t for_ns, std::size_t reason) {
    const OrderWish wish{core::OrderKind::hold, for_ns, std::string(reason, 'r'), "ada"};
    return !make_orders(state, {"web-1"}, wish, {});
  };
  CHECK(refused(-1, 1));
  CHECK(refused(kMaxHoldNs + 1, 1));
  CHECK(refused(0, kMaxOrderReason + 1));
  CHECK_FALSE(refused(kMaxHoldNs, kMaxOrderReason));
}

TEST_CASE("orders: a lift is for those that are held from here") {
  auto state = mesh_of({"web-1", "web-2"});
  CHECK(held_among(state, {"web-1", "web-2"}).error().code() == ErrorCode::conflict);
  evolve(state, hold_events(state, {"web-2"}).front(), {9, {}});
  CHECK(*held_among(state, {"web-1", "web-2"}) == std::vector<std::string>{"web-2"});
  evolve(state, hold_events(state, {"web-2"}, core::OrderKind::lift).front(), {10, {}});
  CHECK_FALSE(held_among(state, {"web-2"}));
}

TEST_CASE("orders: an answer counts once, for the newest order, and a refusal is kept in words") {
  auto state = mesh_of({"web-1"});
  CHECK(take_order_answer(state, "web-1", answer_to(1)).empty());
  for (int i = 0; i < 2; ++i)
    evolve(state, hold_events(state, {"web-1"}).front(), {state.seq + 1, {}});
  CHECK(take_order_answer(state, "web-9", answer_to(2)).empty());
  CHECK(take_order_answer(state, "web-1", answer_to(1)).empty());
  CHECK(take_order_answer(state, "web-1", answer_to(3)).empty());
  auto refusal = answer_to(2, false);
  refusal.reason.assign(5'000, 'x');
  const auto taken = take_order_answer(state, "web-1", refusal);
  REQUIRE(taken.size() == 1);
  evolve(state, taken.front(), {state.seq + 1, {}});
  CHECK(state.nodes.at("web-1").order->answer->reason.size() == kMaxOrderReason);
  CHECK(unanswered_order(state.nodes.at("web-1")) == nullptr);
  CHECK(take_order_answer(state, "web-1", answer_to(2)).empty());
}

TEST_CASE(
    "orders: a hold takes nothing from one that ends later, and a lift makes it short again") {
  auto state = mesh_of({"web-1"});
  const auto hold = [&state](std::int64_t for_ns, std::int64_t now) {
    const auto bodies =
        make_orders(state, {"web-1"}, {core::OrderKind::hold, for_ns, "", "ada"}, WallNs{now});
    REQUIRE(bodies);
    evolve(state, issued(bodies->front()), {state.seq + 1, {}});
    return bodies->front().until.ns;
  };
  CHECK(hold(100, 1'000) == 1'100);
  CHECK(hold(50, 1'000) == 1'100);
  CHECK(hold(200, 1'000) == 1'200);
  CHECK(hold(100, 5'000) == 5'100);  // that one had ended
  CHECK(hold(0, 5'000) == 0);
  CHECK(hold(10, 5'000) == 0);
  evolve(state, hold_events(state, {"web-1"}, core::OrderKind::lift).front(), {state.seq + 1, {}});
  CHECK(hold(10, 6'000) == 6'010);
}

TEST_CASE("orders: one that is issued goes out, ahead of a declaration, and again until answered") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  scene.append(hold_events(scene.state(), {"web-1"}));
  core::control::DeclarationReleased released;
  released.node = "web-1";
  released.generation = {1, 1};
  scene.append(Events{released});
  for (int life = 0; life < 2; ++life) {
    machine.greet();
    REQUIRE(machine.count<core::Welcome>() == 1);
    REQUIRE(machine.messages.size() == 3);
    CHECK(std::get<core::Welcome>(machine.messages[0]).order == 1);
    REQUIRE(std::holds_alternative<core::PushedOrder>(machine.messages[1]));
    CHECK(std::holds_alternative<core::PushedDeclaration>(machine.messages[2]));
    scene.crash_and_begin();
  }
  machine.greet();
  for (int beat = 0; beat < 5; ++beat) machine.send(core::Heartbeat{});
  CHECK(machine.count<core::PushedOrder>() == 2);  // it could not record the first
  const auto body = codec::decode_order_body(machine.last<core::PushedOrder>()->order.body);
  REQUIRE(body);
  CHECK(body->reason == "migration");
  const auto before = scene.state().seq;
  machine.send(answer_to(1));
  machine.send(answer_to(1));
  CHECK(scene.state().seq == before + 1);
  for (int beat = 0; beat < 12; ++beat) machine.send(core::Heartbeat{});
  CHECK(machine.count<core::PushedOrder>() == 2);
  machine.greet();
  CHECK(machine.count<core::PushedOrder>() == 0);
  CHECK(std::get<core::Welcome>(machine.messages[0]).order == 0);
}

TEST_CASE("orders: a newer order takes the place of one that nobody took") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  scene.append(hold_events(scene.state(), {"web-1"}));
  scene.append(hold_events(scene.state(), {"web-1"}, core::OrderKind::lift));
  machine.greet();
  REQUIRE(machine.count<core::PushedOrder>() == 1);
  machine.send(answer_to(1));
  CHECK_FALSE(scene.state().nodes.at("web-1").order->answer);
  scene.server->send_order("web-1");
  scene.run();
  CHECK(machine.count<core::PushedOrder>() == 1);
}
