// Requests over the local socket: what one end writes the other reads, and nothing else.
#include "datum/host/local_request.hpp"

#include <catch2/catch.hpp>

#include "datum/host/local_end.hpp"

namespace {

using namespace datum;
using namespace datum::host;

LocalRequest full() {
  LocalRequest request;
  request.verb = LocalVerb::reconcile;
  request.state = "/var/lib/datum";
  request.command_line = "datum reconcile";
  request.has_manifest = request.has_plan = true;
  request.source = "fleet /srv/fleet";
  request.mode = core::Mode::enforce;
  request.allow_removals = 4'000'000'000U;
  request.retry = request.json = request.all = request.colour = request.lift = true;
  request.width = 1'000'000;
  request.target = "/srv/\xff\"\n name";
  request.reason = "a \"reason\"";
  request.until = WallNs{1'700'000'000'000'000'001};
  return request;
}

ErrorCode refused(const std::string& text) {
  const auto parsed = parse_request(text);
  return parsed ? ErrorCode::internal : parsed.error().code();
}

}  // namespace

TEST_CASE("request: what is encoded is read back, whatever bytes a target has") {
  CHECK(parse_request(encode_request(full())).value() == full());
  CHECK(parse_request(encode_request({})).value() == LocalRequest{});
  for (const auto verb :
       {LocalVerb::observe, LocalVerb::reconcile, LocalVerb::acknowledge, LocalVerb::keep,
        LocalVerb::hold, LocalVerb::reload, LocalVerb::facts, LocalVerb::revert, LocalVerb::archive,
        LocalVerb::adopt, LocalVerb::remove}) {
    LocalRequest request;
    request.verb = verb;
    request.pass = verb == LocalVerb::revert ? 7 : 0;
    request.through = verb == LocalVerb::archive ? 9 : 0;
    CHECK(parse_request(encode_request(request)).value() == request);
    CHECK(parse_request(encode_request(request))->verb == verb);
  }
}

TEST_CASE("request: what is not known, of another kind or out of range is refused") {
  for (const auto* text :
       {"", "1", "[]", "{", R"({})", R"({"verb":"shutdown"})", R"({"verb":1})",
        R"({"verb":"facts","more":1})", R"({"verb":"facts","retry":"true"})",
        R"({"verb":"facts","allowRemovals":-1})", R"({"verb":"facts","allowRemovals":4294967296})",
        R"({"verb":"facts","mode":"Enforce"})", R"({"verb":"facts","target":"0"})",
        R"({"verb":"facts","target":"0g"})", R"({"verb":"facts","width":1.5})",
        R"({"verb":"facts","verb":"facts"})",
        R"({"verb":"facts"} )"
        "x"}) {
    INFO(text);
    CHECK(refused(text) == ErrorCode::invalid_argument);
  }
  CHECK(refused("{\"verb\":\"facts\",\"reason\":\"" + std::string(kMaxLocalRequest, 'x') + "\"}") ==
        ErrorCode::invalid_argument);
}

TEST_CASE("request: what means nothing with its verb is refused by its name") {
  const auto words = [](const char* text) { return parse_request(text).error().message(); };
  CHECK(words(R"({"verb":"revert"})") == "pass is missing");
  CHECK(words(R"({"verb":"archive","pass":3})") == "pass means nothing with archive");
  CHECK(words(R"({"verb":"keep","through":3})") == "through means nothing with keep");
  CHECK(words(R"({"verb":"revert","pass":3,"hasPlan":true})") ==
        "hasPlan means nothing with revert");
  CHECK(words(R"({"verb":"hold","hasManifest":true})") == "hasManifest means nothing with hold");
  CHECK(words(R"({"verb":"revert","pass":-3})") == "pass is out of its range");
}

TEST_CASE("request: no member can ask for more than --mode of a command could") {
  const auto request = parse_request(R"({"verb":"observe","mode":"enforce"})");
  REQUIRE(request);
  CHECK(request->verb == LocalVerb::observe);  // which is a pass in observe, whatever the mode says
}

TEST_CASE("answer: the exit code is one of a process") {
  for (const int code : {0, 1, 2, 3, 4, 255}) CHECK(parse_end(encode_end(code)).value() == code);
  CHECK_FALSE(parse_end(R"({"exit":256})"));
  CHECK_FALSE(parse_end(R"({"exit":-1})"));
  CHECK_FALSE(parse_end("0"));
}

TEST_CASE("facts: what the service knows is read back") {
  const ServiceFacts facts{"disk full", "no fleet", "line 1", 30, WallNs{5}, true};
  CHECK(parse_facts(encode_facts(facts)).value() == facts);
  CHECK(parse_facts(encode_facts({})).value() == ServiceFacts{});
  CHECK_FALSE(parse_facts(R"({"passRuns":1})"));
}
