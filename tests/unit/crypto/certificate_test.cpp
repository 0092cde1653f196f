// Certificates: what is written is read, what is judged, and what is no certificate.
#include "datum/crypto/certificate.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "datum/crypto/digest.hpp"

using namespace datum;
using namespace datum::crypto;

namespace {

constexpr std::int64_t kBegin = 1'790'000'000;  // 2026-09-21
constexpr std::int64_t kDay = 86'400;
constexpr Validity kYear{kBegin, kBegin + 365 * kDay};
constexpr WallNs kNow{(kBegin + 30 * kDay) * kNsPerSecond};

struct Mesh {
  explicit Mesh(const char* its_name = "prod",
                Validity validity = {kBegin - kDay, kBegin + 3650 * kDay})
      : name(its_name), key(*PrivateKey::generate()) {
    auto made = issue_authority(key, name, validity, random_id());
    REQUIRE(made);
    authority = *made;
  }
  [[nodiscard]] Certificate issued(Role role, const Validity& validity = kYear) const {
    const auto its_key = PrivateKey::generate();
    REQUIRE(its_key);
    auto made =
        issue(key, authority, {role, name, "web-1"}, its_key->public_key(), validity, random_id());
    REQUIRE(made);
    return *made;
  }
  std::string name;
  PrivateKey key;
  Certificate authority;
};

Judgement judged(const Mesh& mesh, const Certificate& shown, Role role, WallNs now = kNow) {
  return judge(shown, std::vector{mesh.authority}, role, mesh.name, now);
}

}  // namespace

TEST_CASE("crypto: a certificate says what it was issued for") {
  const Mesh mesh;
  const auto key = PrivateKey::generate();
  REQUIRE(key);
  const auto serial = random_id();
  const auto made = issue(mesh.key, mesh.authority, {Role::node, "prod", "web-1"},
                          key->public_key(), kYear, serial);
  REQUIRE(made);
  const auto read = read_certificate(made->der);
  REQUIRE(read);
  CHECK(read->subject == Subject{Role::node, "prod", "web-1"});
  CHECK(read->key == key->public_key());
  CHECK(read->validity == kYear);
  CHECK(read->serial.bytes[15] == serial.bytes[15]);
  CHECK(read->serial.bytes[0] == (serial.bytes[0] & 0x7f));
  CHECK(to_uri(read->subject) == "datum://prod/web-1");
  CHECK(made->der.size() < 600);
}

TEST_CASE("crypto: names of 63 of a mesh, its authority and a node are issued, read and judged") {
  const std::string longest(63, 'm');
  const Mesh mesh(longest.c_str());
  CHECK(read_certificate(mesh.authority.der)->subject ==
        Subject{Role::authority, longest, "authority"});
  const auto key = PrivateKey::generate();
  REQUIRE(key);
  for (const std::size_t size : {1U, 40U, 62U, 63U})
    for (const auto role : {Role::node, Role::control}) {
      const Subject subject{role, longest, std::string(size, 'n')};
      const auto made =
          issue(mesh.key, mesh.authority, subject, key->public_key(), kYear, random_id());
      REQUIRE(made);
      const auto read = read_certificate(made->der);
      REQUIRE(read);
      CHECK(read->subject == subject);
      CHECK(judged(mesh, *read, role).distrust == Distrust::none);
    }
  const std::string cut = longest.substr(1);  // the same common name, and another mesh
  CHECK(
      judge(mesh.issued(Role::node), std::vector{mesh.authority}, Role::node, cut, kNow).distrust ==
      Distrust::mesh);
}

TEST_CASE("crypto: a common name is the URI, or the end of one that is longer than 64 bytes") {
  const auto holds = [](const Certificate& certificate, const std::string& name) {
    // A UTF8String (12) of that size, as the subject and nowhere else.
    const auto text = std::string("\x0c") + static_cast<char>(name.size()) + name;
    const std::string_view der(reinterpret_cast<const char*>(certificate.der.data()),
                               certificate.der.size());
    return der.find(text) != std::string_view::npos;
  };
  const auto issued = [](const std::string& its_mesh, const std::string& node) {
    const Mesh mesh(its_mesh.c_str());
    const auto made = issue(mesh.key, mesh.authority, {Role::node, its_mesh, node},
                            mesh.key.public_key(), kYear, random_id());
    REQUIRE(made);
    return *made;
  };
  const std::string node(50, 'n');
  CHECK(holds(issued("prod1", node), "datum://prod1/" + node));   // 64 bytes
  CHECK(holds(issued("prod12", node), "atum://prod12/" + node));  // 65
  const std::string longest(63, 'm');
  CHECK(holds(issued(longest, std::string(63, 'n')), "/" + std::string(63, 'n')));
  const auto node_of_long = issued(longest, "web-1");
  CHECK(holds(node_of_long, std::string(58, 'm') + "/web-1"));
  CHECK(holds(node_of_long, std::string(54, 'm') + "/authority"));  // who issued it
}

TEST_CASE("crypto: a certificate in force is taken for its role and mesh") {
  const Mesh mesh;
  CHECK(judged(mesh, mesh.issued(Role::node), Role::node).distrust == Distrust::none);
  CHECK(judged(mesh, mesh.issued(Role::control), Role::control).distrust == Distrust::none);
}

TEST_CASE("crypto: a certificate of another authority, role or mesh is not taken") {
  const Mesh mesh;
  const Mesh stranger;
  const Mesh other("test");
  CHECK(judged(mesh, stranger.issued(Role::node), Role::node).distrust == Distrust::issuer);
  CHECK(judged(mesh, mesh.issued(Role::node), Role::control).distrust == Distrust::role);
  CHECK(judged(mesh, mesh.issued(Role::control), Role::node).distrust == Distrust::role);
  CHECK(judged(mesh, mesh.authority, Role::node).distrust == Distrust::role);
  const std::vector both{mesh.authority, other.authority};
  const auto foreign = judge(other.issued(Role::node), both, Role::node, "prod", kNow);
  CHECK(foreign.distrust == Distrust::mesh);
  CHECK(foreign.why == "the certificate of datum://test/web-1 is of another mesh than prod");
}

TEST_CASE("crypto: a certificate that the node's own certificate issued is not taken") {
  const Mesh mesh;
  const auto node = mesh.issued(Role::node);
  const std::vector as_if_authority{node};
  CHECK(judge(node, as_if_authority, Role::node, "prod", kNow).distrust == Distrust::issuer);
}

TEST_CASE("crypto: a matter of clocks is told with both times") {
  const Mesh mesh;
  const auto node = mesh.issued(Role::node);
  const auto at = [](std::int64_t seconds) { return WallNs{seconds * kNsPerSecond}; };
  CHECK(judged(mesh, node, Role::node, at(kBegin)).distrust == Distrust::none);
  CHECK(judged(mesh, node, Role::node, at(kYear.not_after_s)).distrust == Distrust::none);
  const auto early = judged(mesh, node, Role::node, at(kBegin - 1));
  CHECK(early.distrust == Distrust::not_yet_valid);
  CHECK(early.why ==
        "the certificate of datum://prod/web-1 begins at 2026-09-21T14:13:20Z, and here it is "
        "2026-09-21T14:13:19Z: set the clock");
  const auto late = judged(mesh, node, Role::node, at(kYear.not_after_s + 1));
  CHECK(late.distrust == Distrust::expired);
}

TEST_CASE("crypto: an authority that has ended vouches for nobody") {
  const Mesh mesh("prod", {kBegin, kBegin + 10 * kDay});
  const auto judgement = judged(mesh, mesh.issued(Role::node), Role::node);
  CHECK(judgement.distrust == Distrust::expired);
  CHECK(judgement.why.find("datum://prod/authority ended at") != std::string::npos);
}

TEST_CASE("crypto: names that a URI could read in two ways are not issued") {
  const Mesh mesh;
  const auto key = mesh.key.public_key();
  for (const auto* name : {"", "a/b", "WEB", "web 1", "web\n", "-,URI:x", ".web"}) {
    const auto made =
        issue(mesh.key, mesh.authority, {Role::node, "prod", name}, key, kYear, random_id());
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == ErrorCode::invalid_argument);
  }
  CHECK_FALSE(issue_authority(mesh.key, "a/b", kYear, random_id()).has_value());
}

TEST_CASE("crypto: an authority issues neither authorities nor for other meshes nor backwards") {
  const Mesh mesh;
  const auto key = mesh.key.public_key();
  const Validity backwards{kYear.not_after_s, kYear.not_before_s};
  CHECK_FALSE(issue(mesh.key, mesh.authority, {Role::authority, "prod", "x"}, key, kYear, {}));
  CHECK_FALSE(issue(mesh.key, mesh.authority, {Role::node, "test", "x"}, key, kYear, {}));
  CHECK_FALSE(issue(mesh.key, mesh.authority, {Role::node, "prod", "x"}, key, backwards, {}));
}

TEST_CASE("crypto: a certificate with any byte changed is read as no certificate of the mesh") {
  const Mesh mesh;
  const auto node = mesh.issued(Role::node);
  std::size_t read = 0;
  for (std::size_t at = 0; at < node.der.size(); ++at) {
    auto changed = node.der;
    changed[at] ^= std::byte{0x41};
    const auto certificate = read_certificate(changed);
    if (!certificate) continue;
    ++read;
    CHECK(judged(mesh, *certificate, Role::node).distrust == Distrust::issuer);
  }
  CHECK(read > 0);  // in signature, key and serial: bytes that parse
}

TEST_CASE("crypto: cut, long and random bytes are no certificate") {
  const Mesh mesh;
  const auto node = mesh.issued(Role::node);
  for (std::size_t size = 0; size < node.der.size(); ++size)
    CHECK_FALSE(read_certificate(ByteView(node.der).first(size)).has_value());
  auto longer = node.der;
  longer.push_back(std::byte{0});
  CHECK_FALSE(read_certificate(longer).has_value());
  const auto huge = read_certificate(Bytes(kMaxCertificate + 1));
  REQUIRE_FALSE(huge);
  CHECK(huge.error().code() == ErrorCode::limit_exceeded);
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    auto changed = node.der;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = std::byte(random());
    const auto certificate = read_certificate(changed);
    if (certificate && changed != node.der)
      CHECK(judged(mesh, *certificate, Role::node).distrust == Distrust::issuer);
  }
}
