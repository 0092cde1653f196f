// A request becomes a decision and the events that follow from it.
#include <algorithm>

#include "datum/control/decide.hpp"

namespace datum::control {
namespace {

using namespace core::control;

std::optional<KnownNode> known(const Node* node) {
  if (node == nullptr) return std::nullopt;
  return KnownNode{node->self.node, node->self.fingerprint, node->standing};
}

std::optional<core::EnrolmentRefusal> check_facts(const std::vector<core::Fact>& facts,
                                                  const std::string& what) {
  std::size_t bytes = 0;
  for (const auto& fact : facts) bytes += fact.name.size() + fact.value.size();
  if (bytes <= kMaxFactBytes && facts.size() <= kMaxFacts) return std::nullopt;
  return core::EnrolmentRefusal{core::LinkCause::profile_refused,
                                "the " + what + " has " + std::to_string(facts.size()) +
                                    " facts of " + std::to_string(bytes) +
                                    " bytes; 512 of 24576 bytes in all are taken",
                                "install a released version of datum-host on the machine"};
}

Applicant applicant_of(const Enrol& wanted, const Digest& fingerprint, std::string node) {
  const auto& request = wanted.request;
  return {std::move(node),      request.key,   fingerprint,     wanted.token_id,  wanted.address,
          request.host_version, request.store, request.profile, request.inventory};
}

// Only those who have a good token's secret may write into the journal, and each thing once: a
// machine comes from another port each time.
Events say_refusal(const TokenState& token, EnrolmentRefused refused) {
  auto before = token.refused;
  if (before) before->address = refused.address;
  if (before == refused) return {};
  return {std::move(refused)};
}

Enrolment judge_request(const State& state, const Enrol& wanted, const TokenState* token,
                        const Digest& fingerprint) {
  const auto with_key = known(state.find_key(fingerprint));
  const auto with_name =
      known(state.find_node(with_key ? with_key->name : name_of(wanted.request)));
  const auto request = state.requests.find(fingerprint);
  const bool is_asked = request != state.requests.end();
  EnrolmentScene scene;
  scene.token = token;
  scene.with_name = with_name ? &*with_name : nullptr;
  scene.with_key = with_key ? &*with_key : nullptr;
  scene.key = fingerprint;
  scene.is_proved = wanted.is_proved;
  // Who is a node already was accepted once: only its answer was lost.
  scene.was_accepted = with_key || (is_asked && request->second.accepted.value_or(false));
  scene.now = wanted.now;
  Enrolment made{decide_enrolment(wanted.request, scene), {}};
  if (!std::holds_alternative<AwaitsPerson>(made.decision)) return made;
  if (is_asked && request->second.accepted == false)
    made.decision = core::EnrolmentRefusal{
        core::LinkCause::by_person,
        "it was refused here" +
            (request->second.reason.empty() ? "" : ": " + request->second.reason),
        "ask whoever runs the control plane; `datum-control nodes forget` lets it ask again"};
  return made;
}

}  // namespace

Enrolment enrol(const State& state, const Enrol& wanted) {
  const auto key = crypto::PublicKey::from_bytes(wanted.request.key);
  const auto fingerprint = key ? key->fingerprint() : Digest{};
  const auto found = state.tokens.find(wanted.token_id);
  const bool is_right =
      found != state.tokens.end() && found->second.rule.secret_hash == wanted.secret_hash;
  const auto* token = is_right ? &found->second : nullptr;
  auto made = judge_request(state, wanted, token, fingerprint);
  for (const auto* facts : {&wanted.request.profile, &wanted.request.inventory}) {
    if (std::holds_alternative<core::EnrolmentRefusal>(made.decision)) break;
    const auto* what = facts == &wanted.request.profile ? "profile" : "inventory";
    if (auto refusal = check_facts(*facts, what)) made.decision = std::move(*refusal);
  }
  if (const auto* refusal = std::get_if<core::EnrolmentRefusal>(&made.decision)) {
    if (token != nullptr && wanted.is_proved)
      made.events =
          say_refusal(*token, {wanted.token_id, name_of(wanted.request).substr(0, 255), fingerprint,
                               wanted.address, refusal->cause, refusal->why.substr(0, 4096)});
  } else if (const auto* granted = std::get_if<Granted>(&made.decision)) {
    made.events = {NodeEnrolled{applicant_of(wanted, fingerprint, granted->node), granted->labels,
                                wanted.serial, wanted.not_after}};
  } else if (state.requests.count(fingerprint) == 0) {
    if (state.requests.size() >= kMaxRequests)
      made.decision = core::EnrolmentRefusal{
          core::LinkCause::busy, "256 machines wait for a person's word already",
          "ask whoever runs the control plane to judge them: datum-control nodes"};
    else
      made.events = {NodeRequested{
          applicant_of(wanted, fingerprint, std::get<AwaitsPerson>(made.decision).node)}};
  }
  return made;
}

}  // namespace datum::control
