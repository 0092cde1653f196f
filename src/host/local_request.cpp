#include "datum/host/local_request.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "datum/base/bytes.hpp"
#include "datum/text/json_members.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::host {
namespace {

constexpr std::array<std::pair<LocalVerb, std::string_view>, 12> kVerbs{{
    {LocalVerb::observe, "observe"},
    {LocalVerb::reconcile, "reconcile"},
    {LocalVerb::acknowledge, "acknowledge"},
    {LocalVerb::keep, "keep"},
    {LocalVerb::hold, "hold"},
    {LocalVerb::reload, "reload"},
    {LocalVerb::facts, "facts"},
    {LocalVerb::enrol, "enrol"},
    {LocalVerb::revert, "revert"},
    {LocalVerb::archive, "archive"},
    {LocalVerb::adopt, "adopt"},
    {LocalVerb::remove, "remove"},
}};

// A path may hold any bytes, and a JSON string may not.
std::optional<std::string> find_bytes(std::string_view hex) {
  const auto digit = [](char letter) {
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                            : -1;
  };
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const int high = digit(hex[at]), low = digit(hex[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

Result<text::JsonValue> read_message(std::string_view text) {
  const text::JsonLimits limits{kMaxLocalRequest, 4, 200};
  auto value = text::read_json(text, limits);
  if (!value) return fail(ErrorCode::invalid_argument, value.error().message());
  return value;
}

// What is asked for and means nothing there was meant for something else.
void check_verb(const LocalRequest& request, text::JsonMembers& members) {
  const auto verb = request.verb;
  const bool passes = verb == LocalVerb::observe || verb == LocalVerb::reconcile;
  const auto say = [&](bool is_there, bool may_be, std::string_view name) {
    if (is_there && !may_be)
      members.add_fault(name, "means nothing with " + std::string(to_string(verb)));
  };
  say(request.has_manifest, passes, "hasManifest");
  say(request.has_plan, verb == LocalVerb::reconcile, "hasPlan");
  say(request.pass != 0, verb == LocalVerb::revert, "pass");
  say(request.through != 0, verb == LocalVerb::archive, "through");
  if (verb == LocalVerb::revert && request.pass == 0) members.add_fault("pass", "is missing");
}

}  // namespace

std::string_view to_string(LocalVerb verb) {
  for (const auto& [each, name] : kVerbs)
    if (each == verb) return name;
  return "?";
}

std::string encode_request(const LocalRequest& request) {
  text::JsonWriter json;
  json.begin_object()
      .member("verb", to_string(request.verb))
      .member("state", request.state)
      .member("commandLine", request.command_line)
      .member("hasManifest", request.has_manifest)
      .member("source", request.source);
  if (request.mode) json.member("mode", core::to_string(*request.mode));
  json.member("allowRemovals", request.allow_removals)
      .member("retry", request.retry)
      .member("json", request.json)
      .member("all", request.all)
      .member("colour", request.colour)
      .member("width", request.width);
  json.member("target", to_hex(as_bytes(request.target)))
      .member("reason", request.reason)
      .member("until", request.until.ns)
      .member("lift", request.lift);
  if (request.has_plan) json.member("hasPlan", true);
  if (request.pass != 0) json.member("pass", request.pass);
  if (request.through != 0) json.member("through", request.through);
  if (request.verb == LocalVerb::enrol)
    json.member("token", request.token)
        .member("control", request.control)
        .member("name", request.name)
        .member("newKey", request.new_key);
  json.end_object();
  return json.take();
}

Result<LocalRequest> parse_request(std::string_view text) {
  DATUM_ASSIGN(const auto message, read_message(text));
  text::JsonMembers members(message);
  LocalRequest request;
  std::string verb, mode, target;
  members.take("verb", verb);
  members.take("state", request.state);
  members.take("commandLine", request.command_line);
  members.take("hasManifest", request.has_manifest);
  members.take("source", request.source);
  members.take("mode", mode);
  members.take("allowRemovals", request.allow_removals);
  members.take("retry", request.retry);
  members.take("json", request.json);
  members.take("all", request.all);
  members.take("colour", request.colour);
  members.take("width", request.width);
  members.take("target", target);
  members.take("reason", request.reason);
  members.take("until", request.until.ns);
  members.take("lift", request.lift);
  members.take("hasPlan", request.has_plan);
  members.take("pass", request.pass);
  members.take("through", request.through);
  members.take("token", request.token);
  members.take("control", request.control);
  members.take("name", request.name);
  members.take("newKey", request.new_key);
  const auto known = std::find_if(kVerbs.begin(), kVerbs.end(),
                                  [&verb](const auto& each) { return each.second == verb; });
  if (known == kVerbs.end())
    members.add_fault("verb", "is not known");
  else
    request.verb = known->first;
  if (mode == "observe" || mode == "enforce")
    request.mode = mode == "enforce" ? core::Mode::enforce : core::Mode::observe;
  else if (!mode.empty())
    members.add_fault("mode", "is not known");
  if (auto bytes = find_bytes(target))
    request.target = std::move(*bytes);
  else
    members.add_fault("target", "is not hexadecimal");
  check_verb(request, members);
  DATUM_TRY(members.end());
  return request;
}

std::string encode_facts(const ServiceFacts& facts) {
  text::JsonWriter json;
  json.begin_object()
      .member("unrecorded", facts.unrecorded)
      .member("problem", facts.problem)
      .member("rejected", facts.rejected)
      .member("interval", facts.interval_ns)
      .member("nextBeat", facts.next_beat.ns)
      .member("passRuns", facts.pass_runs)
      .member("link", facts.link)
      .end_object();
  return json.take();
}

Result<ServiceFacts> parse_facts(std::string_view text) {
  DATUM_ASSIGN(const auto message, read_message(text));
  text::JsonMembers members(message);
  ServiceFacts facts;
  members.take("unrecorded", facts.unrecorded);
  members.take("problem", facts.problem);
  members.take("rejected", facts.rejected);
  members.take("interval", facts.interval_ns);
  members.take("nextBeat", facts.next_beat.ns);
  members.take("passRuns", facts.pass_runs);
  members.take("link", facts.link);
  DATUM_TRY(members.end());
  return facts;
}

}  // namespace datum::host
