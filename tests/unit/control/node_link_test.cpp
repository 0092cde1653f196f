// Both ends of a link against each other: the node's own state machine and the control plane's.
#include "datum/link/node_link.hpp"

#include "control_scene.hpp"
#include "datum/journal/copy.hpp"
#include "datum/link/trust.hpp"

using namespace datum;
using test::ControlScene;
using test::Machine;

namespace {

// A node with a journal that grows, and nothing else.
class ScriptedNode final : public link::NodeSide {
 public:
  explicit ScriptedNode(Id128 seed) {
    journal::OpenOptions options;
    log = std::move(*journal::open_sim_log(disk, options, seed.bytes[0]));
  }
  void grow(int records) {
    for (int i = 0; i < records; ++i) {
      journal::Batch batch;
      const Bytes payload(1'000, std::byte{9});
      batch.entries.push_back({7, 0, {}, payload, {}});
      REQUIRE(log->append(batch));
    }
  }
  void hello(std::function<void(core::Hello)> done) override {
    const auto head = log->read_head();
    core::Hello said;
    said.store = log->store_id();
    said.last = head->seq;
    said.head = head->hash;
    said.accepted = accepted;
    done(said);
  }
  std::optional<core::Heartbeat> heartbeat() override {
    core::Heartbeat said;
    said.condition = core::Condition::converged;
    said.accepted = accepted;
    return said;
  }
  void read_journal(Seq from, std::function<void(Part)> done) override {
    core::JournalPart part;
    part.store = log->store_id();
    part.first = from;
    static_cast<void>(log->scan(from, [&](const journal::Record& record) {
      const auto size = record.stored.size() + record.keys.size();
      if (part.records.size() + size > core::kMaxLinkPart) return journal::Visit::stop;
      part.records.insert(part.records.end(), record.stored.begin(), record.stored.end());
      part.records.insert(part.records.end(), record.keys.begin(), record.keys.end());
      ++part.count;
      return journal::Visit::go_on;
    }));
    loop->post([part, done] {
      if (part.count == 0) return done(std::optional<core::JournalPart>{});
      done(std::optional(part));
    });
  }
  void up(const std::string&, const core::Welcome&) override { ++ups; }
  void down(const std::string&) override { ++downs; }
  void lost(const std::string&) override { ++losses; }
  void goodbye(const core::Goodbye& said) override { goodbyes.push_back(said); }
  void received(core::LinkMessage message) override { messages.push_back(std::move(message)); }
  void kept(Seq through) override { kept_through = through; }
  void drained() override {}

  std::shared_ptr<journal::SimDisk> disk = std::make_shared<journal::SimDisk>(3);
  std::unique_ptr<journal::Log> log;
  loop::Loop* loop = nullptr;
  core::Generation accepted;
  int ups = 0, downs = 0, losses = 0;
  Seq kept_through = 0;
  std::vector<core::Goodbye> goodbyes;
  std::vector<core::LinkMessage> messages;
};

struct Pair {
  explicit Pair(std::uint64_t seed) : scene(seed), machine(scene, "web-1") {
    node.loop = &scene.sim_loop;
    machine.hello.store = node.log->store_id();
    machine.enrol();
    REQUIRE_FALSE(machine.certificate.empty());
    machine.connection.reset();
    auto context = wire::TlsContext::make(
        wire::TlsEnd::connects, {machine.certificate, machine.key.to_der(), {}},
        link::trust_authorities({scene.keys.authority}, "prod", scene.sim_loop.clock()));
    REQUIRE(context);
    link.start({{"control", 7600}}, std::move(*context));
  }
  ControlScene scene;
  Machine machine;
  ScriptedNode node{crypto::random_id()};
  std::uint64_t drawn = 1;
  link::NodeLink link{scene.sim_loop, *machine.network, node,
                      [this] { return drawn *= 6364136223846793005ULL; }};
};

}  // namespace

TEST_CASE("control: a node's backlog comes up whole, and the link stays up for an hour") {
  Pair pair(5);
  pair.node.grow(2'000);
  pair.scene.run(600 * kNsPerSecond);
  CHECK(pair.link.is_up());
  CHECK(pair.node.kept_through == 2'000);
  pair.node.grow(100);
  pair.link.journal_grew();
  pair.scene.run(3'600 * kNsPerSecond);
  CHECK(pair.node.kept_through == 2'100);
  CHECK(pair.node.ups == 1);
  CHECK(pair.node.downs == 0);
  CHECK(pair.node.losses == 0);
  CHECK(pair.node.goodbyes.empty());
  CHECK(pair.scene.server->is_linked("web-1"));
  const auto& report = pair.scene.state().nodes.at("web-1").report;
  REQUIRE(report);
  CHECK(report->condition == core::Condition::converged);
  const auto reader = journal::open_copy(
      control::NodeJournals::path_of(pair.scene.scratch.path, "web-1", pair.node.log->store_id()),
      pair.node.log->store_id());
  REQUIRE(reader);
  CHECK((*reader)->read_head()->hash == pair.node.log->read_head()->hash);
}

TEST_CASE("control: after a crash of the control plane the node is back, and nothing is lost") {
  Pair pair(6);
  pair.node.grow(500);
  pair.scene.run(3 * kNsPerSecond);
  pair.scene.crash_and_begin();
  pair.scene.run(900 * kNsPerSecond);
  CHECK(pair.link.is_up());
  CHECK(pair.node.kept_through == 500);
  CHECK(pair.node.downs <= 1);
}

TEST_CASE("control: a revoked node is told so by its own end") {
  Pair pair(7);
  pair.scene.run(60 * kNsPerSecond);
  REQUIRE(pair.link.is_up());
  pair.scene.append(
      control::revoke(pair.scene.state(), "web-1", "stolen", test::person_named("ada")));
  pair.scene.server->cut("web-1", core::LinkCause::revoked, "web-1 was revoked");
  pair.scene.run(10 * kNsPerSecond);
  REQUIRE_FALSE(pair.node.goodbyes.empty());
  CHECK(pair.node.goodbyes.front().cause == core::LinkCause::revoked);
}
