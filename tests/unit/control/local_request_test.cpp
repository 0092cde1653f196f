// What commands ask: both directions, and what is no request.
#include "datum/control/local_request.hpp"

#include <catch2/catch.hpp>

#include "datum/crypto/digest.hpp"

using namespace datum;
using namespace datum::control;

TEST_CASE("control: a request of a command is read as it was written") {
  LocalRequest request;
  request.verb = LocalVerb::push;
  request.command_line = "datum-control push";
  request.json = request.colour = request.multi = request.by_hand = true;
  request.width = 120;
  request.target = "web-1";
  request.reason = "because \"so\"\n";
  request.names = "web-*";
  request.ttl_ns = 5;
  request.required = {{"os", "debian"}};
  request.labels = {{"role", "web"}, {"site", ""}};
  request.nodes = {"web-1", "b"};
  request.all = true;
  request.for_ns = 13;
  request.silent_ns = 17;
  request.source = "fleet /srv/fleet";
  request.revision = "abc";
  request.allow_removals = 7;
  request.stages = "1,10%";
  request.soak_ns = 11;
  request.revert_unless_linked_ns = 19;
  request.manifests = {{"web-1", crypto::sha256(as_bytes("m")), 9}};
  const auto read = parse_request(encode_request(request));
  REQUIRE(read);
  CHECK(*read == request);
  CHECK(*parse_request(encode_request(LocalRequest{})) == LocalRequest{});
}

TEST_CASE("control: what is no request is refused, whatever it is") {
  for (const auto* text :
       {"", "x", "[]", "{}", R"({"verb":"fly"})", R"({"verb":"nodes","more":1})",
        R"({"verb":"nodes","json":"yes"})", R"({"verb":"nodes","width":-1})",
        R"({"verb":"push","manifests":[{"node":"a"}]})",
        R"({"verb":"push","manifests":[{"node":"a","manifest":"zz","bytes":1}]})",
        R"({"verb":"nodes","required":{"a":1}})", R"({"verb":"hold","nodes":[1]})",
        R"({"verb":"hold","nodes":"web-1"})", R"({"verb":"hold","for":"1h"})",
        R"({"verb":"push","allowRemovals":4294967296})"}) {
    INFO(text);
    CHECK_FALSE(parse_request(text).has_value());
  }
}

TEST_CASE("control: profiles of nodes are read as they were written") {
  const std::vector<NodeProfile> profiles{{"web-1", {{"datum/os", "debian"}}, {{"role", "web"}}},
                                          {"web-2", {}, {}}};
  const auto read = parse_profiles(encode_profiles(profiles));
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK((*read)[0].node == "web-1");
  CHECK((*read)[0].profile == profiles[0].profile);
  CHECK((*read)[0].labels == profiles[0].labels);
}
