// A push: what every node is to have from now on, as one generation.
#include <algorithm>
#include <utility>

#include "datum/codec/link.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/control/rollout.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::control {
namespace {

using namespace core::control;

core::Signed sign_body(const crypto::PrivateKey& signer, const core::DeclarationBody& body) {
  core::Signed made;
  made.signer = signer.public_key().fingerprint();
  made.body = codec::encode_declaration_body(body);
  const auto signature = signer.sign(crypto::SignedAs::declaration, made.body);
  made.signature.assign(signature.bytes.begin(), signature.bytes.end());
  return made;
}

// A link that broke takes some seconds to come back; who waits for more than a day undoes it by
// hand.
constexpr std::int64_t kLeastUnlinkedNs = 5 * kNsPerSecond;
constexpr std::int64_t kMostUnlinkedNs = 86'400 * kNsPerSecond;
// The first epoch begins with the mesh; a restored control plane begins a later one.
constexpr std::uint64_t kFirstEpoch = 1;

}  // namespace

core::control::DeclarationReleased RequestDesk::release(const PushBegun& begun,
                                                        const PushedManifest& pushed,
                                                        const PushTerms& terms) const {
  const auto& generation = begun.generation;
  core::DeclarationBody body;
  body.id = {ledger_.state().mesh_id, pushed.node, generation.epoch, generation.number,
             pushed.manifest};
  body.provenance = {begun.source, begun.revision, begun.by.name, {}};
  body.issued = loop_.clock().wall_now();
  body.manifest_bytes = pushed.bytes;
  body.allowed_removals = terms.allowed_removals;
  body.revert_unless_linked_ns = terms.revert_unless_linked_ns;
  return {pushed.node, generation, pushed.manifest, sign_body(keys_.signer, body)};
}

Result<Events> RequestDesk::make_push(const LocalRequest& request, const core::Actor& by) const {
  const auto& state = ledger_.state();
  const auto& manifests = request.manifests;
  if (manifests.empty())
    return fail(ErrorCode::invalid_argument, "no enrolled node is a host of this fleet");
  DATUM_ASSIGN(const auto stages, read_stages(request.stages, manifests.size()));
  const core::Generation generation{std::max(state.last.epoch, kFirstEpoch), state.last.number + 1};
  const PushBegun begun{generation, request.source, request.revision,
                        static_cast<std::uint32_t>(manifests.size()), by};
  Events events{begun};
  const PushTerms terms{request.allow_removals, request.revert_unless_linked_ns};
  if (terms.revert_unless_linked_ns != 0) {
    if (terms.revert_unless_linked_ns < kLeastUnlinkedNs ||
        terms.revert_unless_linked_ns > kMostUnlinkedNs)
      return fail(ErrorCode::invalid_argument,
                  "--revert-unless-linked: from five seconds to a day");
    events.emplace_back(PushGuarded{generation, terms.revert_unless_linked_ns});
  }
  const bool is_staged = !request.stages.empty() && stages.size() > 1;
  if (is_staged)
    events.emplace_back(PushStaged{generation, static_cast<std::uint32_t>(stages.size()),
                                   request.soak_ns, request.allow_removals});
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    const auto& each = manifests[i];
    const auto* node = state.find_node(each.node);
    if (node == nullptr || node->standing != Standing::enrolled)
      return fail(ErrorCode::conflict, each.node + " is no enrolled node any more: push again");
    if (!blobs_.contains(each.manifest))
      return fail(ErrorCode::invalid_argument, each.node + ": its manifest was not sent");
    if (!is_staged || i < stages.front()) {
      events.emplace_back(release(begun, each, terms));
      continue;
    }
    const auto stage = std::upper_bound(stages.begin(), stages.end(), i) - stages.begin();
    events.emplace_back(ReleasePlanned{each.node, generation, each.manifest, each.bytes,
                                       static_cast<std::uint32_t>(stage)});
  }
  return events;
}

Events RequestDesk::begin_stage(std::uint32_t stage, std::vector<std::string>& nodes) const {
  const auto& push = *ledger_.state().push;
  Events events{StageBegun{push.begun.generation, stage}};
  for (const auto& [name, planned] : push.planned) {
    const auto* node = ledger_.state().find_node(name);
    if (planned.stage > stage || node == nullptr || node->standing != Standing::enrolled) continue;
    events.emplace_back(release(push.begun, {name, planned.manifest, planned.manifest_bytes},
                                {push.allowed_removals, push.revert_unless_linked_ns}));
    nodes.push_back(name);
  }
  return events;
}

void RequestDesk::tick() {
  const auto next = advance_push(ledger_.state(), loop_.clock().wall_now());
  if (next.pause) {
    links_.tell(Weight::warning, "the push is paused: " + next.pause->node + ": " +
                                     next.pause->reason + "; datum-control push resume, or abort");
    static_cast<void>(ledger_.append({*next.pause}));
  }
  if (!next.next_stage) return;
  std::vector<std::string> nodes;
  if (!ledger_.append(begin_stage(*next.next_stage, nodes))) return;
  ledger_.when_durable([this, nodes](const Status& durable) {
    if (durable)
      for (const auto& node : nodes) links_.send_newest(node);
  });
}

void RequestDesk::steer_push(const LocalRequest& request, const core::Actor& by,
                             const Reply& reply) {
  const auto& state = ledger_.state();
  if (request.verb == LocalVerb::push_abort) {
    const auto aborted = abort_push(state, request.reason, by);
    if (!aborted) return record(fail(aborted.error()), reply, {});
    return record(Events{*aborted}, reply, [json = request.json] {
      return Answer{json ? "{\"done\":\"pushAbort\",\"target\":\"\"}\n"
                         : "aborted: what was released stays so, nothing more is\n"};
    });
  }
  const auto resumed = resume_push(state, by);
  if (!resumed) return record(fail(resumed.error()), reply, {});
  auto nodes = std::make_shared<std::vector<std::string>>();
  Events events = begin_stage(state.push->stage + 1, *nodes);
  events.insert(events.begin(), *resumed);
  record(events, reply, [this, nodes, json = request.json] {
    for (const auto& node : *nodes) links_.send_newest(node);
    return Answer{json ? "{\"done\":\"pushResume\",\"target\":\"\"}\n"
                       : "released to " + text::format_count(nodes->size(), "more node") + "\n"};
  });
}

void RequestDesk::push(const LocalRequest& request, const core::Actor& by, const Reply& reply) {
  if (request.verb == LocalVerb::profiles)
    return record(Events{}, reply, [this] {
      std::vector<NodeProfile> profiles;
      for (const auto& [name, node] : ledger_.state().nodes)
        if (node.standing == Standing::enrolled)
          profiles.push_back({name, node.self.profile, node.labels});
      return Answer{encode_profiles(profiles)};
    });
  record(make_push(request, by), reply, [this, request] {
    const auto& generation = ledger_.state().last;
    std::size_t linked = 0, released = 0;
    for (const auto& each : request.manifests) {
      const auto* node = ledger_.state().find_node(each.node);
      if (node == nullptr || node->newest != generation) continue;
      ++released;
      links_.send_newest(each.node);
      if (links_.is_linked(each.node)) ++linked;
    }
    if (request.json) {
      text::JsonWriter json;
      json.begin_object().key("generation").begin_object();
      json.member("epoch", generation.epoch).member("number", generation.number).end_object();
      json.member("nodes", released).member("linked", linked);
      json.member("later", request.manifests.size() - released).end_object();
      return Answer{json.take() + "\n"};
    }
    return Answer{
        "generation " + std::to_string(generation.epoch) + "." + std::to_string(generation.number) +
        " is released to " + text::format_count(released, "node") + ", " + std::to_string(linked) +
        " of them linked now" +
        (released < request.manifests.size()
             ? "; " + std::to_string(request.manifests.size() - released) + " more in later stages"
             : "") +
        "\n"};
  });
}

}  // namespace datum::control
