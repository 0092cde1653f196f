// A push: what every node is to have from now on, as one generation.
#include <utility>

#include "datum/codec/link.hpp"
#include "datum/control/request_desk.hpp"
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

// The first epoch begins with the mesh; a restored control plane begins the next.
constexpr std::uint64_t kFirstEpoch = 1;

}  // namespace

Result<Events> RequestDesk::make_push(const LocalRequest& request, const core::Actor& by) const {
  const auto& state = ledger_.state();
  if (request.manifests.empty())
    return fail(ErrorCode::invalid_argument, "no enrolled node is a host of this fleet");
  const core::Generation generation{std::max(state.last.epoch, kFirstEpoch), state.last.number + 1};
  const auto now = loop_.clock().wall_now();
  Events events{PushBegun{generation, request.source, request.revision,
                          static_cast<std::uint32_t>(request.manifests.size()), by}};
  for (const auto& each : request.manifests) {
    const auto* node = state.find_node(each.node);
    if (node == nullptr || node->standing != Standing::enrolled)
      return fail(ErrorCode::conflict, each.node + " is no enrolled node any more: push again");
    if (!blobs_.contains(each.manifest))
      return fail(ErrorCode::invalid_argument, each.node + ": its manifest was not sent");
    core::DeclarationBody body;
    body.id = {state.mesh_id, each.node, generation.epoch, generation.number, each.manifest};
    body.provenance = {request.source, request.revision, by.name, {}};
    body.issued = now;
    body.manifest_bytes = each.bytes;
    body.allowed_removals = request.allow_removals;
    events.emplace_back(
        DeclarationReleased{each.node, generation, each.manifest, sign_body(keys_.signer, body)});
  }
  return events;
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
    std::size_t linked = 0;
    for (const auto& each : request.manifests) {
      links_.send_newest(each.node);
      if (links_.is_linked(each.node)) ++linked;
    }
    const auto& generation = ledger_.state().last;
    if (request.json) {
      text::JsonWriter json;
      json.begin_object().key("generation").begin_object();
      json.member("epoch", generation.epoch).member("number", generation.number).end_object();
      json.member("nodes", request.manifests.size()).member("linked", linked).end_object();
      return Answer{json.take() + "\n"};
    }
    return Answer{"generation " + std::to_string(generation.epoch) + "." +
                  std::to_string(generation.number) + " is released to " +
                  text::format_count(request.manifests.size(), "node") + ", " +
                  std::to_string(linked) + " of them linked now\n"};
  });
}

}  // namespace datum::control
