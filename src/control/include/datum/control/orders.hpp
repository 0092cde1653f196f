// Orders to nodes beside declarations: a hold, and its lift. Whom one is for, what a node answered,
// and who has not yet. The newest order to a node stands for all before it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/control/decide.hpp"
#include "datum/control/state.hpp"

namespace datum::control {

// A hold ends by itself after at most this, if it is to; longer is one without an end.
inline constexpr std::int64_t kMaxHoldNs = 10LL * 366 * 86'400 * kNsPerSecond;
// Of a reason: it stands in a record here and on each node, and in a person's status.
inline constexpr std::size_t kMaxOrderReason = 1'000;

// Whom a person means: exactly one of the three is given.
struct Chosen {
  std::vector<std::string> names;
  bool all = false;
  std::vector<core::Fact> labels;  // nodes that have all of these
};
// Enrolled nodes, in the order of their names, each once; at least one. `invalid_argument` where
// none or more than one way is given, `not_found` for a name that is none or labels that nothing
// has, `conflict` for a node that is no longer enrolled.
[[nodiscard]] Result<std::vector<std::string>> choose_nodes(const State& state,
                                                            const Chosen& chosen);
// Of `nodes`, those that a lift is for: their newest order is a hold. `conflict` where none is.
[[nodiscard]] Result<std::vector<std::string>> held_among(const State& state,
                                                          const std::vector<std::string>& nodes);

// The bodies of an order to each of `nodes`, numbered behind the last one. `limit_exceeded` for a
// reason or a duration beyond the limits, `invalid_argument` for a duration below zero.
struct OrderWish {
  core::OrderKind kind = core::OrderKind::hold;
  std::int64_t for_ns = 0;  // 0: without end
  std::string reason;
  std::string by;
};
[[nodiscard]] Result<std::vector<core::OrderBody>> make_orders(
    const State& state, const std::vector<std::string>& nodes, const OrderWish& wish, WallNs now);

// Nothing for an answer that is known, or to another order than the newest.
[[nodiscard]] Events take_order_answer(const State& state, const std::string& node,
                                       const core::OrderAnswer& answer);

// The order that this node is to be sent, or null: it has answered, or there is none.
[[nodiscard]] const StandingOrder* unanswered_order(const Node& node);

}  // namespace datum::control
