// Orders: who may give which, and that each is carried out once.
#include <catch2/catch.hpp>

#include "datum/engine/order_taker.hpp"
#include "mesh_scene.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

const test::Mesh& ordering_mesh() {
  static const test::Mesh mesh;
  return mesh;
}

std::shared_ptr<const NodeIdentity> ordered_node() {
  static const auto key = crypto::PrivateKey::generate();
  static const auto grant = ordering_mesh().grant_for(key->public_key());
  return std::make_shared<const NodeIdentity>(*check_grant(grant, key->public_key()));
}

core::OrderBody order(core::OrderKind kind, std::uint64_t number) {
  core::OrderBody body;
  body.mesh = "prod";
  body.node = "web-1";
  body.number = number;
  body.kind = kind;
  body.reason = "migration";
  body.by = "alice";
  return body;
}

core::Signed unsigned_order(const core::OrderBody& body) {
  core::Signed made;
  made.body = codec::encode_order_body(body);
  return made;
}

core::Signed signed_order(const core::OrderBody& body,
                          crypto::SignedAs purpose = crypto::SignedAs::order) {
  auto made = unsigned_order(body);
  made.signer = ordering_mesh().signer_key.public_key().fingerprint();
  const auto signature = ordering_mesh().signer_key.sign(purpose, made.body).bytes;
  made.signature.assign(signature.begin(), signature.end());
  return made;
}

Result<CarriedOut> give(test::NodeLife& life, const core::Signed& given) {
  auto task = carry_out(life.sim_loop, *life.files, life.store, ordered_node(), given);
  life.sim_loop.post([&task] { task.start(); });
  life.settle();
  REQUIRE(task.done());
  return task.take();
}

}  // namespace

TEST_CASE("order: what only weakens needs no signature, what allows again does, for its purpose") {
  const auto node = ordered_node();
  const auto& identity = *node;
  using core::OrderKind;
  for (const auto kind : {OrderKind::hold, OrderKind::revoke}) {
    CHECK(verify_order(unsigned_order(order(kind, 1)), identity));
    auto wrong = signed_order(order(kind, 1));
    wrong.signature[0] ^= std::byte{1};
    CHECK_FALSE(verify_order(wrong, identity));
  }
  for (const auto kind : {OrderKind::lift, OrderKind::retire}) {
    CHECK_FALSE(verify_order(unsigned_order(order(kind, 1)), identity));
    CHECK(verify_order(signed_order(order(kind, 1)), identity));
    CHECK_FALSE(
        verify_order(signed_order(order(kind, 1), crypto::SignedAs::declaration), identity));
  }
  auto other = order(OrderKind::hold, 1);
  other.node = "web-2";
  CHECK_FALSE(verify_order(unsigned_order(other), identity));
  other.node.clear();
  CHECK(verify_order(unsigned_order(other), identity));
  other.mesh = "test";
  CHECK_FALSE(verify_order(unsigned_order(other), identity));
  CHECK_FALSE(verify_order(unsigned_order(order(OrderKind::hold, 0)), identity));
}

TEST_CASE("order: a hold of the link and a local one do not touch each other") {
  support::ScratchFolder scratch("order");
  test::NodeLife life(scratch.path + "/store");
  const core::Actor person{core::ActorKind::person, "root", 0, "datum hold"};
  REQUIRE(
      life.store.history->execute(core::SetHold{core::HoldOrigin::local, {}, "by hand", person}));
  auto hold = order(core::OrderKind::hold, 1);
  hold.until = WallNs{2'000'000'000 * kNsPerSecond};
  REQUIRE(give(life, unsigned_order(hold)));
  REQUIRE(life.state().link_hold);
  CHECK(life.state().link_hold->reason == "migration");
  CHECK(life.state().link_hold->until == hold.until);
  CHECK(life.state().link_hold->actor.kind == core::ActorKind::control_plane);
  REQUIRE(give(life, signed_order(order(core::OrderKind::lift, 2))));
  CHECK_FALSE(life.state().link_hold);
  REQUIRE(life.state().local_hold);
  CHECK(life.state().local_hold->reason == "by hand");
}

TEST_CASE("order: an old one given again is not carried out, by this process or the next") {
  support::ScratchFolder scratch("order");
  const auto folder = scratch.path + "/store";
  const auto lift = signed_order(order(core::OrderKind::lift, 4));
  {
    test::NodeLife life(folder);
    REQUIRE(give(life, unsigned_order(order(core::OrderKind::hold, 3))));
    REQUIRE(give(life, lift));
    REQUIRE(give(life, unsigned_order(order(core::OrderKind::hold, 5))));
    CHECK_FALSE(give(life, lift));
    CHECK(life.state().link_hold);
    life.sim_loop.kill();
  }
  test::NodeLife next(folder, 2);
  const auto again = give(next, lift);
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == ErrorCode::refused);
  CHECK(next.state().link_hold);
  CHECK(*read_order_number(*next.files, folder) == 5);
}

TEST_CASE("order: one that a death came upon is carried out when it is given again") {
  const auto hold = unsigned_order(order(core::OrderKind::hold, 3));
  int undone = 0;
  for (int steps = 1; steps < 40; ++steps) {
    INFO("dies after " << steps);
    support::ScratchFolder scratch("order");
    const auto folder = scratch.path + "/store";
    {
      test::NodeLife life(folder);
      auto task = carry_out(life.sim_loop, *life.files, life.store, ordered_node(), hold);
      life.sim_loop.post([&task] { task.start(); });
      for (int step = 0; step < steps && life.sim_loop.step(); ++step) continue;
      life.sim_loop.kill();
    }
    test::NodeLife next(folder, 2);
    undone += next.state().link_hold ? 0 : 1;
    const auto again = give(next, hold);
    if (!again) CHECK(again.error().code() == ErrorCode::refused);
    CHECK(next.state().link_hold);
  }
  CHECK(undone > 0);
}

TEST_CASE("order: revoked is told, and one of a kind that is not carried out keeps no number") {
  support::ScratchFolder scratch("order");
  test::NodeLife life(scratch.path + "/store");
  const auto retire = give(life, signed_order(order(core::OrderKind::retire, 9)));
  REQUIRE_FALSE(retire);
  CHECK(retire.error().code() == ErrorCode::unsupported);
  REQUIRE(give(life, unsigned_order(order(core::OrderKind::revoke, 1))));
  CHECK(life.state().lifecycle == core::NodeLifecycle::disconnected);
}

TEST_CASE("order: the last one given again is answered as done and changes nothing") {
  support::ScratchFolder scratch("order");
  test::NodeLife life(scratch.path + "/store");
  const auto hold = unsigned_order(order(core::OrderKind::hold, 3));
  const auto first = give(life, hold);
  REQUIRE(first);
  CHECK(first->at == life.state().seq);
  const auto again = give(life, hold);
  REQUIRE(again);
  CHECK(again->at == 0);
  CHECK(again->body.number == 3);
  CHECK(life.state().seq == first->at);
}

TEST_CASE("order: a lift where no hold of the link stands is done, and its number kept") {
  support::ScratchFolder scratch("order");
  const auto folder = scratch.path + "/store";
  test::NodeLife life(folder);
  const auto before = life.state().seq;
  REQUIRE(give(life, signed_order(order(core::OrderKind::lift, 2))));
  CHECK(life.state().seq == before);
  CHECK(*read_order_number(*life.files, folder) == 2);
  CHECK_FALSE(give(life, unsigned_order(order(core::OrderKind::hold, 1))));
  CHECK_FALSE(life.state().link_hold);
}
