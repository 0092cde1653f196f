#include "link_session.hpp"

#include <utility>

#include "datum/base/rfc3339.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/control/orders.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/link/backoff.hpp"
#include "datum/link/token.hpp"

namespace datum::control {
namespace {

constexpr std::string_view kProofLabel = "datum enrol";
constexpr int kSilentHeartbeats = 3;
// A peer that reads has its goodbye within two round trips, a satellite's within this.
constexpr std::int64_t kLingerNs = 5 * kNsPerSecond;

// The proof that came with a request is over this connection and no other.
bool is_proved(const core::EnrolmentRequest& request, const Bytes& binding) {
  const auto key = crypto::PublicKey::from_bytes(request.key);
  crypto::Signature signature;
  if (!key || request.proof.size() != signature.bytes.size()) return false;
  std::copy(request.proof.begin(), request.proof.end(), signature.bytes.begin());
  return crypto::verify(*key, crypto::SignedAs::enrolment_proof, binding, signature);
}

}  // namespace

LinkSession::LinkSession(LinkServer& server, std::uint64_t id, std::unique_ptr<loop::Stream> stream)
    : server_(server),
      id_(id),
      connection_(
          std::make_unique<link::Connection>(server.loop_, std::move(stream), *server.context_)),
      silence_(server.loop_.make_timer()) {}

void LinkSession::start() {
  const auto weak = weak_from_this();
  connection_->start({[weak] {
                        if (const auto self = weak.lock()) self->established();
                      },
                      [weak](core::LinkMessage message) {
                        if (const auto self = weak.lock()) self->take(std::move(message));
                      },
                      [weak](const link::LinkEnd& end) {
                        if (const auto self = weak.lock()) self->ended(end);
                      },
                      [weak] {
                        if (const auto self = weak.lock()) self->send_blobs();
                      }});
}

std::optional<BootNs> LinkSession::silent_since() const {
  if (stage_ == Stage::answered || stage_ == Stage::over) return std::nullopt;
  return connection_->heard_at();
}

void LinkSession::close(core::LinkCause cause, std::string why, std::int64_t not_before_ns) {
  if (stage_ == Stage::over) return;
  stage_ = Stage::over;
  connection_->close(cause, std::move(why), not_before_ns);
}

void LinkSession::ended(const link::LinkEnd& end) {
  const bool was_linked = !node_.empty() && server_.is_linked(node_);
  stage_ = Stage::over;
  silence_->stop();
  if (end.goodbye.cause == core::LinkCause::protocol && !end.by_peer)
    server_.tell_(Weight::warning, connection_->peer() + ": " + end.why);
  else if (was_linked)
    server_.tell_(Weight::notice, node_ + ": the link ended: " + end.why);
  server_.ended(id_, node_);
  if (end.by_peer || end.was_cut) return server_.drop(id_);
  // The goodbye is still on its way: who destroys a connection cuts it.
  silence_->start(kLingerNs, 0, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->server_.drop(self->id_);
  });
}

void LinkSession::when_durable(std::function<void()> then) {
  server_.ledger_.when_durable([weak = weak_from_this(), then = std::move(then)](Status durable) {
    const auto self = weak.lock();
    if (!self || self->stage_ == Stage::over) return;
    if (durable) return then();
    self->close(core::LinkCause::busy, "the control plane cannot record anything");
  });
}

void LinkSession::send(const core::LinkMessage& message) {
  // What cannot be sent ends the connection by itself.
  if (stage_ != Stage::over) static_cast<void>(connection_->send(message));
}

void LinkSession::established() {
  const auto shown = connection_->peer_certificate();
  if (!shown) {
    stage_ = Stage::enrolment;
    return;
  }
  const auto certificate = crypto::read_certificate(*shown);
  if (!certificate) return close(core::LinkCause::protocol, certificate.error().message());
  node_ = certificate->subject.name;
  key_ = certificate->key;
  is_expired_ = certificate->validity.not_after_s < now().ns / kNsPerSecond;
  if (const auto goodbye = check_credential(server_.ledger_.state(), node_, key_))
    return close(goodbye->cause, goodbye->why);
  stage_ = Stage::greeting;
}

void LinkSession::out_of_turn(const core::LinkMessage& message) {
  close(core::LinkCause::protocol,
        "a message out of turn: " + std::string(to_string(core::kind_of(message))));
}

void LinkSession::take(core::LinkMessage message) {
  switch (stage_) {
    case Stage::enrolment:
      if (auto* request = std::get_if<core::EnrolmentRequest>(&message))
        return take_request(std::move(*request));
      return out_of_turn(message);
    case Stage::greeting:
      if (auto* hello = std::get_if<core::Hello>(&message)) return take_hello(std::move(*hello));
      return out_of_turn(message);
    case Stage::linked:
      return take_linked(std::move(message));
    case Stage::handshake:
    case Stage::answered:
      return out_of_turn(message);
    case Stage::over:
      return;
  }
}

void LinkSession::take_request(core::EnrolmentRequest request) {
  stage_ = Stage::answered;
  Enrol wanted;
  const auto token = link::parse_token(request.token);
  if (token) {
    wanted.token_id = token->id_text();
    wanted.secret_hash = token->secret_hash();
  }
  crypto::wipe(request.token);
  wanted.is_proved = is_proved(request, connection_->binding(kProofLabel));
  wanted.address = connection_->peer();
  wanted.now = now();
  wanted.serial = crypto::random_id();
  wanted.not_after = WallNs{new_validity().not_after_s * kNsPerSecond};
  wanted.request = std::move(request);
  const auto made = enrol(server_.ledger_.state(), wanted);
  if (const auto queued = server_.ledger_.append(made.events); !queued)
    return close(core::LinkCause::busy, queued.error().message());
  when_durable([this, request = std::move(wanted.request), decision = made.decision,
                serial = wanted.serial] { answer_request(request, decision, serial); });
}

void LinkSession::answer_request(const core::EnrolmentRequest& request,
                                 const EnrolmentDecision& decision, const Id128& serial) {
  const auto& peer = connection_->peer();
  if (const auto* refusal = std::get_if<core::EnrolmentRefusal>(&decision)) {
    server_.tell_(Weight::warning, peer + ": enrolment refused: " + refusal->why);
    send(*refusal);
    return close(refusal->cause, refusal->why);
  }
  if (const auto* awaits = std::get_if<AwaitsPerson>(&decision)) {
    server_.tell_(Weight::notice, awaits->node + " at " + peer + " waits to be accepted");
    return send(core::EnrolmentPending{server_.settings_.pending_retry_ns});
  }
  const auto* node = server_.ledger_.state().find_node(std::get<Granted>(decision).node);
  const auto key = crypto::PublicKey::from_bytes(request.key);
  if (node == nullptr || !key || node->self.fingerprint != key->fingerprint())
    return close(core::LinkCause::busy, "the node changed meanwhile: come again");
  server_.tell_(Weight::notice, node->self.node + " at " + peer + " is enrolled");
  send(make_grant(*node, *key, serial));
}

crypto::Validity LinkSession::new_validity() const {
  // Begins an hour ago: the node's clock may be behind this one by as much.
  const auto now_s = now().ns / kNsPerSecond;
  const auto end_s = now_s + server_.settings_.certificate_ns / kNsPerSecond;
  return {now_s - kMostClockDifferenceNs / kNsPerSecond,
          std::min(end_s, server_.keys_.authority.validity.not_after_s)};
}

core::EnrolmentGrant LinkSession::make_grant(const Node& node, const crypto::PublicKey& key,
                                             const Id128& serial) const {
  const auto& state = server_.ledger_.state();
  auto validity = new_validity();
  validity.not_after_s = node.not_after.ns / kNsPerSecond;
  const auto issued =
      crypto::issue(server_.keys_.authority_key, server_.keys_.authority,
                    {crypto::Role::node, state.mesh, node.self.node}, key, validity, serial);
  core::EnrolmentGrant grant;
  grant.mesh = state.mesh;
  grant.node = node.self.node;
  grant.labels = node.labels;
  if (issued) grant.certificate = issued->der;
  grant.authorities = {server_.keys_.authority.der};
  const auto signer = server_.keys_.signer.public_key();
  grant.signers = {Bytes(signer.bytes.begin(), signer.bytes.end())};
  grant.mesh_id = state.mesh_id;
  return grant;
}

void LinkSession::take_hello(core::Hello hello) {
  stage_ = Stage::answered;
  if (hello.version == 0)
    return close(core::LinkCause::version, "this program speaks version 1 of the protocol");
  if (is_expired_)
    return renew([this] {
      close(core::LinkCause::clock, "the certificate had ended; the next one was sent");
    });
  if (!is_alone(hello.boot) || !is_known(hello.accepted)) return;
  connection_->let_in();
  store_ = hello.store;
  boot_ = hello.boot;
  const auto weak = weak_from_this();
  server_.journals_.open(node_, store_, [weak, hello](Result<journal::Head> kept) {
    const auto self = weak.lock();
    if (!self || self->stage_ != Stage::answered) return;
    if (kept) return self->welcome(hello, *kept);
    self->server_.tell_(Weight::error, self->node_ + ": " + kept.error().message());
    self->close(core::LinkCause::busy, "the control plane cannot keep this node's journal");
  });
}

bool LinkSession::is_alone(const Id128& boot) {
  const auto rival = server_.find_rival(node_, boot);
  if (rival == LinkServer::Rival::none) return true;
  const auto heartbeat_ns = server_.settings_.heartbeat_ns;
  if (rival == LinkServer::Rival::perhaps) {
    close(core::LinkCause::busy, "a link of " + node_ + " stands: come again after a heartbeat",
          heartbeat_ns + kNsPerSecond);
    return false;
  }
  const auto why = "another machine is linked as " + node_ +
                   " at this moment: one of the two is a copy, and becomes a node of its own with "
                   "`datum enrol --new-key`";
  server_.tell_(Weight::error, connection_->peer() + ": " + why);
  close(core::LinkCause::clone, why);
  return false;
}

bool LinkSession::is_known(const core::Generation& accepted) {
  auto& ledger = server_.ledger_;
  const auto newer = check_newer(ledger.state(), node_, accepted);
  if (!newer.is_refused) return true;
  const auto queued = ledger.append(newer.events);
  if (!queued) {
    close(core::LinkCause::busy, queued.error().message());
    return false;
  }
  const auto why = "this control plane was restored from a backup, and " + node_ +
                   " has a declaration that is newer: `datum-control nodes accept " + node_ +
                   "` takes it as it is";
  if (!newer.events.empty()) server_.tell_(Weight::warning, why);
  when_durable(
      [this, why] { close(core::LinkCause::by_person, why, server_.settings_.pending_retry_ns); });
  return false;
}

void LinkSession::welcome(const core::Hello& hello, const journal::Head& kept) {
  auto& ledger = server_.ledger_;
  if (hello.last < kept.seq || (hello.last == kept.seq && kept.seq != 0 && hello.head != kept.hash))
    server_.tell_(Weight::error,
                  node_ + ": its journal ends at record " + std::to_string(hello.last) +
                      " and is kept here through " + std::to_string(kept.seq) +
                      ": its store was set back, or another machine has its identity");
  if (const auto queued = ledger.append(greet(ledger.state(), node_, hello)); !queued)
    return close(core::LinkCause::busy, queued.error().message());
  when_durable([this, hello, kept] {
    const auto* node = server_.ledger_.state().find_node(node_);
    if (node == nullptr) return close(core::LinkCause::revoked, node_ + " was forgotten");
    stage_ = Stage::linked;
    spoke_at_ = server_.loop_.clock().boot_now();
    server_.linked(id_, node_);
    server_.heard(node_);
    server_.tell_(Weight::notice, node_ + " at " + connection_->peer() + " is linked");
    core::Welcome answer;
    answer.version = std::min(hello.version, core::kLinkVersion);
    answer.control_version = server_.settings_.version;
    answer.mesh = server_.ledger_.state().mesh;
    answer.node = node_;
    answer.now = now();
    answer.newest = node->newest;
    answer.journal_kept = kept.seq;
    answer.heartbeat_ns = server_.settings_.heartbeat_ns;
    kept_ = kept.seq;
    const auto* order = unanswered_order(*node);
    if (order != nullptr) answer.order = order->number;
    send(answer);
    watch_silence();
    // Before any declaration: a hold comes before the pass that it is to stop.
    send_order();
    sent_ = hello.accepted;
    send_newest();
    // A third of its life is enough time for many tries.
    if (node->not_after.ns - now().ns < server_.settings_.certificate_ns / 3) renew({});
  });
}

// The day alone: each of its tries is answered so, and it tells what is new.
std::string LinkSession::why_not_renewed(const Node& node) const {
  constexpr std::size_t kDay = 10;
  constexpr std::int64_t kDayNs = 86'400 * kNsPerSecond;
  return "enrolment required: the certificate ended at " + format_rfc3339(node.not_after) +
         ", here it is " + format_rfc3339(now()).substr(0, kDay) + ", and one is renewed for " +
         std::to_string(server_.settings_.renew_within_ns / kDayNs) +
         " days: `datum enrol TOKEN` on that machine, with `datum-control token create --names " +
         node_ + "`";
}

void LinkSession::renew(std::function<void()> after) {
  auto& ledger = server_.ledger_;
  const auto* node = ledger.state().find_node(node_);
  if (node == nullptr) return close(core::LinkCause::revoked, node_ + " was forgotten");
  if (now().ns - node->not_after.ns > server_.settings_.renew_within_ns)
    return close(core::LinkCause::clock, why_not_renewed(*node), link::kDecidedBackoffNs);
  const auto serial = crypto::random_id();
  const WallNs not_after{new_validity().not_after_s * kNsPerSecond};
  const auto queued = ledger.append({core::control::CertificateIssued{node_, serial, not_after}});
  if (!queued) return close(core::LinkCause::busy, queued.error().message());
  when_durable([this, serial, after = std::move(after)] {
    const auto* renewed = server_.ledger_.state().find_node(node_);
    if (renewed != nullptr) send(make_grant(*renewed, key_, serial));
    if (after) after();
  });
}

void LinkSession::watch_silence() {
  const auto within = kSilentHeartbeats * server_.settings_.heartbeat_ns;
  silence_->start(within, 0, [weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->close(core::LinkCause::too_slow, "nothing was heard for three heartbeats");
  });
}

}  // namespace datum::control
