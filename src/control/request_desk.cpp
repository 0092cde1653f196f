#include "datum/control/request_desk.hpp"

#include <utility>

#include "datum/base/rfc3339.hpp"
#include "datum/codec/link.hpp"
#include "datum/control/drift_report.hpp"
#include "datum/link/token.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"

namespace datum::control {
namespace {

Answer refusal_of(const Error& error) {
  return {"", "datum-control: " + text::escape_lines(error.message()) + "\n", 1};
}

std::string said(const LocalRequest& request, const std::string& words) {
  if (!request.json) return words + "\n";
  text::JsonWriter json;
  json.begin_object().member("done", to_string(request.verb)).member("target", request.target);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace

RequestDesk::RequestDesk(loop::Loop& loop, Ledger& ledger, LinkServer& links,
                         const NodeJournals& journals, const Keyring& keys, blobs::BlobStore& blobs,
                         LinkSettings settings)
    : loop_(loop),
      ledger_(ledger),
      links_(links),
      journals_(journals),
      keys_(keys),
      blobs_(blobs),
      settings_(std::move(settings)),
      began_(loop.clock().wall_now()) {}
RequestDesk::~RequestDesk() {
  *stop_ = true;
}

View RequestDesk::view_of(const LocalRequest& request) const {
  const auto presence = [this](const std::string& node) {
    return Presence{links_.is_linked(node), links_.last_heard(node)};
  };
  return {ledger_.state(),        presence,          loop_.clock().wall_now(),
          settings_.heartbeat_ns, settings_.version, request.json,
          request.colour,         request.width,     began_,
          request.labels};
}

void RequestDesk::record(const Result<Events>& events, const Reply& reply,
                         std::function<Answer()> done) {
  if (!events) return reply(refusal_of(events.error()));
  if (const auto queued = ledger_.append(*events); !queued)
    return reply(refusal_of(queued.error()));
  ledger_.when_durable([reply, done = std::move(done)](Status durable) {
    reply(durable ? done() : refusal_of(durable.error()));
  });
}

void RequestDesk::answer(const LocalRequest& request, const core::Actor& by, const Reply& reply) {
  // What is read has to be durable too: nothing that a crash could undo is told.
  const auto show = [&](std::string (*report)(const View&)) {
    record(Events{}, reply, [this, request, report] { return Answer{report(view_of(request))}; });
  };
  switch (request.verb) {
    case LocalVerb::status:
      if (request.silent_ns > 0) return show_silent(request, reply);
      return show(status_report);
    case LocalVerb::drift:
      return show_drift(request, reply);
    case LocalVerb::nodes:
      return show(nodes_report);
    case LocalVerb::token_list:
      return show(tokens_report);
    case LocalVerb::node:
      return show_node(request, reply);
    case LocalVerb::accept:
    case LocalVerb::refuse: {
      const bool accept = request.verb == LocalVerb::accept;
      if (auto newer = accept_newer(ledger_.state(), request.target, by); accept && newer)
        return record(newer, reply, [request] {
          return Answer{said(request, request.target + " is taken with what it has")};
        });
      return record(decide_request(ledger_.state(), request.target, accept, request.reason, by),
                    reply, [request, accept] {
                      return Answer{said(
                          request, request.target + (accept ? " is accepted: it becomes a node "
                                                              "when it asks again"
                                                            : " is refused"))};
                    });
    }
    case LocalVerb::revoke:
    case LocalVerb::forget:
      return end_node(request, by, reply);
    case LocalVerb::token_create:
      return create_token(request, by, reply);
    case LocalVerb::token_withdraw:
      return record(withdraw_token(ledger_.state(), request.target, by), reply, [request] {
        return Answer{said(request, "token " + request.target + " is withdrawn")};
      });
    case LocalVerb::profiles:
    case LocalVerb::push:
      return push(request, by, reply);
    case LocalVerb::hold:
    case LocalVerb::lift:
      return order(request, by, reply);
    case LocalVerb::orders:
      return show_orders(request, reply);
    case LocalVerb::push_resume:
    case LocalVerb::push_abort:
      return steer_push(request, by, reply);
  }
}

void RequestDesk::show_silent(const LocalRequest& request, const Reply& reply) {
  record(Events{}, reply, [this, request] {
    const auto report = silence_report(view_of(request), request.silent_ns);
    return Answer{report.text, "", report.is_any ? kUnmetExit : 0};
  });
}

// Journals are read beside the loop: of a fleet that drifts that takes a while.
void RequestDesk::show_drift(const LocalRequest& request, const Reply& reply) {
  if (std::exchange(is_reading_drift_, true))
    return reply(refusal_of({ErrorCode::busy, "somebody else asks for drift at this moment"}));
  const auto table = std::make_shared<DriftTable>();
  loop_.pool().submit(
      [table, stop = stop_, folder = journals_.folder(), nodes = drifted_nodes(view_of(request))] {
        *table = read_drift(folder, nodes, *stop);
      },
      [this, table, stop = stop_, request, reply] {
        if (*stop) return;
        is_reading_drift_ = false;
        std::string unread;
        for (const auto& each : table->unread)
          unread += "datum-control: " + text::escape_lines(each) + "\n";
        reply(
            {drift_report(*table, view_of(request)), unread, table->rows.empty() ? 0 : kUnmetExit});
      });
}

void RequestDesk::show_node(const LocalRequest& request, const Reply& reply) {
  record(Events{}, reply, [this, request] {
    const auto* node = ledger_.state().find_node(request.target);
    if (node != nullptr) return Answer{node_report(view_of(request), *node)};
    return refusal_of({ErrorCode::not_found, request.target +
                                                 ": no such node; `datum-control nodes` lists "
                                                 "those that are known"});
  });
}

// The secret leaves with the answer and is nowhere else afterwards.
void RequestDesk::create_token(const LocalRequest& request, const core::Actor& by,
                               const Reply& reply) {
  const auto now = loop_.clock().wall_now();
  const auto token = link::make_token(keys_.authority.key.fingerprint());
  TokenRule rule;
  rule.id = token.id_text();
  rule.secret_hash = token.secret_hash();
  rule.is_multi_use = request.multi;
  rule.names = request.names;
  rule.required = request.required;
  rule.labels = request.labels;
  rule.is_by_hand = request.by_hand;
  rule.expires = WallNs{now.ns + std::min(request.ttl_ns, kMaxTokenLifeNs + kNsPerSecond)};
  record(make_token(ledger_.state(), rule, by, now), reply,
         [text = link::format_token(token), rule, json = request.json] {
           if (!json)
             return Answer{text + "\n",
                           "token " + rule.id + " for names like " + rule.names +
                               (rule.is_multi_use ? ", any number of times" : ", once") +
                               ", until " + format_rfc3339(rule.expires) +
                               "; on the machine: datum enrol --control ADDRESS:PORT\n"};
           text::JsonWriter writer;
           writer.begin_object()
               .member("token", text)
               .member("id", rule.id)
               .member("names", rule.names)
               .member("expires", format_rfc3339(rule.expires))
               .end_object();
           return Answer{writer.take() + "\n"};
         });
}

void RequestDesk::end_node(const LocalRequest& request, const core::Actor& by, const Reply& reply) {
  const bool is_revocation = request.verb == LocalVerb::revoke;
  const auto& node = request.target;
  record(is_revocation ? revoke(ledger_.state(), node, request.reason, by)
                       : forget(ledger_.state(), node, by),
         reply, [this, request, is_revocation] {
           const auto& name = request.target;
           links_.cut(name, core::LinkCause::revoked,
                      name + (is_revocation ? " was revoked" : " was forgotten"));
           return Answer{said(request, name + (is_revocation ? " is revoked" : " is forgotten"))};
         });
}

}  // namespace datum::control
