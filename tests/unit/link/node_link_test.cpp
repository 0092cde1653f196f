// A node's end of the link over a simulated network: it comes up, says what it has to say, notices
// what is dead, and comes back.
#include "datum/link/node_link.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "datum/link/backoff.hpp"
#include "datum/link/journal_feed.hpp"
#include "datum/link/trust.hpp"
#include "scripted_control.hpp"
#include "support/sim_network.hpp"

using namespace datum;
using namespace datum::link;

namespace {

const test::MeshScene& link_mesh() {
  static const test::MeshScene scene;
  return scene;
}

constexpr std::uint32_t kRecordsInPart = 10;

struct FakeNode final : NodeSide {
  explicit FakeNode(loop::Loop& its_loop) : loop(its_loop) {}
  void hello(std::function<void(core::Hello)> done) override {
    core::Hello hello;
    hello.last = durable;
    hello.host_version = "test";
    loop.post([hello, done = std::move(done)] { done(hello); });
  }
  std::optional<core::Heartbeat> heartbeat() override {
    if (!is_settled) return std::nullopt;
    core::Heartbeat heartbeat;
    heartbeat.last = durable;
    return heartbeat;
  }
  void read_journal(Seq from, std::function<void(Part)> done) override {
    ++reads;
    loop.post([this, from, done = std::move(done)] {
      if (from > durable) return done(Part(std::nullopt));
      core::JournalPart part;
      part.first = from;
      part.count = static_cast<std::uint32_t>(std::min<Seq>(kRecordsInPart, durable - from + 1));
      part.records = Bytes(part.count * 100);
      done(Part(std::move(part)));
    });
  }
  void up(const std::string&, const core::Welcome&) override {
    ++ups;
    if (on_up) on_up();
  }
  void down(const std::string& why) override { downs.push_back(why); }
  void lost(const std::string& why) override { losses.push_back(why); }
  void goodbye(const core::Goodbye& goodbye) override { goodbyes.push_back(goodbye); }
  void received(core::LinkMessage message) override { messages.push_back(std::move(message)); }
  void kept(Seq through) override { kept_through = through; }
  void drained() override {}
  std::int64_t most_wait_ns() override { return most_wait; }

  loop::Loop& loop;
  std::int64_t most_wait = 0;
  Seq durable = 0;
  bool is_settled = true;
  int ups = 0, reads = 0;
  std::vector<std::string> downs, losses;
  std::vector<core::Goodbye> goodbyes;
  std::vector<core::LinkMessage> messages;
  Seq kept_through = 0;
  std::function<void()> on_up;
};

struct LinkScene {
  explicit LinkScene(std::uint64_t seed = 1)
      : sim_loop(seed, 1),
        network(sim_loop, seed),
        bits(seed),
        control(sim_loop, *server, link_mesh()),
        node(sim_loop),
        link(sim_loop, *client, node, [this] { return bits(); }) {
    control.listen({"control", 7600});
  }
  void start() { link.start({{"control", 7600}}, context()); }
  static wire::TlsContext context() {
    return test::MeshScene::context(wire::TlsEnd::connects,
                                    link_mesh().identity(crypto::Role::node, "web-1"));
  }
  // Whether a connection is up within that time.
  bool comes_up(std::int64_t within_ns) {
    for (std::int64_t spent = 0; spent < within_ns && !link.is_up(); spent += kNsPerSecond / 4)
      sim_loop.run_for(kNsPerSecond / 4);
    return link.is_up();
  }

  support::SimLoop sim_loop;
  support::SimNetwork network;
  std::mt19937_64 bits;
  std::unique_ptr<loop::Network> server = network.machine("control");
  std::unique_ptr<loop::Network> client = network.machine("node");
  test::ScriptedControl control;
  FakeNode node;
  NodeLink link;
};

}  // namespace

TEST_CASE("node link: hello comes first, then a heartbeat at once and one each period") {
  LinkScene scene;
  scene.node.durable = 7;
  scene.start();
  CHECK_FALSE(scene.link.is_up());
  scene.sim_loop.run_for(2 * kNsPerSecond);
  REQUIRE(scene.link.is_up());
  CHECK(scene.link.problem().empty());
  REQUIRE(scene.control.hellos.size() == 1);
  CHECK(scene.control.hellos[0].last == 7);
  REQUIRE_FALSE(scene.control.messages.empty());
  CHECK(std::holds_alternative<core::Heartbeat>(scene.control.messages.front()));
  scene.sim_loop.run_for(60 * kNsPerSecond);
  CHECK(scene.control.heartbeats == 7);
  CHECK(scene.node.ups == 1);
}

TEST_CASE("node link: the journal goes up whole and in order, behind the status") {
  LinkScene scene;
  scene.node.durable = 995;
  scene.control.kept = 20;
  scene.start();
  scene.sim_loop.run_for(20 * kNsPerSecond);
  CHECK(scene.control.kept == 995);
  CHECK(scene.node.kept_through == 995);
  Seq next = 21;
  for (const auto& message : scene.control.messages) {
    const auto* part = std::get_if<core::JournalPart>(&message);
    if (part == nullptr) continue;
    CHECK(part->first == next);
    next += part->count;
  }
  CHECK(next == 996);
  scene.node.durable = 1000;
  scene.link.journal_grew();
  scene.sim_loop.run_for(2 * kNsPerSecond);
  CHECK(scene.control.kept == 1000);
}

TEST_CASE("node link: a backlog is sent at a bounded rate, a few parts ahead of the answers") {
  LinkScene scene;
  scene.control.takes_parts = false;
  scene.node.durable = 100'000;
  scene.start();
  scene.sim_loop.run_for(5 * kNsPerSecond);
  const auto parts = [&scene] {
    return std::count_if(
        scene.control.messages.begin(), scene.control.messages.end(),
        [](const auto& each) { return std::holds_alternative<core::JournalPart>(each); });
  };
  CHECK(parts() == static_cast<std::ptrdiff_t>(kMostUnansweredParts));
  scene.control.messages.clear();
  scene.control.takes_parts = true;
  scene.sim_loop.run_for(40 * kNsPerSecond);  // two heartbeats: what got no answer is sent again
  CHECK(scene.control.kept > 0);
  const auto before = parts();
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK(parts() - before <= kNsPerSecond / kPartEveryNs);
  CHECK(parts() > before);
}

TEST_CASE("node link: what is not durable is not told, and is told once it is") {
  LinkScene scene;
  scene.node.is_settled = false;
  scene.start();
  scene.sim_loop.run_for(2 * kNsPerSecond);
  REQUIRE(scene.link.is_up());
  CHECK(scene.control.heartbeats == 0);
  scene.node.is_settled = true;
  scene.link.report();
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK(scene.control.heartbeats == 1);
}

TEST_CASE("node link: a way that lets nothing through any more is found within two heartbeats") {
  LinkScene scene;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  scene.sim_loop.run_for(15 * kNsPerSecond);
  scene.network.hold_back("node", "control");
  scene.sim_loop.run_for(2 * 10 * kNsPerSecond + kNsPerSecond);
  CHECK_FALSE(scene.link.is_up());
  REQUIRE(scene.node.downs.size() == 1);
  CHECK(scene.node.downs[0].find("nothing was heard for 2 heartbeats") != std::string::npos);
  CHECK(scene.node.losses.empty());
  scene.sim_loop.run_for(30 * kNsPerSecond);
  CHECK(scene.node.losses.size() == 1);
  scene.network.let_pass("node", "control");
  CHECK(scene.comes_up(kLastBackoffNs + 60 * kNsPerSecond));
  scene.sim_loop.run_for(60 * kNsPerSecond);
  CHECK(scene.node.losses.size() == 1);
}

TEST_CASE("node link: a control plane that takes everything and answers nothing counts as dead") {
  LinkScene scene;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  scene.control.answers_heartbeats = false;
  scene.sim_loop.run_for(35 * kNsPerSecond);
  CHECK(scene.node.downs.size() >= 1);
}

TEST_CASE("node link: a control plane that was killed is found again when it is back") {
  LinkScene scene;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  scene.control.die();
  scene.sim_loop.run_for(120 * kNsPerSecond);
  CHECK_FALSE(scene.link.is_up());
  CHECK(scene.node.losses.size() == 1);
  CHECK_FALSE(scene.link.problem().empty());
  scene.control.listen({"control", 7600});
  CHECK(scene.comes_up(2 * kLastBackoffNs));
  CHECK(scene.node.ups == 2);
}

TEST_CASE(
    "node link: addresses are tried in turn, without a pause between them, and no other [E11]") {
  LinkScene scene;
  scene.link.start({{"nowhere", 7600}, {"control", 1}, {"control", 7600}}, LinkScene::context());
  CHECK(scene.comes_up(2 * kNsPerSecond));
}

TEST_CASE("node link: a goodbye that says when to come back is heeded, within a day") {
  LinkScene scene;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  scene.control.close_all(core::LinkCause::busy, 100 * kNsPerSecond);
  scene.sim_loop.run_for(99 * kNsPerSecond);
  CHECK(scene.control.accepted_at_ns.size() == 1);
  CHECK_FALSE(scene.link.is_up());
  REQUIRE(scene.node.goodbyes.size() == 1);
  CHECK(scene.node.goodbyes[0].cause == core::LinkCause::busy);
  scene.sim_loop.run_for(10 * kNsPerSecond);
  CHECK(scene.link.is_up());
  scene.control.close_all(core::LinkCause::busy, INT64_MAX);
  scene.sim_loop.run_for(kMostNotBeforeNs + 10 * kNsPerSecond);
  CHECK(scene.link.is_up());
}

TEST_CASE("node link: whoever is told that it is revoked asks seldom, and is taken back") {
  LinkScene scene;
  bool refuses = true;
  scene.control.script = [&refuses](Connection& connection, const core::LinkMessage&) {
    if (refuses) connection.close(core::LinkCause::revoked, "web-1 was revoked");
    return refuses;
  };
  scene.start();
  scene.sim_loop.run_for(kDecidedBackoffNs - 10 * kNsPerSecond);
  CHECK(scene.control.accepted_at_ns.size() == 1);
  CHECK(scene.link.problem().find("web-1 was revoked") != std::string::npos);
  refuses = false;
  CHECK(scene.comes_up(kLastBackoffNs));
}

TEST_CASE(
    "node link: a certificate of another authority is refused in words, and nothing is sent") {
  LinkScene scene;
  const test::MeshScene other;
  auto context =
      wire::TlsContext::make(wire::TlsEnd::connects, other.identity(crypto::Role::node, "web-1"),
                             trust_authorities({other.authority}, "prod", scene.sim_loop.clock()));
  REQUIRE(context);
  scene.link.start({{"control", 7600}}, std::move(*context));
  scene.sim_loop.run_for(10 * kNsPerSecond);
  CHECK_FALSE(scene.link.is_up());
  CHECK(scene.link.problem().find("the control plane's certificate") != std::string::npos);
  CHECK(scene.control.hellos.empty());
}

TEST_CASE("node link: a clock that is wrong is named with both times, and heals by itself [E07]") {
  LinkScene scene;
  auto context = wire::TlsContext::make(
      wire::TlsEnd::connects, link_mesh().identity(crypto::Role::node, "web-1"),
      trust_authorities({link_mesh().authority}, "prod", scene.sim_loop.clock()));
  REQUIRE(context);
  scene.sim_loop.jump_wall(-1'600'000'000 * kNsPerSecond);
  scene.link.start({{"control", 7600}}, std::move(*context));
  scene.sim_loop.run_for(10 * kNsPerSecond);
  CHECK_FALSE(scene.link.is_up());
  CHECK(scene.link.problem().find("1973-") != std::string::npos);
  CHECK(scene.link.problem().find("2020-") != std::string::npos);
  scene.sim_loop.jump_wall(1'600'000'000 * kNsPerSecond);
  CHECK(scene.comes_up(2 * kLastBackoffNs));
}

TEST_CASE("node link: what no control plane says to its node ends the connection") {
  for (const bool before_welcome : {true, false}) {
    LinkScene scene;
    if (before_welcome)
      scene.control.script = [](Connection& connection, const core::LinkMessage&) {
        static_cast<void>(connection.send(core::JournalKept{1}));
        return true;
      };
    scene.start();
    scene.sim_loop.run_for(2 * kNsPerSecond);
    if (!before_welcome) {
      REQUIRE(scene.link.is_up());
      scene.control.send(core::Hello{});
      scene.sim_loop.run_for(kNsPerSecond / 2);
      CHECK(scene.node.downs.size() == 1);
    }
    CHECK(scene.node.messages.empty());
    CHECK(scene.node.ups == (before_welcome ? 0 : scene.node.ups));
  }
}

TEST_CASE("node link: declarations, parts of blobs, orders and certificates reach the node") {
  LinkScene scene;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  scene.control.send(core::PushedDeclaration{});
  scene.control.send(core::BlobPart{});
  scene.control.send(core::PushedOrder{});
  scene.control.send(core::EnrolmentGrant{});
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK(scene.node.messages.size() == 4);
  CHECK(scene.link.send(core::BlobRequest{{Digest{}}}).has_value());
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK(std::holds_alternative<core::BlobRequest>(scene.control.messages.back()));
}

TEST_CASE("node link: stopped it says goodbye, and does not come back") {
  LinkScene scene;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  scene.link.stop(core::LinkCause::stopping, "the service ends");
  CHECK_FALSE(scene.link.is_up());
  CHECK_FALSE(scene.link.send(core::JournalKept{}).has_value());
  scene.sim_loop.run_for(600 * kNsPerSecond);
  CHECK(scene.control.accepted_at_ns.size() == 1);
  CHECK(scene.node.downs.empty());
  CHECK(scene.control.known_sessions() == 0);
}

TEST_CASE("node link: it may be stopped and begun anew by what it calls") {
  LinkScene scene;
  scene.node.on_up = [&scene] {
    if (scene.node.ups == 1) scene.start();
  };
  scene.start();
  scene.sim_loop.run_for(5 * kNsPerSecond);
  CHECK(scene.node.ups == 2);
  CHECK(scene.link.is_up());
  scene.node.on_up = [&scene] { scene.link.stop(core::LinkCause::stopping, "enough"); };
  scene.network.break_all("node", "control");
  scene.sim_loop.run_for(60 * kNsPerSecond);
  CHECK(scene.node.ups == 3);
  CHECK_FALSE(scene.link.is_up());
}

TEST_CASE("node link: a fleet that lost its control plane does not come back at one moment") {
  std::vector<std::int64_t> waits;
  std::mt19937_64 random(4);
  for (int node = 0; node < 1000; ++node)
    waits.push_back(wait_before_retry({8, 0, 0, 0}, random()));
  std::sort(waits.begin(), waits.end());
  CHECK(waits.front() < 10 * kNsPerSecond);
  CHECK(waits.back() > 100 * kNsPerSecond);
  std::size_t most = 0;  // within any second
  for (std::size_t at = 0; at < waits.size(); ++at) {
    const auto end = std::upper_bound(waits.begin(), waits.end(), waits[at] + kNsPerSecond);
    most = std::max(most, static_cast<std::size_t>(end - waits.begin()) - at);
  }
  CHECK(most < 40);
  CHECK(wait_before_retry({1'000'000, 0, 0, 0}, UINT64_MAX) <= kLastBackoffNs);
  CHECK(wait_before_retry({0, 0, -5, 0}, 0) == 0);
  CHECK(wait_before_retry({1, 0, INT64_MAX, 0}, 7) == kMostNotBeforeNs + 7);
}

TEST_CASE(
    "node link: the time in which a mesh comes back grows with it, and is even from the start") {
  CHECK(return_within(1) < kFirstBackoffNs);
  CHECK(return_within(1'000) == 120 * kNsPerSecond);
  CHECK(return_within(10'000) == 120 * kNsPerSecond);
  CHECK(return_within(20'000) == 240 * kNsPerSecond);
  CHECK(return_within(SIZE_MAX) == kMostReturnWithinNs);
  std::mt19937_64 random(5);
  std::vector<std::size_t> in_second(120);
  for (int node = 0; node < 10'000; ++node) {
    const auto wait = wait_before_retry({1, return_within(10'000), 0, 0}, random());
    ++in_second.at(static_cast<std::size_t>(wait / kNsPerSecond));
  }
  const auto [least, most] = std::minmax_element(in_second.begin(), in_second.end());
  CHECK(*least > 40);
  CHECK(*most < 140);
  // Who waits to be heard does not wait for the others; nobody is sent away for longer than an
  // hour.
  CHECK(wait_before_retry({9, return_within(10'000), 0, 3}, UINT64_MAX) < 3);
  CHECK(wait_before_retry({1, INT64_MAX, 0, 0}, UINT64_MAX) < kMostReturnWithinNs);
}

TEST_CASE(
    "node link: a node keeps the time that its control plane asked for, unless it is waited for") {
  LinkScene scene;
  scene.control.return_within_ns = 100 * kNsPerSecond;
  scene.start();
  REQUIRE(scene.comes_up(5 * kNsPerSecond));
  const auto longest_of = [&scene](int times) {
    std::int64_t longest = 0;
    for (int time = 0; time < times; ++time) {
      scene.sim_loop.run_for(kLastedNs + kNsPerSecond);
      const auto before = scene.sim_loop.clock().boot_now().ns;
      scene.control.close_all(core::LinkCause::stopping);
      scene.sim_loop.run_for(kNsPerSecond / 10);
      REQUIRE(scene.comes_up(102 * kNsPerSecond));
      longest = std::max(longest, scene.control.accepted_at_ns.back() - before);
    }
    return longest;
  };
  CHECK(longest_of(10) > 50 * kNsPerSecond);
  scene.node.most_wait = 700 * kNsPerMs;
  CHECK(longest_of(10) < kNsPerSecond);
}

TEST_CASE("journal feed: an answer that moves nothing is no answer, and patience ends") {
  JournalFeed feed;
  feed.begin(10);
  CHECK(feed.next() == 11);
  feed.sent(11, 5);
  feed.kept(10);
  feed.kept(3);
  CHECK(feed.kept() == 10);
  CHECK(feed.next() == 16);
  feed.beat();
  feed.beat();
  CHECK(feed.next() == 16);
  feed.beat();
  CHECK(feed.next() == 11);
  feed.sent(11, 5);
  feed.kept(15);
  for (int beat = 0; beat < 9; ++beat) feed.beat();
  CHECK(feed.next() == 16);
  feed.kept(40);  // another session of this node brought more
  CHECK(feed.next() == 41);
}

// What must hold after any fault: what is kept upstream is dense and never shrinks, nothing is
// heard that was not said, and once the way is whole everything arrives.
TEST_CASE("node link: cut at any moment it converges, and nothing is lost or told twice upstream") {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    INFO("seed " << seed);
    LinkScene scene(seed);
    std::mt19937_64 random(seed * 977);
    scene.node.durable = 400;
    scene.start();
    Seq kept = 0;
    for (int fault = 0; fault < 6; ++fault) {
      scene.sim_loop.run_for(static_cast<std::int64_t>(random() % 3000) * kNsPerMs);
      scene.node.durable += random() % 40;
      scene.link.journal_grew();
      switch (random() % 4) {
        case 0:
          scene.network.break_all("node", "control");
          break;
        case 1:
          scene.network.hold_back("node", "control");
          scene.sim_loop.run_for(static_cast<std::int64_t>(random() % 40) * kNsPerSecond);
          scene.network.let_pass("node", "control");
          break;
        case 2:
          scene.control.die();
          scene.sim_loop.run_for(static_cast<std::int64_t>(random() % 40) * kNsPerSecond);
          scene.control.listen({"control", 7600});
          break;
        default:
          scene.control.close_all(core::LinkCause::replaced);
      }
      CHECK(scene.control.kept >= kept);
      CHECK(scene.control.kept <= scene.node.durable);
      CHECK(scene.node.kept_through <= scene.control.kept);
      kept = scene.control.kept;
    }
    // What was cut off without a word is found by the next heartbeats.
    scene.sim_loop.run_for(60 * kNsPerSecond);
    REQUIRE(scene.comes_up(2 * kLastBackoffNs));
    scene.sim_loop.run_for(60 * kNsPerSecond);
    CHECK(scene.control.kept == scene.node.durable);
    CHECK(scene.control.known_sessions() == 1);
  }
}
