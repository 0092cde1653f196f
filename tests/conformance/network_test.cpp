// What every loop::Network must do: the contract of network.hpp, sentence by sentence. The real one
// speaks to itself on the loopback only.
#include "datum/loop/network.hpp"

#include <netdb.h>

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/uv/uv_network.hpp"
#include "support/sim_network.hpp"

using namespace datum;

namespace {

constexpr std::int64_t kPatience = 30 * kNsPerSecond;

struct UvNet {
  std::unique_ptr<loop::Loop> its_loop = uv::make_loop(1);
  std::unique_ptr<loop::Network> server = uv::make_network(*its_loop);
  std::unique_ptr<loop::Network> client = uv::make_network(*its_loop);
  std::string host = "127.0.0.1";
  loop::Loop& loop() { return *its_loop; }
};

struct SimNet {
  std::unique_ptr<support::SimLoop> its_loop = std::make_unique<support::SimLoop>(3, 1);
  support::SimNetwork network{*its_loop, 5};
  std::unique_ptr<loop::Network> server = network.machine("control");
  std::unique_ptr<loop::Network> client = network.machine("node");
  std::string host = "control";
  loop::Loop& loop() { return *its_loop; }
};

// What a stream has told.
struct Heard {
  Bytes bytes;
  std::optional<Status> end;
  [[nodiscard]] loop::StreamEvents events(std::function<void()> after = [] {}) {
    return {[this, after](Bytes piece) {
              CHECK_FALSE(piece.empty());
              CHECK_FALSE(end.has_value());
              bytes.insert(bytes.end(), piece.begin(), piece.end());
              after();
            },
            [this, after](Status status) {
              CHECK_FALSE(end.has_value());
              end = std::move(status);
              after();
            }};
  }
};

// A listener, and both ends of one connection, started.
template <class Net>
struct Pair {
  explicit Pair(Net& its_net, bool start = true) : net(its_net) {
    auto listening = net.server->listen({net.host, 0}, [this](std::unique_ptr<loop::Stream> came) {
      server = std::move(came);
      stop_if_complete();
    });
    REQUIRE(listening);
    listener = std::move(*listening);
    connecting = net.client->connect({net.host, listener->port()}, kPatience, [this](auto result) {
      REQUIRE(result);
      client = std::move(*result);
      stop_if_complete();
    });
    CHECK_FALSE(client);
    run_until([this] { return client && server; });
    if (start) start_both();
  }
  void start_both() {
    client->start(at_client.events([this] { net.loop().stop(); }));
    server->start(at_server.events([this] { net.loop().stop(); }));
  }
  void stop_if_complete() {
    if (client && server) net.loop().stop();
  }
  template <class Condition>
  void run_until(Condition holds) {
    while (!holds()) net.loop().run();
  }

  Net& net;
  std::unique_ptr<loop::Listener> listener;
  std::unique_ptr<loop::Connecting> connecting;
  std::unique_ptr<loop::Stream> client, server;
  Heard at_client, at_server;
};

Bytes pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

}  // namespace

#define NETWORK_TEST(name) TEMPLATE_TEST_CASE("network: " name, "[network]", UvNet, SimNet)

NETWORK_TEST("bytes arrive whole and in order, both ways") {
  TestType net;
  Pair pair(net);
  const auto up = pattern(200'000);
  const auto down = pattern(90'000);
  REQUIRE(pair.client->send(up));
  REQUIRE(pair.server->send(down));
  pair.run_until([&] {
    return pair.at_server.bytes.size() >= up.size() && pair.at_client.bytes.size() >= down.size();
  });
  CHECK((pair.at_server.bytes == up));
  CHECK((pair.at_client.bytes == down));
}

NETWORK_TEST("what arrived before a stream was started waits for the start") {
  TestType net;
  Pair pair(net, false);
  REQUIRE(pair.client->send(to_bytes("early")));
  pair.start_both();
  pair.run_until([&] { return pair.at_server.bytes.size() >= 5; });
  CHECK(as_text(pair.at_server.bytes) == "early");
}

NETWORK_TEST("an end comes after all bytes, and leaves the other direction open") {
  TestType net;
  Pair pair(net);
  const auto up = pattern(100'000);
  REQUIRE(pair.client->send(up));
  pair.client->end();
  const auto late = pair.client->send(to_bytes("late"));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == ErrorCode::unavailable);
  pair.run_until([&] { return pair.at_server.end.has_value(); });
  CHECK((pair.at_server.bytes == up));
  CHECK(pair.at_server.end->has_value());
  REQUIRE(pair.server->send(to_bytes("answer")));
  pair.run_until([&] { return pair.at_client.bytes.size() >= 6; });
  CHECK(as_text(pair.at_client.bytes) == "answer");
  CHECK_FALSE(pair.at_client.end.has_value());
}

NETWORK_TEST("a stream that is destroyed is called no more, and its peer learns of it") {
  TestType net;
  Pair pair(net);
  REQUIRE(pair.server->send(to_bytes("never read")));
  pair.client.reset();
  pair.run_until([&] { return pair.at_server.end.has_value(); });
  CHECK(pair.at_client.bytes.empty());
  CHECK_FALSE(pair.at_client.end.has_value());
}

NETWORK_TEST("a stream may be destroyed by its own callback") {
  TestType net;
  Pair pair(net, false);
  int calls = 0;
  pair.server->start({[&](Bytes) {
                        ++calls;
                        pair.server.reset();
                      },
                      [&](Status) { ++calls; }});
  pair.client->start(pair.at_client.events([&] { net.loop().stop(); }));
  REQUIRE(pair.client->send(pattern(200'000)));
  pair.run_until([&] { return pair.at_client.end.has_value(); });
  CHECK(calls == 1);
}

NETWORK_TEST("a peer that does not read is not sent more than the limit") {
  TestType net;
  Pair pair(net);
  pair.server->set_reading(false);
  const auto piece = pattern(64 * 1024);
  std::size_t taken = 0;
  Status status;
  // The kernel's own buffers take some MiB first.
  for (int i = 0; i < 1000 && status; ++i) {
    status = pair.client->send(piece);
    if (status) taken += piece.size();
    CHECK(pair.client->unsent() <= loop::kMaxUnsent);
  }
  REQUIRE_FALSE(status);
  CHECK(status.error().code() == ErrorCode::limit_exceeded);
  CHECK(pair.at_server.bytes.empty());
  pair.server->set_reading(true);
  pair.run_until([&] { return pair.at_server.bytes.size() >= taken; });
  CHECK(pair.at_server.bytes.size() == taken);
  CHECK(pair.client->unsent() == 0);
}

NETWORK_TEST("who sends is told when all is out") {
  TestType net;
  Pair pair(net, false);
  int drained = 0;
  auto events = pair.at_client.events();
  events.drained = [&] {
    ++drained;
    CHECK(pair.client->unsent() == 0);
    net.loop().stop();
  };
  pair.client->start(std::move(events));
  pair.server->start(pair.at_server.events());
  REQUIRE(pair.client->send(pattern(200'000)));
  CHECK(drained == 0);
  pair.run_until([&] { return drained > 0; });
  REQUIRE(pair.client->send(to_bytes("more")));
  pair.run_until([&] { return drained > 1; });
  CHECK(drained == 2);
}

NETWORK_TEST("where nobody listens, nobody is reached") {
  TestType net;
  auto listening = net.server->listen({net.host, 0}, [](std::unique_ptr<loop::Stream>) {});
  REQUIRE(listening);
  // A second listener, so that the machine is known although the port is free again.
  auto other = net.server->listen({net.host, 0}, [](std::unique_ptr<loop::Stream>) {});
  REQUIRE(other);
  const auto port = (*listening)->port();
  listening->reset();
  std::optional<Error> error;
  const auto connecting = net.client->connect({net.host, port}, kPatience, [&](auto result) {
    REQUIRE_FALSE(result);
    error = result.error();
    net.loop().stop();
  });
  net.loop().run();
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::unavailable);
}

NETWORK_TEST("an attempt that is given up never calls") {
  TestType net;
  int calls = 0;
  auto listening =
      net.server->listen({net.host, 0}, [&](std::unique_ptr<loop::Stream>) { net.loop().stop(); });
  REQUIRE(listening);
  {
    const auto connecting =
        net.client->connect({net.host, (*listening)->port()}, kPatience, [&](auto) { ++calls; });
  }
  listening->reset();
  net.loop().run();
  CHECK(calls == 0);
}

NETWORK_TEST("a port has one listener") {
  TestType net;
  const auto one = net.server->listen({net.host, 0}, [](std::unique_ptr<loop::Stream>) {});
  REQUIRE(one);
  const auto two =
      net.server->listen({net.host, (*one)->port()}, [](std::unique_ptr<loop::Stream>) {});
  REQUIRE_FALSE(two);
  CHECK(two.error().code() == ErrorCode::busy);
}

TEST_CASE("network: only addresses of the machine can be listened on", "[network]") {
  UvNet net;
  const auto listening = net.server->listen({"192.0.2.1", 0}, [](std::unique_ptr<loop::Stream>) {});
  REQUIRE_FALSE(listening);
  CHECK(listening.error().code() == ErrorCode::not_found);
  const auto name = net.server->listen({"localhost", 0}, [](std::unique_ptr<loop::Stream>) {});
  REQUIRE_FALSE(name);
  CHECK(name.error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("network: a name is looked up", "[network]") {
  addrinfo* known = nullptr;
  const bool has_localhost = ::getaddrinfo("localhost", nullptr, nullptr, &known) == 0;
  if (known != nullptr) ::freeaddrinfo(known);
  if (!has_localhost) {
    WARN("skipped: this machine has no name localhost (/etc/hosts)");
    return;
  }
  UvNet net;
  std::unique_ptr<loop::Stream> came;
  const auto listening =
      net.server->listen({"127.0.0.1", 0}, [&](auto stream) { came = std::move(stream); });
  REQUIRE(listening);
  std::optional<std::string> peer;
  const auto connecting =
      net.client->connect({"localhost", (*listening)->port()}, kPatience, [&](auto result) {
        REQUIRE(result);
        peer = (*result)->peer();
        net.loop().stop();
      });
  net.loop().run();
  CHECK(peer == "127.0.0.1:" + std::to_string((*listening)->port()));
}

TEST_CASE("network: what is held back arrives later, and an attempt ends with its limit",
          "[network]") {
  SimNet net;
  Pair pair(net);
  net.network.hold_back("node", "control");
  REQUIRE(pair.client->send(to_bytes("hello")));
  std::optional<ErrorCode> code;
  const auto connecting = net.client->connect({"control", pair.listener->port()}, kNsPerSecond,
                                              [&](auto result) { code = result.error().code(); });
  net.its_loop->run_for(2 * kNsPerSecond);
  CHECK(pair.at_server.bytes.empty());
  CHECK(code == ErrorCode::timed_out);
  net.network.let_pass("node", "control");
  net.its_loop->run_for(2 * kNsPerSecond);
  CHECK(as_text(pair.at_server.bytes) == "hello");
}

TEST_CASE("network: a way that breaks is told to both ends, a machine that vanishes to none",
          "[network]") {
  SimNet net;
  Pair pair(net);
  net.network.break_all("control", "node");
  net.its_loop->run_for(kNsPerSecond);
  REQUIRE(pair.at_client.end.has_value());
  CHECK_FALSE(pair.at_client.end->has_value());
  REQUIRE(pair.at_server.end.has_value());
  CHECK_FALSE(pair.at_server.end->has_value());
  Pair other(net);
  net.network.vanish("control");
  net.its_loop->run_for(kNsPerSecond);
  CHECK_FALSE(other.at_client.end.has_value());
}
