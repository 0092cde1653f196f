#include "datum/control/decide.hpp"

#include <algorithm>

#include "datum/base/rfc3339.hpp"
#include "datum/crypto/certificate.hpp"

namespace datum::control {
namespace {

using namespace core::control;

Error unknown_node(const std::string& node) {
  return {ErrorCode::not_found,
          node + ": no such node; `datum-control nodes` lists those that are known"};
}

bool is_open(const TokenState& token, WallNs now) {
  return !token.is_withdrawn && now <= token.rule.expires;
}

// Those that wait, with that name or a fingerprint that begins so.
std::vector<const Request*> find_requests(const State& state, const std::string& which) {
  constexpr std::size_t kLeastDigits = 8;
  std::vector<const Request*> found;
  for (const auto& [key, request] : state.requests) {
    if (request.accepted) continue;
    const bool is_named = request.applicant.node == which;
    const bool is_key = which.size() >= kLeastDigits && key.hex().starts_with(which);
    if (is_named || is_key) found.push_back(&request);
  }
  return found;
}

}  // namespace

Events create_plane(const Creation& creation) {
  return {PlaneCreated{creation.store, creation.mesh, creation.mesh_id, creation.version},
          creation.authority, creation.signer};
}

Events open_plane(const State& state, const Id128& boot, std::string version) {
  auto last_end = core::LastEnd::clean;
  if (state.boot.empty())
    last_end = core::LastEnd::created;
  else if (state.is_open)
    last_end = state.boot == boot ? core::LastEnd::crashed : core::LastEnd::rebooted;
  return {PlaneOpened{boot, std::move(version), last_end}};
}

static bool is_name_glob(std::string_view names) {
  constexpr std::size_t kLongest = 63;  // of a node's name
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._*?";
  return !names.empty() && names.size() <= kLongest &&
         names.find_first_not_of(kLetters) == std::string_view::npos;
}

Result<Events> make_token(const State& state, const TokenRule& rule, core::Actor by, WallNs now) {
  const auto refuse = [](std::string why) {
    return fail(ErrorCode::invalid_argument, std::move(why));
  };
  if (!is_name_glob(rule.names))
    return refuse("--names " + rule.names +
                  ": a pattern over names has 1 to 63 of a-z, 0-9, - . _ * ?");
  if (rule.expires <= now) return refuse("the token would be over before it is used");
  if (rule.expires.ns - now.ns > kMaxTokenLifeNs)
    return refuse("a token lives a year at most: give a shorter --ttl");
  if (state.tokens.count(rule.id) != 0)
    return fail(ErrorCode::conflict, "token " + rule.id + " is there already");
  const auto open = std::count_if(state.tokens.begin(), state.tokens.end(),
                                  [&](const auto& each) { return is_open(each.second, now); });
  if (static_cast<std::size_t>(open) >= kMaxTokens)
    return fail(
        ErrorCode::limit_exceeded,
        "there are 1000 open tokens: `datum-control token withdraw` those that nobody uses");
  return Events{TokenMade{rule, std::move(by)}};
}

Result<Events> withdraw_token(const State& state, const std::string& id, core::Actor by) {
  const auto found = state.tokens.find(id);
  if (found == state.tokens.end())
    return fail(ErrorCode::not_found,
                id + ": no such token; `datum-control token list` has their ids");
  if (found->second.is_withdrawn)
    return fail(ErrorCode::conflict, "token " + id + " was withdrawn already");
  return Events{TokenWithdrawn{id, std::move(by)}};
}

Result<Events> decide_request(const State& state, const std::string& which, bool accept,
                              std::string reason, core::Actor by) {
  const auto found = find_requests(state, which);
  if (found.empty())
    return fail(ErrorCode::not_found,
                which + ": no such machine waits; `datum-control nodes` lists those that do");
  if (found.size() > 1)
    return fail(ErrorCode::conflict,
                std::to_string(found.size()) + " machines want to be " + which +
                    ": name the fingerprint of the right one's key (`datum-control nodes`)");
  const auto& applicant = found.front()->applicant;
  return Events{RequestDecided{applicant.node, applicant.fingerprint, accept, std::move(reason),
                               std::move(by)}};
}

Result<Events> revoke(const State& state, const std::string& node, std::string reason,
                      core::Actor by) {
  const auto* known = state.find_node(node);
  if (known == nullptr) return fail(unknown_node(node));
  if (known->standing != Standing::enrolled)
    return fail(ErrorCode::conflict, node + " is " + std::string(to_string(known->standing)) +
                                         " already: `datum-control nodes forget " + node +
                                         "` frees its name");
  return Events{CredentialEnded{node, Standing::revoked, std::move(reason), std::move(by)}};
}

Result<Events> forget(const State& state, const std::string& node, core::Actor by) {
  const bool waits =
      std::any_of(state.requests.begin(), state.requests.end(),
                  [&](const auto& each) { return each.second.applicant.node == node; });
  if (!waits && state.find_node(node) == nullptr) return fail(unknown_node(node));
  return Events{NodeForgotten{node, std::move(by)}};
}

std::optional<core::Goodbye> check_credential(const State& state, const std::string& node,
                                              const crypto::PublicKey& key) {
  const auto refuse = [](core::LinkCause cause, std::string why) {
    core::Goodbye goodbye;
    goodbye.cause = cause;
    goodbye.why = std::move(why);
    return goodbye;
  };
  const auto* known = state.find_node(node);
  if (known == nullptr || known->self.fingerprint != key.fingerprint())
    return refuse(core::LinkCause::revoked,
                  "no node " + node + " with this key is known here: enrol this machine again");
  if (known->standing == Standing::revoked)
    return refuse(core::LinkCause::revoked, node + " was revoked: " + known->ended);
  if (known->standing == Standing::retired)
    return refuse(core::LinkCause::retired, node + " was retired: " + known->ended);
  return std::nullopt;
}

Events restore_plane(const State& state, core::Actor by, WallNs now) {
  // More than anybody gives between two backups.
  constexpr std::uint64_t kOrdersBetween = 1'000'000;
  // A second restore of the same backup knows nothing of the first, and nodes may have got
  // generations and orders of it: so both begin at the time of the restore. The epoch is in seconds
  // since 1970, an order's number in their thousandths: nobody gives a thousand orders a second. A
  // clock that stands before the backup still gives more than the backup knows.
  constexpr std::uint64_t kOrdersPerSecond = 1'000;
  const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(now.ns, 0) / kNsPerSecond);
  const auto epoch = std::max(std::max<std::uint64_t>(state.last.epoch, 1) + 1, seconds);
  const auto order = std::max(state.last_order + kOrdersBetween, seconds * kOrdersPerSecond);
  return {PlaneRestored{state.last, epoch, order, std::move(by)}};
}

Newer check_newer(const State& state, const std::string& node, const core::Generation& accepted) {
  const auto* known = state.find_node(node);
  if (!state.restored || known == nullptr || accepted.epoch >= state.restored->epoch) return {};
  if (accepted <= state.restored->last || accepted <= known->newer_accepted) return {};
  if (known->newer == accepted) return {true, {}};
  return {true, {NewerSeen{node, accepted}}};
}

Result<Events> accept_newer(const State& state, const std::string& node, core::Actor by) {
  const auto* known = state.find_node(node);
  if (known == nullptr || known->newer <= known->newer_accepted)
    return fail(ErrorCode::not_found,
                node + ": no such machine waits; `datum-control nodes` lists those that do");
  return Events{NewerAccepted{node, known->newer, std::move(by)}};
}

Events greet(const State& state, const std::string& node, const core::Hello& hello) {
  const auto* known = state.find_node(node);
  if (known == nullptr || known->self.store == hello.store) return {};
  return {StoreReplaced{node, hello.store}};
}

Events hear(const State& state, const std::string& node, const core::Heartbeat& heartbeat) {
  const auto* known = state.find_node(node);
  if (known == nullptr) return {};
  Events events;
  if (!known->has_reported) events.emplace_back(NodeReported{node});
  const NodeReport report{heartbeat.accepted,     heartbeat.lifecycle,   heartbeat.mode,
                          heartbeat.condition,    heartbeat.flags,       heartbeat.counts,
                          heartbeat.host_version, heartbeat.upgrading_to};
  if (known->report != report) events.emplace_back(StatusChanged{node, report});
  return events;
}

Events take_answer(const State& state, const std::string& node,
                   const core::DeclarationAnswer& answer) {
  const auto* known = state.find_node(node);
  if (known == nullptr || known->newest < answer.generation) return {};
  const auto& before = answer.step == core::DeclarationStep::stored     ? known->stored
                       : answer.step == core::DeclarationStep::accepted ? known->accepted
                       : answer.step == core::DeclarationStep::applied  ? known->applied
                                                                        : known->rejected;
  if (answer.generation <= before) return {};
  constexpr std::size_t kMaxReason = 4096;  // of a rejection: people read it
  return {DeclarationAnswered{node, answer.generation, answer.step, answer.at,
                              answer.reason.substr(0, kMaxReason)}};
}

}  // namespace datum::control
