#include <algorithm>

#include "datum/codec/link.hpp"
#include "datum/control/state.hpp"

namespace datum::control {
namespace {

using namespace core::control;

template <class Map, class Key>
auto* find_in(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// Events speak of what their writer's state had, so what they name is there; a journal that was
// tampered with may say otherwise, and then the event changes nothing.
class Evolution {
 public:
  Evolution(State& state, const EventPlace& place) : state_(state), place_(place) {}

  void operator()(const PlaneCreated& event) {
    state_.store = event.store;
    state_.mesh = event.mesh;
    state_.mesh_id = event.mesh_id;
  }
  void operator()(const PlaneOpened& event) {
    state_.is_open = true;
    state_.boot = event.boot;
  }
  void operator()(const PlaneRestored& event) {
    state_.restored = event;
    state_.last = {event.epoch, 0};
    state_.last_order = event.order;
    state_.is_open = false;
  }
  void operator()(const NewerSeen& event) {
    if (auto* node = find_in(state_.nodes, event.node)) node->newer = event.accepted;
  }
  void operator()(const NewerAccepted& event) {
    if (auto* node = find_in(state_.nodes, event.node)) node->newer_accepted = event.accepted;
  }
  void operator()(const PlaneClosed&) { state_.is_open = false; }
  void operator()(const KeyMade& event) { state_.keys.push_back(event); }
  void operator()(const TokenMade& event) {
    auto& token = state_.tokens[event.rule.id];
    token = {};
    token.rule = event.rule;
    token.by = event.by;
    token.made = place_.wall;
  }
  void operator()(const TokenWithdrawn& event) {
    if (auto* token = find_in(state_.tokens, event.token)) token->is_withdrawn = true;
  }
  void operator()(const NodeRequested& event) {
    auto& request = state_.requests[event.applicant.fingerprint];
    request = {};
    request.applicant = event.applicant;
    request.at = place_.wall;
  }
  void operator()(const RequestDecided& event) {
    auto* request = find_in(state_.requests, event.fingerprint);
    if (request == nullptr) return;
    request->accepted = event.accepted;
    request->reason = event.reason;
  }
  void operator()(const EnrolmentRefused& event) {
    if (auto* token = find_in(state_.tokens, event.token)) token->refused = event;
  }
  void operator()(const NodeEnrolled& event);
  void operator()(const CertificateIssued& event) {
    auto* node = find_in(state_.nodes, event.node);
    if (node == nullptr) return;
    node->serial = event.serial;
    node->not_after = event.not_after;
  }
  void operator()(const NodeReported& event) {
    auto* node = find_in(state_.nodes, event.node);
    if (node == nullptr) return;
    node->has_reported = true;
    if (auto* token = find_in(state_.tokens, node->self.token))
      for (auto& use : token->uses)
        if (use.key == node->self.fingerprint) use.has_reported = true;
  }
  void operator()(const CredentialEnded& event) {
    auto* node = find_in(state_.nodes, event.node);
    if (node == nullptr) return;
    node->standing = event.standing;
    node->ended = event.reason;
    if (state_.push) state_.push->planned.erase(event.node);
  }
  void operator()(const NodeForgotten& event) {
    state_.nodes.erase(event.node);
    if (state_.push) state_.push->planned.erase(event.node);
    std::erase_if(state_.requests,
                  [&](const auto& each) { return each.second.applicant.node == event.node; });
  }
  void operator()(const StoreReplaced& event) {
    if (auto* node = find_in(state_.nodes, event.node)) node->self.store = event.store;
  }
  void operator()(const PushBegun& event) {
    state_.last = event.generation;
    state_.push = Push{};
    state_.push->begun = event;
    state_.push->at = state_.push->stage_begun = place_.wall;
  }
  void operator()(const PushStaged& event) {
    auto* push = push_of(event.generation);
    if (push == nullptr) return;
    push->stages = event.stages;
    push->soak_ns = event.soak_ns;
    push->allowed_removals = event.allowed_removals;
  }
  void operator()(const PushGuarded& event) {
    auto* push = push_of(event.generation);
    if (push != nullptr) push->revert_unless_linked_ns = event.revert_unless_linked_ns;
  }
  void operator()(const ReleasePlanned& event) {
    if (auto* push = push_of(event.generation)) push->planned[event.node] = event;
  }
  void operator()(const StageBegun& event) {
    auto* push = push_of(event.generation);
    if (push == nullptr) return;
    push->stage = event.stage;
    push->stage_begun = place_.wall;
  }
  void operator()(const PushPaused& event) {
    if (auto* push = push_of(event.generation)) push->paused = event;
  }
  void operator()(const PushResumed& event) {
    auto* push = push_of(event.generation);
    if (push == nullptr) return;
    push->paused.reset();
    push->without.insert(event.without.begin(), event.without.end());
  }
  void operator()(const PushAborted& event) {
    auto* push = push_of(event.generation);
    if (push == nullptr) return;
    push->is_aborted = true;
    push->planned.clear();
  }
  void operator()(const DeclarationReleased& event) {
    auto* node = find_in(state_.nodes, event.node);
    if (node == nullptr) return;
    node->newest = event.generation;
    node->declaration = event.declaration;
    node->manifest = event.manifest;
    node->released = place_.wall;
    if (auto* push = push_of(event.generation)) push->planned.erase(event.node);
  }
  void operator()(const DeclarationAnswered& event);
  void operator()(const StatusChanged& event) {
    auto* node = find_in(state_.nodes, event.node);
    if (node == nullptr) return;
    node->report = event.report;
    node->report_changed = place_.wall;
  }
  void operator()(const OrderIssued& event);
  void operator()(const OrderAnswered& event) {
    auto* node = find_in(state_.nodes, event.node);
    if (node != nullptr && node->order && node->order->number == event.number)
      node->order->answer = event;
  }

 private:
  Push* push_of(const core::Generation& generation) {
    const bool is_it = state_.push && state_.push->begun.generation == generation;
    return is_it ? &*state_.push : nullptr;
  }

  State& state_;
  const EventPlace& place_;
};

void Evolution::operator()(const NodeEnrolled& event) {
  auto& node = state_.nodes[event.applicant.node];
  const bool is_same = node.self.fingerprint == event.applicant.fingerprint;
  if (!is_same) node = {};
  node.self = event.applicant;
  node.standing = Standing::enrolled;
  node.labels = event.labels;
  node.enrolled = place_.wall;
  node.serial = event.serial;
  node.not_after = event.not_after;
  state_.requests.erase(event.applicant.fingerprint);
  auto* token = find_in(state_.tokens, event.applicant.token);
  if (token == nullptr) return;
  const auto is_its = [&](const TokenUse& use) { return use.key == event.applicant.fingerprint; };
  if (std::none_of(token->uses.begin(), token->uses.end(), is_its))
    token->uses.push_back({event.applicant.fingerprint, event.applicant.node, false});
}

void Evolution::operator()(const DeclarationAnswered& event) {
  auto* node = find_in(state_.nodes, event.node);
  if (node == nullptr) return;
  switch (event.step) {
    case core::DeclarationStep::stored:
      node->stored = event.generation;
      break;
    case core::DeclarationStep::accepted:
      node->accepted = event.generation;
      break;
    case core::DeclarationStep::applied:
      node->applied = event.generation;
      break;
    case core::DeclarationStep::rejected:
      node->rejected = event.generation;
      node->rejected_why = event.reason;
      break;
  }
}

void Evolution::operator()(const OrderIssued& event) {
  state_.last_order = event.number;
  auto* node = find_in(state_.nodes, event.node);
  if (node == nullptr) return;
  StandingOrder order{event.number, event.kind, place_.wall, {}, {}, event.by, event.order, {}};
  if (const auto body = codec::decode_order_body(event.order.body)) {
    order.until = body->until;
    order.reason = body->reason;
  }
  node->order = std::move(order);
}

}  // namespace

const Node* State::find_node(const std::string& name) const {
  const auto found = nodes.find(name);
  return found == nodes.end() ? nullptr : &found->second;
}

const Node* State::find_key(const Digest& fingerprint) const {
  for (const auto& [name, node] : nodes)
    if (node.self.fingerprint == fingerprint) return &node;
  return nullptr;
}

void evolve(State& state, const core::control::Event& event, const EventPlace& place) {
  std::visit(Evolution(state, place), event);
  state.seq = place.seq;
}

}  // namespace datum::control
