// The control plane's end of links: who is let in, what they may say, and what is durable when.
#include "datum/control/link_server.hpp"

#include <algorithm>

#include "control_scene.hpp"
#include "datum/link/backoff.hpp"

using namespace datum;
using test::ControlScene;
using test::Machine;

TEST_CASE("control: a machine enrols with a token, comes back with its certificate, and reports") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  const auto* grant = machine.last<core::EnrolmentGrant>();
  REQUIRE(grant != nullptr);
  CHECK(grant->mesh == "prod");
  CHECK(grant->node == "web-1");
  CHECK(grant->mesh_id == scene.state().mesh_id);
  REQUIRE(grant->signers.size() == 1);
  const auto shown = crypto::read_certificate(grant->certificate);
  REQUIRE(shown);
  CHECK(shown->key == machine.key.public_key());
  machine.greet();
  const auto* welcome = machine.last<core::Welcome>();
  REQUIRE(welcome != nullptr);
  CHECK(welcome->node == "web-1");
  CHECK(scene.server->is_linked("web-1"));
  CHECK_FALSE(scene.state().nodes.at("web-1").has_reported);
  core::Heartbeat heartbeat;
  heartbeat.condition = core::Condition::converged;
  machine.send(heartbeat);
  CHECK(machine.last<core::JournalKept>() != nullptr);
  CHECK(scene.state().nodes.at("web-1").has_reported);
  const auto seq = scene.state().seq;
  machine.send(heartbeat);
  CHECK(machine.count<core::JournalKept>() == 2);
  CHECK(scene.state().seq == seq);  // nothing changed: no record
}

TEST_CASE("control: a grant is durable before it leaves") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  REQUIRE(machine.last<core::EnrolmentGrant>() != nullptr);
  const auto before = scene.state().nodes;
  scene.crash_and_begin();
  CHECK(scene.state().nodes == before);
  machine.greet();
  CHECK(machine.last<core::Welcome>() != nullptr);
}

TEST_CASE("control: where nothing can be recorded nothing is granted") {
  ControlScene scene;
  const auto token = scene.make_token();
  journal::SimFaults faults;
  faults.fail_sync = 1;
  scene.disk->set_faults(faults);
  Machine machine(scene, "web-1");
  machine.ask(token);
  CHECK(machine.count<core::EnrolmentGrant>() == 0);
  CHECK(machine.end_cause() == core::LinkCause::busy);
  REQUIRE(scene.ledger->failure());
  CHECK_FALSE(scene.ledger->append({core::control::PlaneClosed{"no"}}));
}

TEST_CASE("control: a refusal says what to do and ends the connection, others go on") {
  ControlScene scene;
  const auto token = scene.make_token();
  Machine good(scene, "web-1");
  good.ask(token);
  good.greet();
  REQUIRE(good.last<core::Welcome>() != nullptr);
  Machine other(scene, "web-2");
  other.ask(token);
  const auto* refusal = other.last<core::EnrolmentRefusal>();
  REQUIRE(refusal != nullptr);
  CHECK_FALSE(refusal->remedy.empty());
  REQUIRE(other.end);
  CHECK(other.end->by_peer);
  const auto seq = scene.state().seq;
  other.ask(token);
  CHECK(scene.state().seq == seq);  // the same refusal is not recorded again
  Machine stranger(scene, "web-3");
  stranger.ask(link::format_token(link::make_token(Digest{})));
  REQUIRE(stranger.last<core::EnrolmentRefusal>() != nullptr);
  CHECK(stranger.last<core::EnrolmentRefusal>()->cause == core::LinkCause::token_unknown);
  CHECK(scene.state().seq == seq);  // a stranger writes nothing
  good.send(core::Heartbeat{});
  CHECK(good.last<core::JournalKept>() != nullptr);
}

TEST_CASE("control: by hand a machine waits, is judged, and asks again") {
  ControlScene scene;
  control::TokenRule rule;
  rule.is_by_hand = true;
  rule.is_multi_use = true;
  const auto token = scene.make_token(rule);
  Machine one(scene, "web-1"), other(scene, "web-2");
  one.ask(token);
  REQUIRE(one.last<core::EnrolmentPending>() != nullptr);
  other.ask(token);
  REQUIRE(other.last<core::EnrolmentPending>() != nullptr);
  scene.append(
      control::decide_request(scene.state(), "web-1", true, "", test::person_named("ada")));
  scene.append(control::decide_request(scene.state(), "web-2", false, "unknown box",
                                       test::person_named("ada")));
  one.ask(token);
  CHECK(one.last<core::EnrolmentGrant>() != nullptr);
  other.ask(token);
  REQUIRE(other.last<core::EnrolmentRefusal>() != nullptr);
  CHECK(other.last<core::EnrolmentRefusal>()->cause == core::LinkCause::by_person);
  CHECK(other.last<core::EnrolmentRefusal>()->why == "it was refused here: unknown box");
}

TEST_CASE("control: what is out of turn ends that connection as a fault of the protocol") {
  ControlScene scene;
  Machine stranger(scene, "web-1");
  stranger.connect();
  stranger.send(core::Hello{});
  CHECK(stranger.end_cause() == core::LinkCause::protocol);
  Machine machine(scene, "web-1");
  machine.enrol();
  machine.connect();
  machine.send(core::Heartbeat{});
  CHECK(machine.end_cause() == core::LinkCause::protocol);
  machine.greet();
  machine.send(core::Welcome{});
  CHECK(machine.end_cause() == core::LinkCause::protocol);
}

TEST_CASE("control: a revoked node is cut and not let in again, nor a forgotten one") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  machine.greet();
  scene.append(control::revoke(scene.state(), "web-1", "stolen", test::person_named("ada")));
  scene.server->cut("web-1", core::LinkCause::revoked, "web-1 was revoked");
  scene.run();
  CHECK(machine.end_cause() == core::LinkCause::revoked);
  machine.connect();
  REQUIRE(machine.end);
  CHECK(machine.end->goodbye.why == "web-1 was revoked: stolen");
  scene.append(control::forget(scene.state(), "web-1", test::person_named("ada")));
  machine.connect();
  CHECK(machine.end_cause() == core::LinkCause::revoked);
}

TEST_CASE("control: a newer connection of a node takes the older one's place") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  machine.greet();
  auto first = std::move(machine.connection);
  machine.greet();
  REQUIRE(machine.last<core::Welcome>() != nullptr);
  CHECK(scene.server->is_linked("web-1"));
  CHECK(scene.server->links() == 1);
  CHECK_FALSE(first->send(core::Heartbeat{}).has_value());
}

TEST_CASE("control: a node that says nothing for three heartbeats is let go") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  machine.greet();
  scene.run(181 * kNsPerSecond);
  CHECK_FALSE(scene.server->is_linked("web-1"));
}

TEST_CASE("control: an ended certificate is renewed and lets nothing else through") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  const auto first = machine.certificate;
  scene.sim_loop.jump_wall(400LL * 86'400 * kNsPerSecond);
  machine.greet();
  const auto* grant = machine.last<core::EnrolmentGrant>();
  REQUIRE(grant != nullptr);
  CHECK(grant->certificate != first);
  CHECK_FALSE(scene.server->is_linked("web-1"));
  machine.certificate = grant->certificate;
  machine.greet();
  CHECK(machine.last<core::Welcome>() != nullptr);
  scene.sim_loop.jump_wall(1'000LL * 86'400 * kNsPerSecond);
  machine.greet();
  CHECK(machine.end_cause() == core::LinkCause::clock);
  CHECK(machine.count<core::EnrolmentGrant>() == 0);
}

TEST_CASE(
    "control: a certificate that ended too long ago says that enrolment is required, seldom, and a "
    "new token takes its node back [E05]") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  scene.sim_loop.jump_wall(1'000LL * 86'400 * kNsPerSecond);
  machine.greet();
  CHECK(machine.end_cause() == core::LinkCause::clock);
  REQUIRE(machine.end);
  const auto& goodbye = machine.end->goodbye;
  CHECK(goodbye.why.starts_with("enrolment required: the certificate ended at 20"));
  CHECK(goodbye.why.find("renewed for 400 days: `datum enrol TOKEN`") != std::string::npos);
  CHECK(goodbye.why.find("token create --names web-1") != std::string::npos);
  CHECK(goodbye.not_before_ns == link::kDecidedBackoffNs);
  const auto words = goodbye.why;
  scene.run(600 * kNsPerSecond);
  machine.greet();
  REQUIRE(machine.end);
  CHECK(machine.end->goodbye.why == words);  // and so it is said once
  machine.enrol();
  machine.greet();
  CHECK(machine.last<core::Welcome>() != nullptr);
  CHECK(scene.server->is_linked("web-1"));
}

TEST_CASE("control: a connection that is cut at any byte of an enrolment leaves no half of it") {
  // The machine's bytes are held back after each step of the loop in turn: the token is used wholly
  // or not at all, and a second try with the same key always ends as a node.
  for (std::uint64_t steps = 1; steps < 60; steps += 3) {
    ControlScene scene(steps);
    const auto token = scene.make_token();
    Machine machine(scene, "web-1");
    machine.connect();
    static_cast<void>(machine.connection->send(machine.request(token)));
    for (std::uint64_t step = 0; step < steps && scene.sim_loop.step(); ++step) {
    }
    scene.network.break_all("control", "web-1");
    scene.run();
    CHECK(scene.state().tokens.begin()->second.uses.size() == scene.state().nodes.size());
    machine.ask(token);
    CHECK(machine.last<core::EnrolmentGrant>() != nullptr);
    CHECK(scene.state().nodes.size() == 1);
  }
}

TEST_CASE("control: a node whose reports change all the time fills no journal") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  machine.greet();
  core::Heartbeat heartbeat;
  machine.send(heartbeat);
  const auto before = scene.state().seq;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    heartbeat.counts.drifted = i;
    static_cast<void>(machine.connection->send(heartbeat));
  }
  scene.run();
  CHECK(machine.count<core::JournalKept>() == 101);
  CHECK(scene.state().seq - before < 25);
  scene.run(30 * kNsPerSecond);
  machine.send(heartbeat);
  CHECK(scene.state().nodes.at("web-1").report->counts.drifted == 100);
}

TEST_CASE("control: a node that makes up stores gets no more files than sixteen") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  for (int i = 0; i < 16; ++i) {
    machine.hello.store = crypto::random_id();
    machine.greet();
    REQUIRE(machine.last<core::Welcome>() != nullptr);
  }
  const auto known = machine.hello.store;
  machine.hello.store = crypto::random_id();
  machine.greet();
  CHECK(machine.count<core::Welcome>() == 0);
  CHECK(machine.end_cause() == core::LinkCause::busy);
  machine.hello.store = known;
  machine.greet();
  CHECK(machine.last<core::Welcome>() != nullptr);
}

namespace {

// As a copy of the machine's disk is, in a machine of its own.
void copy_identity(const Machine& from, Machine& to) {
  to.key = std::move(*crypto::PrivateKey::from_pem(from.key.to_pem()));
  to.certificate = from.certificate;
  to.hello = from.hello;
  to.hello.boot = crypto::random_id();
}

}  // namespace

TEST_CASE("control: of two machines with one identity the second is refused as a copy [E01]") {
  ControlScene scene;
  Machine machine(scene, "web-1"), copy(scene, "copy");
  machine.enrol();
  machine.hello.boot = crypto::random_id();
  machine.greet();
  REQUIRE(machine.last<core::Welcome>() != nullptr);
  copy_identity(machine, copy);
  copy.greet();
  CHECK(copy.count<core::Welcome>() == 0);
  CHECK(copy.end_cause() == core::LinkCause::busy);
  CHECK(copy.end->goodbye.not_before_ns > 60 * kNsPerSecond);
  for (int round = 0; round < 2; ++round) {
    scene.run(61 * kNsPerSecond);
    machine.send(core::Heartbeat{});
    copy.greet();
    CHECK(copy.count<core::Welcome>() == 0);
    REQUIRE(copy.end_cause() == core::LinkCause::clone);
    CHECK(copy.end->goodbye.why.find("datum enrol --new-key") != std::string::npos);
    CHECK(scene.told.back().find("one of the two is a copy") != std::string::npos);
  }
  CHECK(scene.server->is_linked("web-1"));
  CHECK_FALSE(machine.end);
}

TEST_CASE("control: silent strangers keep nobody out, and one line a minute tells of them") {
  ControlScene scene;
  Machine node(scene, "web-1");
  node.enrol();
  node.connection.reset();
  scene.run();
  REQUIRE(scene.server->strangers() == 0);
  const auto crowd = scene.network.machine("crowd");
  std::vector<std::unique_ptr<loop::Connecting>> connecting;
  std::vector<std::unique_ptr<loop::Stream>> silent;
  std::size_t cut = 0;
  const auto knock = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      connecting.push_back(crowd->connect({"control", 7600}, kNsPerSecond, [&](auto stream) {
        REQUIRE(stream);
        silent.push_back(std::move(*stream));
        silent.back()->start({[](const Bytes&) {}, [&cut](const Status&) { ++cut; }, [] {}});
      }));
    scene.run(kNsPerSecond / 2);
  };
  scene.told.clear();
  knock(control::kMaxStrangers + control::kMaxWaiting + 8);
  CHECK(scene.server->strangers() == control::kMaxStrangers);
  CHECK(cut == 8);  // nobody had been silent for long, and as many wait as may
  REQUIRE(scene.told.size() == 1);
  CHECK(scene.told.front().find("64 others are on their way in") != std::string::npos);
  scene.run(control::kStrangersSilenceNs + kNsPerSecond);  // and now some may come
  node.connect();
  const auto until = scene.sim_loop.clock().boot_now().ns + 20 * kNsPerSecond;
  while (!node.established && scene.sim_loop.clock().boot_now().ns < until)
    scene.run(kNsPerSecond / 2);  // those before it go as they have come
  node.hello.now = scene.sim_loop.clock().wall_now();
  node.send(node.hello);
  CHECK(node.count<core::Welcome>() == 1);
  CHECK(cut > control::kMaxStrangers + 8);
  scene.run(60 * kNsPerSecond);
  CHECK(scene.server->strangers() == 0);  // none of them is waited for
  scene.told.clear();
  knock(control::kMaxStrangers + control::kMaxWaiting + 1);
  const auto lines = std::count_if(scene.told.begin(), scene.told.end(), [](const auto& line) {
    return line.find("more in the last minutes") != std::string::npos;
  });
  CHECK(lines == 1);
}

TEST_CASE("control: a node that comes while all places are taken waits for one") {
  ControlScene scene;
  Machine node(scene, "web-1");
  node.enrol();
  node.connection.reset();
  scene.run();
  const auto crowd = scene.network.machine("crowd");
  std::vector<std::unique_ptr<loop::Connecting>> connecting;
  std::vector<std::unique_ptr<loop::Stream>> others;
  for (std::size_t i = 0; i < control::kMaxStrangers; ++i)
    connecting.push_back(crowd->connect({"control", 7600}, kNsPerSecond, [&](auto stream) {
      REQUIRE(stream);
      others.push_back(std::move(*stream));
      others.back()->start({[](const Bytes&) {}, [](const Status&) {}, [] {}});
    }));
  scene.run(kNsPerSecond / 2);
  REQUIRE(scene.server->strangers() == control::kMaxStrangers);
  node.connect();
  CHECK_FALSE(node.established);
  CHECK_FALSE(node.end);
  others.clear();
  scene.run(kNsPerSecond / 2);
  CHECK(node.established);
  node.send(node.hello);
  CHECK(node.count<core::Welcome>() == 1);
}

TEST_CASE("control: a machine that comes back from a reboot takes its silent link's place") {
  ControlScene scene;
  Machine machine(scene, "web-1"), rebooted(scene, "again");
  machine.enrol();
  machine.hello.boot = crypto::random_id();
  machine.greet();
  copy_identity(machine, rebooted);
  rebooted.greet();
  CHECK(rebooted.end_cause() == core::LinkCause::busy);
  rebooted.greet();  // too early to say
  CHECK(rebooted.end_cause() == core::LinkCause::busy);
  scene.run(61 * kNsPerSecond);
  rebooted.greet();
  CHECK(rebooted.last<core::Welcome>() != nullptr);
  CHECK(scene.server->is_linked("web-1"));
}

TEST_CASE(
    "control: an identity is its key; another store under it is told, and enrols nobody [E12]") {
  ControlScene scene;
  Machine machine(scene, "web-1");
  machine.enrol();
  machine.greet();
  const auto before = scene.state();
  machine.hello.store = crypto::random_id();
  machine.hello.host_version = "2";
  machine.greet();
  REQUIRE(machine.last<core::Welcome>() != nullptr);
  const auto& now = scene.state();
  CHECK(now.nodes.at("web-1").self.store == machine.hello.store);
  CHECK(now.nodes.at("web-1").self.fingerprint == before.nodes.at("web-1").self.fingerprint);
  CHECK(now.nodes.size() == 1);
  CHECK(now.seq == before.seq + 1);  // storeReplaced, and nothing else
}
