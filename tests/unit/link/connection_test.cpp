// Connections over a simulated network: what arrives, what a stranger may do, and how they end.
#include "datum/link/connection.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "datum/wire/frame.hpp"
#include "mesh.hpp"
#include "support/sim_network.hpp"

using namespace datum;
using namespace datum::link;

namespace {

const test::MeshScene& mesh() {
  static const test::MeshScene scene;
  return scene;
}

struct Side {
  std::unique_ptr<Connection> connection;
  std::vector<core::LinkMessage> messages;
  std::optional<LinkEnd> end;
  bool established = false;
  int drained = 0;

  void start(loop::Loop& loop, std::unique_ptr<loop::Stream> stream,
             const wire::TlsContext& context) {
    connection = std::make_unique<Connection>(loop, std::move(stream), context);
    connection->start(
        {[this] { established = true; },
         [this](core::LinkMessage message) { messages.push_back(std::move(message)); },
         [this](const LinkEnd& how) {
           CHECK_FALSE(end.has_value());
           end = how;
         },
         [this] { ++drained; }});
  }
};

// A control plane that listens, and streams to it that were made but not spoken on.
struct Scene {
  explicit Scene(std::uint64_t seed = 1) : sim_loop(seed, 1), network(sim_loop, seed) {
    auto made = server->listen({"control", 7600}, [this](std::unique_ptr<loop::Stream> stream) {
      control.start(sim_loop, std::move(stream), mesh().serving);
    });
    REQUIRE(made);
    listener = std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<loop::Stream> stream() {
    std::unique_ptr<loop::Stream> stream;
    const auto connecting =
        client->connect({"control", 7600}, kNsPerSecond, [&stream](auto result) {
          REQUIRE(result);
          stream = std::move(*result);
        });
    sim_loop.run_for(kNsPerSecond / 2);
    REQUIRE(stream);
    return stream;
  }
  void connect() { node.start(sim_loop, stream(), mesh().connecting); }
  void connect_and_shake_hands() {
    connect();
    sim_loop.run_for(kNsPerSecond);
    REQUIRE(node.established);
    REQUIRE(control.established);
  }

  support::SimLoop sim_loop;
  support::SimNetwork network;
  std::unique_ptr<loop::Network> server = network.machine("control");
  std::unique_ptr<loop::Network> client = network.machine("node");
  std::unique_ptr<loop::Listener> listener;
  Side control, node;
};

core::LinkMessage part_of(std::size_t size) {
  core::BlobPart part;
  part.size = size;
  part.bytes = Bytes(size, std::byte{7});
  return part;
}

}  // namespace

TEST_CASE("link: messages arrive whole and in order, both ways") {
  Scene scene;
  scene.connect_and_shake_hands();
  scene.control.connection->let_in();
  scene.node.connection->let_in();
  for (Seq seq = 1; seq <= 50; ++seq) {
    REQUIRE(scene.node.connection->send(core::JournalPart{{}, seq, 1, Bytes(seq * 20)}));
    REQUIRE(scene.control.connection->send(core::JournalKept{seq}));
  }
  scene.sim_loop.run_for(10 * kNsPerSecond);
  REQUIRE(scene.control.messages.size() == 50);
  REQUIRE(scene.node.messages.size() == 50);
  for (Seq seq = 1; seq <= 50; ++seq) {
    CHECK(std::get<core::JournalPart>(scene.control.messages[seq - 1]).first == seq);
    CHECK(std::get<core::JournalKept>(scene.node.messages[seq - 1]).through == seq);
  }
  CHECK_FALSE(scene.control.end.has_value());
  CHECK_FALSE(scene.node.end.has_value());
}

TEST_CASE("link: both ends have one binding, and each the other's certificate") {
  Scene scene;
  scene.connect_and_shake_hands();
  CHECK(scene.node.connection->binding("datum enrol") ==
        scene.control.connection->binding("datum enrol"));
  const auto shown = scene.control.connection->peer_certificate();
  REQUIRE(shown);
  CHECK(crypto::read_certificate(*shown)->subject.name == "web-1");
}

TEST_CASE("link: a goodbye ends the connection on both sides, with its cause") {
  Scene scene;
  scene.connect_and_shake_hands();
  REQUIRE(scene.control.connection->send(core::JournalKept{7}));
  scene.control.connection->close(core::LinkCause::replaced, "a newer connection", 5);
  CHECK_FALSE(scene.control.end.has_value());
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(scene.node.end);
  CHECK(scene.node.end->by_peer);
  CHECK(scene.node.end->goodbye.cause == core::LinkCause::replaced);
  CHECK(scene.node.end->goodbye.not_before_ns == 5);
  CHECK(scene.node.messages.size() == 1);
  REQUIRE(scene.control.end);
  CHECK_FALSE(scene.control.end->by_peer);
  CHECK_FALSE(scene.control.connection->send(core::JournalKept{8}).has_value());
}

TEST_CASE("link: a way that breaks ends both sides as cut") {
  Scene scene;
  scene.connect_and_shake_hands();
  scene.network.break_all("node", "control");
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(scene.node.end);
  CHECK(scene.node.end->was_cut);
  REQUIRE(scene.control.end);
  CHECK(scene.control.end->was_cut);
}

TEST_CASE("link: a connection may be destroyed by its own callback") {
  Scene scene;
  scene.connect_and_shake_hands();
  scene.control.connection->let_in();
  REQUIRE(scene.node.connection->send(core::JournalKept{1}));
  REQUIRE(scene.node.connection->send(core::JournalKept{2}));
  auto& control = scene.control;
  std::unique_ptr<Connection> second;
  int calls = 0;
  const auto listening =
      scene.server->listen({"control", 7601}, [&](std::unique_ptr<loop::Stream> stream) {
        second = std::make_unique<Connection>(scene.sim_loop, std::move(stream), mesh().serving);
        second->start({[] {},
                       [&](const core::LinkMessage&) {
                         ++calls;
                         second.reset();
                       },
                       [&](const LinkEnd&) { ++calls; }});
      });
  REQUIRE(listening);
  Side other;
  const auto connecting = scene.client->connect({"control", 7601}, kNsPerSecond, [&](auto result) {
    other.start(scene.sim_loop, std::move(*result), mesh().connecting);
  });
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(other.established);
  REQUIRE(other.connection->send(core::JournalKept{1}));
  REQUIRE(other.connection->send(core::JournalKept{2}));
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK(calls == 1);
  REQUIRE(other.end);
  CHECK(other.end->was_cut);
  CHECK(control.messages.size() == 2);
}

TEST_CASE("link: a stranger that says nothing is let go after 30 s, one that was let in is not") {
  Scene scene;
  const auto silent = scene.stream();
  scene.sim_loop.run_for(kStrangersTimeNs - kNsPerSecond);
  CHECK_FALSE(scene.control.end.has_value());
  scene.sim_loop.run_for(2 * kNsPerSecond);
  REQUIRE(scene.control.end);
  CHECK(scene.control.end->goodbye.cause == core::LinkCause::too_slow);
  Scene known;
  known.connect_and_shake_hands();
  known.control.connection->let_in();
  known.node.connection->let_in();
  known.sim_loop.run_for(10 * kStrangersTimeNs);
  CHECK_FALSE(known.control.end.has_value());
}

TEST_CASE("link: a stranger's message beyond 64 KiB ends its connection before it is read") {
  Scene scene;
  scene.connect_and_shake_hands();
  scene.node.connection->let_in();
  REQUIRE(scene.node.connection->send(part_of(kMaxStrangersFrame)));
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(scene.control.end);
  CHECK(scene.control.end->goodbye.cause == core::LinkCause::protocol);
  CHECK(scene.control.messages.empty());
  REQUIRE(scene.node.end);
  CHECK(scene.node.end->by_peer);
  CHECK(scene.node.end->goodbye.cause == core::LinkCause::protocol);
}

TEST_CASE("link: a peer that does not read is let go as too slow") {
  Scene scene;
  scene.connect_and_shake_hands();
  scene.network.hold_back("node", "control");
  int sent = 0;
  Status status;
  while (status && sent < 100) {
    status = scene.control.connection->send(part_of(core::kMaxLinkPart));
    if (status) ++sent;
  }
  CHECK(sent == 1);
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(scene.control.end);
  CHECK(scene.control.end->goodbye.cause == core::LinkCause::too_slow);
}

TEST_CASE("link: parts are sent as fast as they are taken") {
  Scene scene;
  scene.connect_and_shake_hands();
  scene.node.connection->let_in();
  int sent = 0;
  while (sent < 20) {
    while (sent < 20 && scene.control.connection->has_room()) {
      REQUIRE(scene.control.connection->send(part_of(core::kMaxLinkPart)));
      ++sent;
    }
    const auto before = scene.control.drained;
    scene.sim_loop.run_for(kNsPerSecond);
    CHECK(scene.control.drained > before);
  }
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK(scene.node.messages.size() == 20);
}

TEST_CASE("link: bytes that are no TLS end the stranger's connection and establish nothing") {
  Scene other(2);
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    auto stream = other.stream();
    Bytes bytes(1 + random() % 2000);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    stream->start({[](const Bytes&) {}, [](const Status&) {}});
    REQUIRE(stream->send(bytes));
    stream->end();
    other.sim_loop.run_for(kNsPerSecond);
    REQUIRE(other.control.end);
    CHECK_FALSE(other.control.established);
    CHECK(other.control.messages.empty());
    other.control.end.reset();
  }
}

TEST_CASE("link: what is no message ends the connection with the fault named") {
  // A frame of a kind that exists, around bytes that are no message: by hand, through TLS alone.
  Scene scene(3);
  auto stream = scene.stream();
  wire::TlsSession session(mesh().connecting);
  Bytes text;
  stream->start({[&](const Bytes& bytes) {
                   REQUIRE(session.receive(bytes, text));
                   if (session.has_output()) REQUIRE(stream->send(session.take_output()));
                 },
                 [](const Status&) {}});
  REQUIRE(stream->send(session.take_output()));
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(scene.control.established);
  const auto later = wire::make_frame(200, to_bytes("of a later version"));
  const auto broken =
      wire::make_frame(static_cast<std::uint8_t>(core::LinkKind::hello), to_bytes("no message"));
  REQUIRE(session.send(later));
  REQUIRE(stream->send(session.take_output()));
  scene.sim_loop.run_for(kNsPerSecond);
  CHECK_FALSE(scene.control.end.has_value());
  REQUIRE(session.send(broken));
  REQUIRE(stream->send(session.take_output()));
  scene.sim_loop.run_for(kNsPerSecond);
  REQUIRE(scene.control.end);
  CHECK(scene.control.end->goodbye.cause == core::LinkCause::protocol);
  CHECK(scene.control.end->why.find("Hello") != std::string::npos);
}

TEST_CASE("link: a conversation cut at any moment ends both sides, and half a message is none") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scene scene(seed);
    scene.connect();
    std::mt19937_64 random(seed);
    scene.sim_loop.run_for(static_cast<std::int64_t>(random() % 60) * kNsPerMs);
    if (scene.node.established) {
      REQUIRE(scene.node.connection->send(part_of(1 + random() % 40'000)));
      scene.sim_loop.run_for(static_cast<std::int64_t>(random() % 30) * kNsPerMs);
    }
    scene.network.break_all("node", "control");
    scene.sim_loop.run_for(kNsPerSecond);
    CHECK(scene.node.end.has_value());
    CHECK(scene.control.end.has_value());
    for (const auto& message : scene.control.messages) {
      const auto& part = std::get<core::BlobPart>(message);
      CHECK(part.bytes.size() == part.size);
    }
  }
}
