// Two ends of TLS in memory: what arrives, who is taken, and what a stranger's bytes do.
#include "datum/wire/tls.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "datum/crypto/certificate.hpp"
#include "datum/crypto/digest.hpp"

using namespace datum;
using namespace datum::wire;

namespace {

constexpr crypto::Validity kValid{1'790'000'000, 1'790'000'000 + 86'400};

struct Mesh {
  Mesh() : key(*crypto::PrivateKey::generate()) {
    auto made = crypto::issue_authority(key, "prod", kValid, crypto::random_id());
    REQUIRE(made);
    authority = *made;
  }
  [[nodiscard]] TlsIdentity identity(crypto::Role role) const {
    const auto its_key = crypto::PrivateKey::generate();
    REQUIRE(its_key);
    const auto made = crypto::issue(key, authority, {role, "prod", "one"}, its_key->public_key(),
                                    kValid, crypto::random_id());
    REQUIRE(made);
    return {made->der, its_key->to_der(), authority.der};
  }
  crypto::PrivateKey key;
  crypto::Certificate authority;
};

const Mesh& mesh() {
  static const Mesh one;
  return one;
}

JudgePeer take_all() {
  return [](const std::vector<Bytes>&) { return Status(); };
}
JudgePeer take_nobody() {
  return [](const std::vector<Bytes>&) -> Status {
    return fail(ErrorCode::refused, "not one of ours");
  };
}

TlsContext serving(JudgePeer judge = take_all()) {
  auto made =
      TlsContext::make(TlsEnd::serves, mesh().identity(crypto::Role::control), std::move(judge));
  REQUIRE(made);
  return std::move(*made);
}
TlsContext connecting(JudgePeer judge = take_all(), bool with_certificate = true) {
  auto made = TlsContext::make(
      TlsEnd::connects, with_certificate ? mesh().identity(crypto::Role::node) : TlsIdentity(),
      std::move(judge));
  REQUIRE(made);
  return std::move(*made);
}

// Both ends, and what each has read so far.
struct Pair {
  Pair(const TlsContext& server_context, const TlsContext& client_context)
      : server(server_context), client(client_context) {}

  // One way, in pieces of `step` bytes.
  static void carry(TlsSession& from, TlsSession& to, Bytes& text, Status& status,
                    std::size_t step) {
    const auto bytes = from.take_output();
    for (std::size_t at = 0; at < bytes.size() && status; at += step)
      status = to.receive(ByteView(bytes).subspan(at, std::min(step, bytes.size() - at)), text);
  }
  void run(std::size_t step = 100'000) {
    while (client.has_output() || server.has_output()) {
      carry(client, server, server_text, server_status, step);
      carry(server, client, client_text, client_status, step);
    }
  }

  TlsSession server, client;
  Bytes server_text, client_text;
  Status server_status, client_status;
};

Bytes random_text(std::size_t size) {
  Bytes text(size);
  crypto::fill_random(text);
  return text;
}

// A pair whose handshake is over, and the bytes of one message that the client then sends.
Bytes message_after_handshake(Pair& pair, ByteView text) {
  pair.run();
  REQUIRE(pair.client.send(text));
  return pair.client.take_output();
}

}  // namespace

TEST_CASE("wire: two ends of TLS know each other and text arrives both ways") {
  const auto server = serving();
  const auto client = connecting();
  const std::size_t step = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{100'000});
  Pair pair(server, client);
  pair.run(step);
  REQUIRE(pair.client.is_established());
  REQUIRE(pair.server.is_established());
  const auto up = random_text(50'000);
  const auto down = random_text(70'000);
  REQUIRE(pair.client.send(up));
  REQUIRE(pair.server.send(down));
  pair.run(step);
  CHECK(pair.server_text == up);
  CHECK(pair.client_text == down);
  const auto shown = pair.server.peer_certificate();
  REQUIRE(shown);
  const auto read = crypto::read_certificate(*shown);
  REQUIRE(read);
  CHECK(read->subject.role == crypto::Role::node);
}

TEST_CASE("wire: who connects is shown the leaf and the authority, in this order") {
  std::vector<Bytes> seen;
  const auto server = serving();
  const auto client = connecting([&seen](const std::vector<Bytes>& chain) {
    seen = chain;
    return Status();
  });
  Pair pair(server, client);
  pair.run();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == *pair.client.peer_certificate());
  CHECK(seen[1] == mesh().authority.der);
}

TEST_CASE("wire: a server that is not taken gets no text, and learns it") {
  const auto server = serving();
  const auto client = connecting(take_nobody());
  Pair pair(server, client);
  pair.run();
  REQUIRE_FALSE(pair.client_status);
  CHECK(pair.client_status.error().message() == "not one of ours");
  CHECK_FALSE(pair.client.is_established());
  REQUIRE_FALSE(pair.server_status);
  CHECK(pair.server_status.error().code() == ErrorCode::refused);
  CHECK_FALSE(pair.server.is_established());
}

TEST_CASE("wire: a node that is not taken is told so") {
  const auto server = serving(take_nobody());
  const auto client = connecting();
  Pair pair(server, client);
  pair.run();
  REQUIRE_FALSE(pair.server_status);
  CHECK(pair.server_status.error().message() == "not one of ours");
  CHECK_FALSE(pair.server.is_established());
  REQUIRE_FALSE(pair.client_status);
  CHECK(pair.client_status.error().code() == ErrorCode::refused);
}

TEST_CASE("wire: a node without a certificate is let in as nobody") {
  bool asked = false;
  const auto server = serving([&asked](const std::vector<Bytes>&) {
    asked = true;
    return Status();
  });
  const auto client = connecting(take_all(), false);
  Pair pair(server, client);
  pair.run();
  CHECK(pair.server.is_established());
  CHECK_FALSE(asked);
  CHECK_FALSE(pair.server.peer_certificate().has_value());
}

TEST_CASE("wire: both ends of a session compute one binding, and no other session does") {
  const auto server = serving();
  const auto client = connecting();
  Pair one(server, client);
  one.run();
  Pair other(server, client);
  other.run();
  CHECK(one.client.binding("datum enrol") == one.server.binding("datum enrol"));
  CHECK(one.client.binding("datum enrol") != one.client.binding("datum renew"));
  CHECK(one.client.binding("datum enrol") != other.client.binding("datum enrol"));
}

TEST_CASE("wire: the end of a session is told, and a cut is none") {
  const auto server = serving();
  const auto client = connecting();
  Pair pair(server, client);
  const auto bytes = message_after_handshake(pair, to_bytes("hello"));
  REQUIRE(pair.server.receive(bytes, pair.server_text));
  CHECK_FALSE(pair.server.peer_ended());
  pair.client.end();
  pair.run();
  CHECK(pair.server.peer_ended());
  CHECK(pair.server_status.has_value());
}

TEST_CASE("wire: a byte changed on the way is an error, and no text comes of it") {
  const auto server = serving();
  const auto client = connecting();
  std::size_t size = 0;
  {
    Pair pair(server, client);
    size = message_after_handshake(pair, to_bytes("generation 7")).size();
  }
  for (std::size_t at = 0; at < size; ++at) {
    Pair pair(server, client);
    auto bytes = message_after_handshake(pair, to_bytes("generation 7"));
    bytes[at] ^= std::byte{0x10};
    const auto status = pair.server.receive(bytes, pair.server_text);
    CHECK(pair.server_text.empty());
    // A length that grew waits for the rest; everything else is seen at once.
    if (status) CHECK((at == 3 || at == 4));
  }
}

TEST_CASE("wire: a message cut anywhere gives no text and no error yet") {
  const auto server = serving();
  const auto client = connecting();
  Pair pair(server, client);
  const auto bytes = message_after_handshake(pair, to_bytes("generation 7"));
  for (const auto& byte : bytes) {
    CHECK(pair.server_text.empty());
    REQUIRE(pair.server.receive({&byte, 1}, pair.server_text));
  }
  CHECK(as_text(pair.server_text) == "generation 7");
}

TEST_CASE("wire: what is no TLS ends the handshake with an error") {
  const auto server = serving();
  for (const auto& text : {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(400, '\0'),
                           std::string("\x16\x03\x01\xff\xff") + std::string(70'000, 'A')}) {
    TlsSession session(server);
    Bytes out;
    const auto status = session.receive(as_bytes(text), out);
    REQUIRE_FALSE(status);
    CHECK(status.error().code() == ErrorCode::corrupt);
    CHECK(out.empty());
  }
}

TEST_CASE("wire: a handshake that was changed ends, or both ends still have one binding") {
  const auto server = serving();
  const auto client = connecting();
  std::mt19937 random(11);
  int ended = 0;
  for (int round = 0; round < 300; ++round) {
    Pair pair(server, client);
    const auto victim = random() % 2;
    bool changed = false;
    for (int turn = 0; turn < 6 && pair.server_status && pair.client_status; ++turn) {
      for (auto* from : {&pair.client, &pair.server}) {
        auto bytes = from->take_output();
        const bool from_client = from == &pair.client;
        if (!changed && !bytes.empty() && from_client == (victim == 0)) {
          bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
          changed = true;
        }
        auto& to = from_client ? pair.server : pair.client;
        auto& status = from_client ? pair.server_status : pair.client_status;
        if (status) status = to.receive(bytes, pair.server_text);
      }
    }
    // The version in a record's head is the one thing that nobody looks at (RFC 8446, 5.1).
    if (pair.server.is_established() && pair.client.is_established() && pair.client_status &&
        pair.server_status)
      CHECK(pair.client.binding("datum enrol") == pair.server.binding("datum enrol"));
    else
      ++ended;
  }
  CHECK(ended > 250);
}

TEST_CASE("wire: a certificate and a key that do not belong together make no end") {
  auto identity = mesh().identity(crypto::Role::control);
  identity.private_key = crypto::PrivateKey::generate()->to_der();
  const auto made = TlsContext::make(TlsEnd::serves, identity, take_all());
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == ErrorCode::invalid_argument);
}
