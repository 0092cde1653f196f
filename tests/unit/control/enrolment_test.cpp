// Who becomes a node, who does not, and what they are told.
#include "datum/control/enrolment.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <string>

#include "datum/crypto/digest.hpp"

using namespace datum;
using namespace datum::control;
using core::LinkCause;

namespace {

constexpr std::int64_t kDayNs = 86'400 * kNsPerSecond;
constexpr WallNs kNow{20'000 * kDayNs};  // 2024-10-04
const Digest kKey = crypto::sha256(as_bytes("key of web-1"));
const Digest kOtherKey = crypto::sha256(as_bytes("another key"));

// A good request to a control plane that knows one single-use token.
struct Scene {
  Scene() {
    token.rule = {"0a1b2c3d", {}, false, "web-*", {{"os", "debian"}}, {{"role", "web"}}, false, {}};
    token.rule.expires = WallNs{kNow.ns + kDayNs};
    request.wanted_name = "web-1";
    request.now = kNow;
    request.profile = {{"hostname", "localhost"}, {"os", "debian"}};
  }
  [[nodiscard]] EnrolmentDecision decide() const {
    EnrolmentScene scene;
    scene.token = has_token ? &token : nullptr;
    scene.with_name = with_name ? &*with_name : nullptr;
    scene.with_key = with_key ? &*with_key : nullptr;
    scene.key = kKey;
    scene.is_proved = is_proved;
    scene.was_accepted = was_accepted;
    scene.now = kNow;
    return decide_enrolment(request, scene);
  }
  [[nodiscard]] core::EnrolmentRefusal refusal() const {
    const auto decision = decide();
    const auto* refused = std::get_if<core::EnrolmentRefusal>(&decision);
    REQUIRE(refused != nullptr);
    CHECK_FALSE(refused->why.empty());
    CHECK_FALSE(refused->remedy.empty());
    return *refused;
  }

  TokenState token;
  core::EnrolmentRequest request;
  std::optional<KnownNode> with_name, with_key;
  bool has_token = true;
  bool is_proved = true;
  bool was_accepted = false;
};

const EnrolmentDecision kGranted = Granted{"web-1", {{"role", "web"}}};

}  // namespace

TEST_CASE("control: a machine with a good token becomes a node with the token's labels") {
  CHECK(Scene().decide() == kGranted);
}

TEST_CASE("control: without a wanted name the machine's own counts") {
  Scene scene;
  scene.request.wanted_name.clear();
  scene.request.profile[0].value = "web-7";
  CHECK(scene.decide() == EnrolmentDecision(Granted{"web-7", {{"role", "web"}}}));
}

TEST_CASE("control: a key that was not proved gets nothing, whatever else is right") {
  Scene scene;
  scene.is_proved = false;
  CHECK(scene.refusal().cause == LinkCause::key_unproved);
}

TEST_CASE("control: a token that is unknown or withdrawn is refused") {
  Scene scene;
  scene.has_token = false;
  CHECK(scene.refusal().cause == LinkCause::token_unknown);
  Scene withdrawn;
  withdrawn.token.is_withdrawn = true;
  CHECK(withdrawn.refusal().cause == LinkCause::token_unknown);
  CHECK(withdrawn.refusal().why == "token 0a1b2c3d was withdrawn");
}

TEST_CASE("control: a token counts through its last moment") {
  Scene scene;
  scene.token.rule.expires = kNow;
  CHECK(scene.decide() == kGranted);
  scene.token.rule.expires.ns -= 1;
  CHECK(scene.refusal().cause == LinkCause::token_expired);
}

TEST_CASE("control: a used token is taken again from the same key until it has reported") {
  Scene scene;
  scene.token.uses = {{kKey, "web-1", false}};
  scene.with_name = scene.with_key = KnownNode{"web-1", kKey, Standing::enrolled};
  CHECK(scene.decide() == kGranted);
  scene.request.wanted_name = "web-9";  // it keeps the name that it was given
  CHECK(scene.decide() == kGranted);
  scene.token.uses[0].has_reported = true;
  CHECK(scene.refusal().cause == LinkCause::token_used);
  CHECK(scene.refusal().why == "token 0a1b2c3d was used by web-1");
}

TEST_CASE("control: a used token is refused from another key, one for many is not") {
  Scene scene;
  scene.token.uses = {{kOtherKey, "web-2", false}};
  CHECK(scene.refusal().cause == LinkCause::token_used);
  scene.token.rule.is_multi_use = true;
  CHECK(scene.decide() == kGranted);
}

TEST_CASE("control: clocks more than an hour apart are told with both times") {
  Scene scene;
  for (const auto apart : {kMostClockDifferenceNs, -kMostClockDifferenceNs}) {
    scene.request.now.ns = kNow.ns + apart;
    CHECK(scene.decide() == kGranted);
    scene.request.now.ns += apart > 0 ? kNsPerSecond : -kNsPerSecond;
    CHECK(scene.refusal().cause == LinkCause::clock);
  }
  CHECK(scene.refusal().why ==
        "the machine's clock says 2024-10-03T22:59:59Z, here it is 2024-10-04T00:00:00Z");
  for (const auto far :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    scene.request.now.ns = far;
    CHECK(scene.refusal().cause == LinkCause::clock);
  }
}

TEST_CASE("control: a key that was revoked or retired does not come back") {
  Scene scene;
  scene.with_key = KnownNode{"web-3", kKey, Standing::revoked};
  CHECK(scene.refusal().cause == LinkCause::revoked);
  scene.with_key->standing = Standing::retired;
  CHECK(scene.refusal().cause == LinkCause::retired);
}

TEST_CASE("control: a name that is none, against the rule, or another's is refused") {
  Scene scene;
  for (const auto* name : {"Web-1", "web 1", "web/1", "-\n"}) {
    scene.request.wanted_name = name;
    CHECK(scene.refusal().cause == LinkCause::name_refused);
  }
  scene.request.wanted_name = "db-1";
  CHECK(scene.refusal().why == "token 0a1b2c3d is for names like web-*, not for db-1");
  scene.request.wanted_name = "web-1";
  for (const auto standing : {Standing::enrolled, Standing::retired, Standing::revoked}) {
    scene.with_name = KnownNode{"web-1", kOtherKey, standing};
    CHECK(scene.refusal().cause == LinkCause::name_taken);
  }
}

TEST_CASE("control: a profile that the token does not want is refused with both values") {
  Scene scene;
  scene.request.profile[1].value = "fedora";
  CHECK(scene.refusal().cause == LinkCause::profile_refused);
  CHECK(scene.refusal().why == "token 0a1b2c3d wants os debian, the machine has fedora");
  scene.request.profile.pop_back();
  CHECK(scene.refusal().why == "token 0a1b2c3d wants os debian, the machine has none");
}

TEST_CASE("control: by hand a node waits for a person") {
  Scene scene;
  scene.token.rule.is_by_hand = true;
  CHECK(scene.decide() == EnrolmentDecision(AwaitsPerson{"web-1"}));
  scene.was_accepted = true;
  CHECK(scene.decide() == kGranted);
}
