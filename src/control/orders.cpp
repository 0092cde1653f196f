#include "datum/control/orders.hpp"

#include <algorithm>
#include <set>

namespace datum::control {
namespace {

bool has_labels(const Node& node, const std::vector<core::Fact>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const core::Fact& fact) {
    return std::find(node.labels.begin(), node.labels.end(), fact) != node.labels.end();
  });
}

bool is_held(const State& state, const std::string& name) {
  const auto* node = state.find_node(name);
  return node != nullptr && node->order && node->order->kind == core::OrderKind::hold;
}

Status check_named(const State& state, const std::string& name) {
  const auto* node = state.find_node(name);
  if (node == nullptr)
    return fail(ErrorCode::not_found,
                name + ": no such node; `datum-control nodes` lists those that are known");
  if (node->standing == Standing::enrolled) return {};
  return fail(ErrorCode::conflict,
              name + " is " + std::string(to_string(node->standing)) + ": it takes no orders");
}

}  // namespace

Result<std::vector<std::string>> choose_nodes(const State& state, const Chosen& chosen) {
  const int ways =
      (chosen.names.empty() ? 0 : 1) + (chosen.all ? 1 : 0) + (chosen.labels.empty() ? 0 : 1);
  if (ways != 1)
    return fail(ErrorCode::invalid_argument,
                "say for whom in one way: names of nodes, --label NAME=VALUE, or --all");
  const std::set<std::string> names(chosen.names.begin(), chosen.names.end());
  for (const auto& name : names) DATUM_TRY(check_named(state, name));
  if (!names.empty()) return std::vector<std::string>(names.begin(), names.end());
  std::vector<std::string> nodes;
  for (const auto& [name, node] : state.nodes)
    if (node.standing == Standing::enrolled && has_labels(node, chosen.labels))
      nodes.push_back(name);
  if (!nodes.empty()) return nodes;
  return fail(ErrorCode::not_found,
              chosen.all ? "no node is enrolled" : "no enrolled node has these labels");
}

Result<std::vector<std::string>> held_among(const State& state,
                                            const std::vector<std::string>& nodes) {
  std::vector<std::string> held;
  for (const auto& node : nodes)
    if (is_held(state, node)) held.push_back(node);
  if (!held.empty()) return held;
  return fail(ErrorCode::conflict,
              (nodes.size() == 1 ? nodes.front() + " is not held" : "none of them is held") +
                  " from here; a hold that was set on a machine is lifted there");
}

namespace {

// A hold beside one that ends later, or never, takes nothing from it: a lift does.
WallNs later_end(const State& state, const std::string& name, WallNs until) {
  const auto* node = state.find_node(name);
  if (!is_held(state, name)) return until;
  const auto stands = node->order->until;
  return until.ns == 0 || stands.ns == 0 ? WallNs{} : std::max(until, stands);
}

}  // namespace

Result<std::vector<core::OrderBody>> make_orders(const State& state,
                                                 const std::vector<std::string>& nodes,
                                                 const OrderWish& wish, WallNs now) {
  if (wish.for_ns < 0) return fail(ErrorCode::invalid_argument, "--for is below zero");
  if (wish.for_ns > kMaxHoldNs)
    return fail(ErrorCode::limit_exceeded,
                "--for is ten years at most: without it a hold has no end");
  if (wish.reason.size() > kMaxOrderReason)
    return fail(ErrorCode::limit_exceeded, "--reason is 1000 bytes at most");
  std::vector<core::OrderBody> bodies;
  auto number = state.last_order;
  for (const auto& node : nodes) {
    core::OrderBody body;
    body.mesh = state.mesh;
    body.node = node;
    body.number = ++number;
    body.kind = wish.kind;
    body.issued = now;
    if (wish.for_ns != 0) body.until = WallNs{now.ns + wish.for_ns};
    if (wish.kind == core::OrderKind::hold) body.until = later_end(state, node, body.until);
    body.reason = wish.reason;
    body.by = wish.by;
    bodies.push_back(std::move(body));
  }
  return bodies;
}

Events take_order_answer(const State& state, const std::string& node,
                         const core::OrderAnswer& answer) {
  const auto* known = state.find_node(node);
  const auto* order = known == nullptr ? nullptr : unanswered_order(*known);
  if (order == nullptr || order->number != answer.number) return {};
  return {core::control::OrderAnswered{node, answer.number, answer.carried_out, answer.at,
                                       answer.reason.substr(0, kMaxOrderReason)}};
}

const StandingOrder* unanswered_order(const Node& node) {
  return node.order && !node.order->answer ? &*node.order : nullptr;
}

}  // namespace datum::control
