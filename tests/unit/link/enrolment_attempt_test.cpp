// One attempt to enrol over a simulated network: the pin before the token, and every way it ends.
#include "datum/link/enrolment_attempt.hpp"

#include <catch2/catch.hpp>

#include "datum/link/connection.hpp"
#include "mesh.hpp"
#include "support/sim_network.hpp"

using namespace datum;
using namespace datum::link;

namespace {

const test::MeshScene& enrol_mesh() {
  static const test::MeshScene scene;
  return scene;
}

struct EnrolScene {
  explicit EnrolScene(std::uint64_t seed = 1) : sim_loop(seed, 1), network(sim_loop, seed) {}

  void listen(const test::MeshScene& its_mesh, std::uint16_t port = 7600) {
    auto made =
        server->listen({"control", port}, [this, &its_mesh](std::unique_ptr<loop::Stream> stream) {
          control = std::make_unique<Connection>(sim_loop, std::move(stream), its_mesh.serving);
          control->start({[] {},
                          [this](const core::LinkMessage& message) {
                            const auto& request = std::get<core::EnrolmentRequest>(message);
                            requests.push_back(request);
                            bindings.push_back(control->binding(kEnrolmentBinding));
                            if (answer) static_cast<void>(control->send(*answer));
                            if (closes) control->close(core::LinkCause::busy, "full", not_before);
                          },
                          [](const LinkEnd&) {}});
        });
    REQUIRE(made);
    listeners.push_back(std::move(*made));
  }
  void ask(const Digest& pin, std::vector<loop::Address> addresses = {{"control", 7600}}) {
    EnrolmentQuestion question;
    question.addresses = std::move(addresses);
    question.pin = pin;
    question.make_request = [this](ByteView binding) {
      signed_binding.assign(binding.begin(), binding.end());
      core::EnrolmentRequest request;
      request.token = "secret";
      return request;
    };
    attempt = std::make_unique<EnrolmentAttempt>(sim_loop, *client, std::move(question),
                                                 [this](Result<EnrolmentAnswer> its_answer) {
                                                   CHECK_FALSE(told);
                                                   told.emplace(std::move(its_answer));
                                                   attempt.reset();
                                                 });
  }
  void run() { sim_loop.run_for(120 * kNsPerSecond); }

  support::SimLoop sim_loop;
  support::SimNetwork network;
  std::unique_ptr<loop::Network> server = network.machine("control");
  std::unique_ptr<loop::Network> client = network.machine("node");
  std::vector<std::unique_ptr<loop::Listener>> listeners;
  std::unique_ptr<Connection> control;
  std::unique_ptr<EnrolmentAttempt> attempt;
  std::optional<core::LinkMessage> answer;
  bool closes = false;
  std::int64_t not_before = 0;
  std::vector<core::EnrolmentRequest> requests;
  std::vector<Bytes> bindings;
  Bytes signed_binding;
  std::optional<Result<EnrolmentAnswer>> told;
};

Digest pin_of(const test::MeshScene& scene) {
  return scene.authority.key.fingerprint();
}

}  // namespace

TEST_CASE(
    "enrolment: the token goes to the control plane with the pinned key, bound to the session") {
  EnrolScene scene;
  scene.listen(enrol_mesh());
  core::EnrolmentGrant grant;
  grant.node = "web-1";
  scene.answer = grant;
  scene.ask(pin_of(enrol_mesh()));
  scene.run();
  REQUIRE(scene.told);
  REQUIRE(scene.told->has_value());
  CHECK(std::get<core::EnrolmentGrant>(**scene.told).node == "web-1");
  REQUIRE(scene.requests.size() == 1);
  CHECK(scene.requests[0].token == "secret");
  CHECK(scene.signed_binding == scene.bindings.at(0));
  CHECK(scene.signed_binding.size() == 32);
}

TEST_CASE("enrolment: another control plane never sees the token, and is named with the pin") {
  const test::MeshScene other;
  EnrolScene scene;
  scene.listen(other);
  scene.ask(pin_of(enrol_mesh()));
  scene.run();
  REQUIRE(scene.told);
  REQUIRE_FALSE(scene.told->has_value());
  CHECK(scene.told->error().code() == ErrorCode::refused);
  CHECK(scene.told->error().message().find(pin_of(enrol_mesh()).hex()) != std::string::npos);
  CHECK(scene.requests.empty());
  CHECK(scene.signed_binding.empty());
}

TEST_CASE("enrolment: pending, refusal and a goodbye each come back as what they are") {
  {
    EnrolScene scene;
    scene.listen(enrol_mesh());
    scene.answer = core::EnrolmentPending{30 * kNsPerSecond};
    scene.ask(pin_of(enrol_mesh()));
    scene.run();
    REQUIRE(scene.told->has_value());
    CHECK(std::get<core::EnrolmentPending>(**scene.told).not_before_ns == 30 * kNsPerSecond);
  }
  {
    EnrolScene scene;
    scene.listen(enrol_mesh());
    scene.answer = core::EnrolmentRefusal{core::LinkCause::token_used, "used", "make another"};
    scene.ask(pin_of(enrol_mesh()));
    scene.run();
    REQUIRE(scene.told->has_value());
    CHECK(std::get<core::EnrolmentRefusal>(**scene.told).remedy == "make another");
  }
  for (const std::int64_t not_before : {std::int64_t{0}, 9 * kNsPerSecond}) {
    EnrolScene scene;
    scene.listen(enrol_mesh());
    scene.closes = true;
    scene.not_before = not_before;
    scene.ask(pin_of(enrol_mesh()));
    scene.run();
    REQUIRE(scene.told->has_value());
    CHECK(std::holds_alternative<core::EnrolmentPending>(**scene.told) == (not_before != 0));
  }
}

TEST_CASE("enrolment: no answer, no listener and a message out of turn are errors, in time") {
  EnrolScene silent;
  silent.listen(enrol_mesh());
  silent.ask(pin_of(enrol_mesh()));
  silent.run();
  REQUIRE(silent.told);
  CHECK_FALSE(silent.told->has_value());

  EnrolScene nobody;
  nobody.listen(enrol_mesh(), 7601);
  nobody.ask(pin_of(enrol_mesh()));
  nobody.run();
  REQUIRE(nobody.told);
  CHECK(nobody.told->error().code() == ErrorCode::unavailable);

  EnrolScene odd;
  odd.listen(enrol_mesh());
  odd.answer = core::JournalKept{3};
  odd.ask(pin_of(enrol_mesh()));
  odd.run();
  REQUIRE(odd.told);
  CHECK(odd.told->error().code() == ErrorCode::corrupt);
}

TEST_CASE("enrolment: the next address is asked where one does not do") {
  const test::MeshScene other;
  EnrolScene scene;
  scene.listen(other, 7601);
  scene.listen(enrol_mesh(), 7602);
  scene.answer = core::EnrolmentGrant{};
  scene.ask(pin_of(enrol_mesh()), {{"control", 7600}, {"control", 7601}, {"control", 7602}});
  scene.run();
  REQUIRE(scene.told);
  CHECK(scene.told->has_value());
  CHECK(scene.requests.size() == 1);
}

TEST_CASE("enrolment: cut at any moment it ends with an error or the answer, once") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    EnrolScene scene(seed);
    scene.listen(enrol_mesh());
    scene.answer = core::EnrolmentGrant{};
    scene.ask(pin_of(enrol_mesh()));
    scene.sim_loop.run_for(static_cast<std::int64_t>(seed) * kNsPerMs);
    scene.network.break_all("node", "control");
    scene.run();
    REQUIRE(scene.told);
    if (!scene.told->has_value()) CHECK(scene.told->error().code() != ErrorCode::refused);
  }
}

TEST_CASE("enrolment: whoever gives up is told nothing") {
  EnrolScene scene;
  scene.listen(enrol_mesh());
  scene.answer = core::EnrolmentGrant{};
  scene.ask(pin_of(enrol_mesh()));
  scene.sim_loop.run_for(2 * kNsPerMs);
  scene.attempt.reset();
  scene.run();
  CHECK_FALSE(scene.told);
}
