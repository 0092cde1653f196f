#include "datum/control/enrolment.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "datum/base/rfc3339.hpp"
#include "datum/config/glob.hpp"
#include "datum/crypto/certificate.hpp"

namespace datum::control {
namespace {

using core::LinkCause;
using Refusal = std::optional<core::EnrolmentRefusal>;

core::EnrolmentRefusal refuse(LinkCause cause, std::string why, std::string remedy) {
  return {cause, std::move(why), std::move(remedy)};
}

std::string new_token_for(const std::string& names) {
  return "make another one: datum-control token create --names " + names;
}

Refusal check_version_and_key(const core::EnrolmentRequest& request, const EnrolmentScene& scene) {
  if (request.version == 0)
    return refuse(LinkCause::version, "the request has no version of the protocol",
                  "install a released version of datum-host on the machine");
  if (!scene.is_proved)
    return refuse(LinkCause::key_unproved,
                  "the request was not signed by the key that it shows, for this connection",
                  "run datum enrol again; if it stays, something between the two changes bytes");
  return {};
}

Refusal check_clock(const core::EnrolmentRequest& request, WallNs now) {
  // Without overflow for any two clocks: compared in seconds.
  const auto apart_s = std::llabs(request.now.ns / kNsPerSecond - now.ns / kNsPerSecond);
  if (apart_s <= kMostClockDifferenceNs / kNsPerSecond) return {};
  return refuse(LinkCause::clock,
                "the machine's clock says " + format_rfc3339(request.now) + ", here it is " +
                    format_rfc3339(now),
                "set the clock of the one that is wrong; certificates need both within an hour");
}

const TokenUse* find_use(const TokenState& token, const Digest& key) {
  const auto found = std::find_if(token.uses.begin(), token.uses.end(),
                                  [&](const TokenUse& use) { return use.key == key; });
  return found == token.uses.end() ? nullptr : &*found;
}

Refusal check_token(const EnrolmentScene& scene) {
  if (scene.token == nullptr)
    return refuse(LinkCause::token_unknown, "this control plane knows no such token",
                  "copy the whole token, or " + new_token_for("NAME"));
  const auto& rule = scene.token->rule;
  const auto again = new_token_for(rule.names);
  if (scene.token->is_withdrawn)
    return refuse(LinkCause::token_unknown, "token " + rule.id + " was withdrawn", again);
  if (scene.now > rule.expires)
    return refuse(LinkCause::token_expired,
                  "token " + rule.id + " ended at " + format_rfc3339(rule.expires), again);
  if (rule.is_multi_use || scene.token->uses.empty()) return {};
  const auto* own = find_use(*scene.token, scene.key);
  if (own != nullptr && !own->has_reported) return {};
  return refuse(LinkCause::token_used,
                "token " + rule.id + " was used by " + scene.token->uses.front().node, again);
}

Refusal check_key(const KnownNode* known) {
  if (known == nullptr || known->standing == Standing::enrolled) return {};
  const bool is_revoked = known->standing == Standing::revoked;
  return refuse(is_revoked ? LinkCause::revoked : LinkCause::retired,
                "this machine's key is that of " + known->name + ", which was " +
                    (is_revoked ? "revoked" : "retired"),
                "let the machine make a new key: datum enrol --new-key TOKEN");
}

Refusal check_name(const std::string& name, const EnrolmentScene& scene) {
  const auto& rule = scene.token->rule;
  if (!crypto::is_name(name))
    return refuse(LinkCause::name_refused,
                  "'" + name + "' is no name of a node: 1 to 63 of a-z, 0-9, '-', '.', '_'",
                  "give one: datum enrol --name NAME TOKEN");
  if (!config::matches(rule.names, name))
    return refuse(LinkCause::name_refused,
                  "token " + rule.id + " is for names like " + rule.names + ", not for " + name,
                  "give another name: datum enrol --name NAME TOKEN, or " + new_token_for(name));
  if (scene.with_name == nullptr || scene.with_name->key == scene.key) return {};
  const bool is_revoked = scene.with_name->standing == Standing::revoked;
  return refuse(LinkCause::name_taken,
                "another machine is or was " + name + (is_revoked ? ", and was revoked" : ""),
                "give another name: datum enrol --name NAME TOKEN; or, if that machine is gone: "
                "datum-control nodes forget " +
                    name);
}

// "datum/os" and "os" are one fact, as in profiles of fleets.
std::string_view plain_name(std::string_view fact) {
  constexpr std::string_view kReserved = "datum/";
  if (fact.starts_with(kReserved)) fact.remove_prefix(kReserved.size());
  return fact;
}

Refusal check_profile(const core::EnrolmentRequest& request, const TokenRule& rule) {
  for (const auto& wanted : rule.required) {
    const auto found = std::find_if(
        request.profile.begin(), request.profile.end(),
        [&](const core::Fact& fact) { return plain_name(fact.name) == plain_name(wanted.name); });
    const bool is_there = found != request.profile.end();
    if (is_there && found->value == wanted.value) continue;
    return refuse(LinkCause::profile_refused,
                  "token " + rule.id + " wants " + wanted.name + " " + wanted.value +
                      ", the machine has " + (is_there ? found->value : "none"),
                  "use a token for such machines: datum-control token create");
  }
  return {};
}

// A node that comes again with its key keeps the name it was given: a key has one name.
std::string name_for(const core::EnrolmentRequest& request, const EnrolmentScene& scene) {
  if (scene.with_key != nullptr) return scene.with_key->name;
  if (const auto* own = find_use(*scene.token, scene.key)) return own->node;
  return name_of(request);
}

}  // namespace

std::string name_of(const core::EnrolmentRequest& request) {
  if (!request.wanted_name.empty()) return request.wanted_name;
  for (const auto& fact : request.profile)
    if (plain_name(fact.name) == "hostname") return fact.value;
  return {};
}

EnrolmentDecision decide_enrolment(const core::EnrolmentRequest& request,
                                   const EnrolmentScene& scene) {
  if (auto refusal = check_version_and_key(request, scene)) return *refusal;
  if (auto refusal = check_token(scene)) return *refusal;
  if (auto refusal = check_clock(request, scene.now)) return *refusal;
  if (auto refusal = check_key(scene.with_key)) return *refusal;
  const auto name = name_for(request, scene);
  if (auto refusal = check_name(name, scene)) return *refusal;
  if (auto refusal = check_profile(request, scene.token->rule)) return *refusal;
  if (scene.token->rule.is_by_hand && !scene.was_accepted) return AwaitsPerson{name};
  return Granted{name, scene.token->rule.labels};
}

}  // namespace datum::control
