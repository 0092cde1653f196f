// A control plane over a simulated network, loop and disk, and machines that speak to it by hand.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/codec/link.hpp"
#include "datum/control/link_server.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/journal/sim_log.hpp"
#include "datum/link/connection.hpp"
#include "datum/link/token.hpp"
#include "datum/wire/frame.hpp"
#include "support/scratch_folder.hpp"
#include "support/sim_network.hpp"

namespace datum::test {

inline core::Actor person_named(const std::string& name) {
  return {core::ActorKind::person, name, 0, "datum-control"};
}

class MapContent final : public ContentSource {
 public:
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto found = blobs.find(digest);
    if (found == blobs.end()) return fail(ErrorCode::not_found, "no such blob");
    return std::unique_ptr<ByteSource>(std::make_unique<Source>(found->second));
  }
  Digest put(Bytes bytes) {
    const auto digest = crypto::sha256(bytes);
    blobs[digest] = std::move(bytes);
    return digest;
  }
  std::map<Digest, Bytes> blobs;

 private:
  class Source final : public ByteSource {
   public:
    explicit Source(ByteView bytes) : rest_(bytes) {}
    [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
      const auto count = std::min(out.size(), rest_.size());
      std::copy_n(rest_.begin(), count, out.begin());
      rest_ = rest_.subspan(count);
      return count;
    }

   private:
    ByteView rest_;
  };
};

inline control::Keyring make_keyring(WallNs now) {
  auto key = crypto::PrivateKey::generate();
  auto signer = crypto::PrivateKey::generate();
  const auto now_s = now.ns / kNsPerSecond;
  auto authority = crypto::issue_authority(
      *key, "prod", {now_s - 3600, now_s + 20LL * 365 * 86'400}, crypto::random_id());
  REQUIRE(authority);
  return {std::move(*key), std::move(*authority), std::move(*signer)};
}

struct ControlScene {
  explicit ControlScene(std::uint64_t seed = 1) : sim_loop(seed, 2), network(sim_loop, seed) {
    begin();
  }
  void begin() {
    auto log =
        journal::open_sim_log(disk, control::ledger_options(journal::OpenMode::create_or_open));
    REQUIRE(log);
    const auto store = (*log)->store_id();
    auto opened = control::Ledger::open(sim_loop, std::move(*log));
    REQUIRE(opened);
    ledger = std::move(*opened);
    if (ledger->state().seq == 0)
      REQUIRE(
          ledger->append(control::create_plane({store, crypto::random_id(), "prod", "1", {}, {}})));
    REQUIRE(ledger->append(control::open_plane(ledger->state(), sim_loop.clock().boot_id(), "1")));
    journals = std::make_unique<control::NodeJournals>(sim_loop, scratch.path);
    server = std::make_unique<control::LinkServer>(
        sim_loop, *machine, *ledger, keys, *journals, content, control::LinkSettings{},
        [this](control::Weight, const std::string& text) { told.push_back(text); });
    REQUIRE(server->listen({"control", 7600}));
    run();
  }
  // The process dies; what was durable is there again.
  void crash_and_begin() {
    server.reset();
    sim_loop.run_for(kNsPerSecond);
    ledger.reset();
    journals.reset();
    disk->crash();
    begin();
  }
  void run(std::int64_t ns = 2 * kNsPerSecond) { sim_loop.run_for(ns); }
  std::string make_token(control::TokenRule rule = {}) {
    const auto token = link::make_token(keys.authority.key.fingerprint());
    rule.id = token.id_text();
    rule.secret_hash = token.secret_hash();
    const auto now = sim_loop.clock().wall_now();
    rule.expires = WallNs{now.ns + 3600 * kNsPerSecond};
    const auto made = control::make_token(ledger->state(), rule, person_named("ada"), now);
    REQUIRE(made);
    REQUIRE(ledger->append(*made));
    run();
    return link::format_token(token);
  }
  void append(const Result<control::Events>& events) {
    REQUIRE(events);
    REQUIRE(ledger->append(*events));
    run();
  }
  [[nodiscard]] const control::State& state() const { return ledger->state(); }

  support::SimLoop sim_loop;
  // Certificates do not reach back before 1970: it is 2025.
  const bool is_today = (sim_loop.jump_wall(1'750'000'000 * kNsPerSecond), true);
  support::SimNetwork network;
  std::unique_ptr<loop::Network> machine = network.machine("control");
  std::shared_ptr<journal::SimDisk> disk = std::make_shared<journal::SimDisk>(7);
  support::ScratchFolder scratch{"control"};
  control::Keyring keys = make_keyring(sim_loop.clock().wall_now());
  MapContent content;
  std::unique_ptr<control::Ledger> ledger;
  std::unique_ptr<control::NodeJournals> journals;
  std::unique_ptr<control::LinkServer> server;
  std::vector<std::string> told;
};

// One machine: its key, what it was given, and its connection.
struct Machine {
  Machine(ControlScene& its_scene, std::string its_name)
      : scene(its_scene), name(std::move(its_name)), network(scene.network.machine(name)) {
    hello.store = crypto::random_id();
    hello.host_version = "1";
  }
  void connect() {
    messages.clear();
    end.reset();
    established = false;
    wire::TlsIdentity identity;
    if (!certificate.empty()) identity = {certificate, key.to_der(), {}};
    auto made = wire::TlsContext::make(wire::TlsEnd::connects, identity,
                                       [](const std::vector<Bytes>&) { return Status(); });
    REQUIRE(made);
    context = std::move(*made);
    connecting = network->connect({"control", 7600}, kNsPerSecond, [this](auto stream) {
      if (!stream) return;
      connection = std::make_unique<link::Connection>(scene.sim_loop, std::move(*stream), *context);
      connection->start(
          {[this] { established = true; },
           [this](core::LinkMessage message) { messages.push_back(std::move(message)); },
           [this](const link::LinkEnd& how) { end = how; }});
    });
    scene.run();
    if (connection) connection->let_in();
  }
  void send(const core::LinkMessage& message) {
    REQUIRE(connection);
    static_cast<void>(connection->send(message));
    scene.run();
  }
  [[nodiscard]] core::EnrolmentRequest request(const std::string& token) const {
    core::EnrolmentRequest made;
    made.token = token;
    made.wanted_name = name;
    const auto public_key = key.public_key();
    made.key = Bytes(public_key.bytes.begin(), public_key.bytes.end());
    const auto proof =
        key.sign(crypto::SignedAs::enrolment_proof, connection->binding("datum enrol"));
    made.proof = Bytes(proof.bytes.begin(), proof.bytes.end());
    made.store = hello.store;
    made.now = scene.sim_loop.clock().wall_now();
    made.profile = {{"hostname", name}, {"datum/os", "debian"}};
    return made;
  }
  // Connects, asks, and keeps what it is granted.
  void ask(const std::string& token) {
    certificate.clear();
    connect();
    send(request(token));
    if (const auto* grant = last<core::EnrolmentGrant>()) certificate = grant->certificate;
  }
  // Becomes a node with a token of its own.
  void enrol() { ask(scene.make_token()); }
  void greet() {
    connect();
    hello.now = scene.sim_loop.clock().wall_now();
    send(hello);
  }
  // The newest message, if it is of that kind.
  template <class T>
  [[nodiscard]] const T* last() const {
    return messages.empty() ? nullptr : std::get_if<T>(&messages.back());
  }
  // Why its connection was ended; nothing: it was not.
  [[nodiscard]] std::optional<core::LinkCause> end_cause() const {
    return end ? std::optional(end->goodbye.cause) : std::nullopt;
  }
  template <class T>
  [[nodiscard]] std::size_t count() const {
    std::size_t found = 0;
    for (const auto& message : messages)
      if (std::holds_alternative<T>(message)) ++found;
    return found;
  }

  ControlScene& scene;
  std::string name;
  std::unique_ptr<loop::Network> network;
  crypto::PrivateKey key = *crypto::PrivateKey::generate();
  Bytes certificate;
  core::Hello hello;
  std::optional<wire::TlsContext> context;
  std::unique_ptr<loop::Connecting> connecting;
  std::unique_ptr<link::Connection> connection;
  std::vector<core::LinkMessage> messages;
  std::optional<link::LinkEnd> end;
  bool established = false;
};

}  // namespace datum::test
