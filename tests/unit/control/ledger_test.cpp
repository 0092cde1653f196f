// The control plane's decisions, what they add up to, and that the journal gives the same again.
#include "datum/control/ledger.hpp"

#include "control_scene.hpp"

using namespace datum;
using namespace datum::control;
using test::ControlScene;
using test::person_named;

namespace {

TokenRule rule_named(const std::string& id) {
  TokenRule rule;
  rule.id = id;
  rule.secret_hash = crypto::sha256(as_bytes(id));
  rule.expires = WallNs{100 * kNsPerSecond};
  return rule;
}

State state_after(const Events& events) {
  State state;
  for (const auto& event : events) evolve(state, event, {state.seq + 1, WallNs{kNsPerSecond}});
  return state;
}

core::control::NodeEnrolled enrolled(const std::string& node, const std::string& key) {
  core::control::NodeEnrolled event;
  event.applicant.node = node;
  event.applicant.fingerprint = crypto::sha256(as_bytes(key));
  event.applicant.token = "aaaaaaaa";
  return event;
}

}  // namespace

TEST_CASE("control: the state that was replayed is the state that was") {
  ControlScene scene;
  static_cast<void>(scene.make_token());
  REQUIRE(scene.ledger->append({enrolled("web-1", "k"), core::control::NodeReported{"web-1"}}));
  scene.run();
  auto before = scene.state();
  scene.crash_and_begin();
  REQUIRE(scene.state().seq == before.seq + 1);  // it was opened once more
  before.seq = scene.state().seq;
  CHECK(scene.state() == before);
}

TEST_CASE("control: an opening says how the last run ended") {
  const Id128 boot = crypto::random_id(), other = crypto::random_id();
  const auto end_of = [](const Events& events) {
    return std::get<core::control::PlaneOpened>(events.front()).last_end;
  };
  State state;
  CHECK(end_of(open_plane(state, boot, "1")) == core::LastEnd::created);
  evolve(state, open_plane(state, boot, "1").front(), {1, {}});
  CHECK(end_of(open_plane(state, boot, "1")) == core::LastEnd::crashed);
  CHECK(end_of(open_plane(state, other, "1")) == core::LastEnd::rebooted);
  evolve(state, core::control::PlaneClosed{"stop"}, {2, {}});
  CHECK(end_of(open_plane(state, other, "1")) == core::LastEnd::clean);
}

TEST_CASE("control: a token is made once, lives a year at most, and is withdrawn once") {
  const auto by = person_named("ada");
  State state;
  const auto made = make_token(state, rule_named("aaaaaaaa"), by, WallNs{});
  REQUIRE(made);
  state = state_after(*made);
  CHECK(make_token(state, rule_named("aaaaaaaa"), by, WallNs{}).error().code() ==
        ErrorCode::conflict);
  auto bad = rule_named("bbbbbbbb");
  bad.expires = WallNs{};
  CHECK(make_token(state, bad, by, WallNs{}).error().code() == ErrorCode::invalid_argument);
  bad.expires = WallNs{kMaxTokenLifeNs + 1};
  CHECK(make_token(state, bad, by, WallNs{}).error().code() == ErrorCode::invalid_argument);
  CHECK(withdraw_token(state, "cccccccc", by).error().code() == ErrorCode::not_found);
  const auto withdrawn = withdraw_token(state, "aaaaaaaa", by);
  REQUIRE(withdrawn);
  evolve(state, withdrawn->front(), {2, {}});
  CHECK(withdraw_token(state, "aaaaaaaa", by).error().code() == ErrorCode::conflict);
}

TEST_CASE("control: open tokens have a limit, those that are over do not count") {
  State state;
  for (std::size_t i = 0; i < kMaxTokens; ++i) {
    const auto id = std::to_string(10'000'000 + i);
    state.tokens[id].rule = rule_named(id);
  }
  const auto by = person_named("ada");
  CHECK(make_token(state, rule_named("aaaaaaaa"), by, WallNs{}).error().code() ==
        ErrorCode::limit_exceeded);
  state.tokens.begin()->second.is_withdrawn = true;
  CHECK(make_token(state, rule_named("aaaaaaaa"), by, WallNs{}).has_value());
}

TEST_CASE("control: revoked is final until the node is forgotten, which frees its name") {
  const auto by = person_named("ada");
  auto state = state_after({enrolled("web-1", "k")});
  CHECK(revoke(state, "web-2", "x", by).error().code() == ErrorCode::not_found);
  const auto ended = revoke(state, "web-1", "stolen", by);
  REQUIRE(ended);
  evolve(state, ended->front(), {2, {}});
  CHECK(state.nodes.at("web-1").standing == Standing::revoked);
  CHECK(revoke(state, "web-1", "x", by).error().code() == ErrorCode::conflict);
  const auto gone = forget(state, "web-1", by);
  REQUIRE(gone);
  evolve(state, gone->front(), {3, {}});
  CHECK(state.find_node("web-1") == nullptr);
  CHECK(forget(state, "web-1", by).error().code() == ErrorCode::not_found);
}

TEST_CASE("control: of two machines that want one name a person names the key") {
  core::control::NodeRequested one, other;
  one.applicant.node = other.applicant.node = "web-1";
  one.applicant.fingerprint = crypto::sha256(as_bytes("one"));
  other.applicant.fingerprint = crypto::sha256(as_bytes("other"));
  const auto state = state_after({one, other});
  const auto by = person_named("ada");
  CHECK(decide_request(state, "web-1", true, "", by).error().code() == ErrorCode::conflict);
  const auto key = one.applicant.fingerprint.hex();
  CHECK(decide_request(state, key.substr(0, 7), true, "", by).error().code() ==
        ErrorCode::not_found);
  const auto decided = decide_request(state, key.substr(0, 8), true, "", by);
  REQUIRE(decided);
  CHECK(std::get<core::control::RequestDecided>(decided->front()).fingerprint ==
        one.applicant.fingerprint);
}

TEST_CASE("control: an answer counts once, forwards, and for what was released") {
  auto state = state_after({enrolled("web-1", "k")});
  core::DeclarationAnswer answer;
  answer.generation = {1, 2};
  answer.step = core::DeclarationStep::accepted;
  CHECK(take_answer(state, "web-1", answer).empty());  // nothing was released
  core::control::DeclarationReleased released;
  released.node = "web-1";
  released.generation = {1, 2};
  evolve(state, released, {2, {}});
  const auto taken = take_answer(state, "web-1", answer);
  REQUIRE(taken.size() == 1);
  evolve(state, taken.front(), {3, {}});
  CHECK(take_answer(state, "web-1", answer).empty());
  answer.generation = {1, 1};
  CHECK(take_answer(state, "web-1", answer).empty());
  answer.generation = {1, 3};
  CHECK(take_answer(state, "web-1", answer).empty());
}

TEST_CASE("control: a profile or inventory beyond its limit is refused in words") {
  auto state = State{};
  state.tokens["aaaaaaaa"].rule = rule_named("aaaaaaaa");
  Enrol wanted;
  wanted.token_id = "aaaaaaaa";
  wanted.secret_hash = crypto::sha256(as_bytes("aaaaaaaa"));
  wanted.is_proved = true;
  wanted.request.key = Bytes(32, std::byte{1});
  wanted.request.wanted_name = "web-1";
  wanted.request.inventory = {{"all", std::string(kMaxFactBytes - 3, 'x')}};
  CHECK(std::holds_alternative<Granted>(enrol(state, wanted).decision));
  wanted.request.inventory[0].value += "x";
  const auto made = enrol(state, wanted);
  const auto* refusal = std::get_if<core::EnrolmentRefusal>(&made.decision);
  REQUIRE(refusal != nullptr);
  CHECK(refusal->cause == core::LinkCause::profile_refused);
  wanted.secret_hash = Digest{};
  CHECK(enrol(state, wanted).events.empty());
}

TEST_CASE("control: an event that fits into no record is refused whole") {
  ControlScene scene;
  const auto before = scene.state();
  core::control::NodeEnrolled large = enrolled("web-1", "k");
  large.applicant.inventory = {{"all", std::string(70'000, 'x')}};
  const auto queued = scene.ledger->append({core::control::NodeReported{"web-1"}, large});
  REQUIRE_FALSE(queued);
  CHECK(queued.error().code() == ErrorCode::limit_exceeded);
  CHECK(scene.state() == before);
}
