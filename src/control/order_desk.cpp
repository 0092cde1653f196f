// Orders of people: to whom, signed where the node asks for it, recorded, then sent; and who has
// not acknowledged them.
#include <utility>

#include "datum/codec/link.hpp"
#include "datum/control/orders.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::control {
namespace {

// What only weakens goes without a signature beside the link's own; what allows again has one.
core::Signed seal_order(const crypto::PrivateKey& signer, const core::OrderBody& body) {
  core::Signed made;
  made.body = codec::encode_order_body(body);
  if (body.kind == core::OrderKind::hold) return made;
  made.signer = signer.public_key().fingerprint();
  const auto signature = signer.sign(crypto::SignedAs::order, made.body);
  made.signature.assign(signature.bytes.begin(), signature.bytes.end());
  return made;
}

}  // namespace

Result<Events> RequestDesk::make_order(const LocalRequest& request, const core::Actor& by) const {
  const auto& state = ledger_.state();
  DATUM_ASSIGN(auto nodes, choose_nodes(state, {request.nodes, request.all, request.labels}));
  const auto kind = request.verb == LocalVerb::lift ? core::OrderKind::lift : core::OrderKind::hold;
  if (kind == core::OrderKind::lift) {
    DATUM_ASSIGN(nodes, held_among(state, nodes));
  }
  DATUM_ASSIGN(const auto bodies,
               make_orders(state, nodes, {kind, request.for_ns, request.reason, by.name},
                           loop_.clock().wall_now()));
  Events events;
  for (const auto& body : bodies)
    events.emplace_back(core::control::OrderIssued{body.node, kind, body.number,
                                                   seal_order(keys_.signer, body), by});
  return events;
}

void RequestDesk::order(const LocalRequest& request, const core::Actor& by, const Reply& reply) {
  const auto events = make_order(request, by);
  std::vector<std::string> nodes;
  if (events)
    for (const auto& event : *events) nodes.emplace_back(core::control::node_of(event));
  record(events, reply,
         [this, nodes, is_lift = request.verb == LocalVerb::lift, json = request.json] {
           std::size_t linked = 0;
           for (const auto& node : nodes) {
             links_.send_order(node);
             if (links_.is_linked(node)) ++linked;
           }
           if (json) {
             text::JsonWriter writer;
             writer.begin_object().member("order", is_lift ? "lift" : "hold");
             writer.member("nodes", nodes.size()).member("linked", linked).end_object();
             return Answer{writer.take() + "\n"};
           }
           return Answer{
               (is_lift ? "the hold of " : "hold: ") + text::format_count(nodes.size(), "node") +
               (is_lift ? " is lifted, " : ", ") + std::to_string(linked) +
               " of them linked now; `datum-control orders` says who has not acknowledged it\n"};
         });
}

void RequestDesk::show_orders(const LocalRequest& request, const Reply& reply) {
  record(Events{}, reply, [this, request] {
    const auto report = orders_report(view_of(request), request.all);
    return Answer{report.text, "", report.is_open ? kUnmetExit : 0};
  });
}

}  // namespace datum::control
