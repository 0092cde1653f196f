#include "datum/control/link_server.hpp"

#include <utility>

#include "datum/crypto/digest.hpp"
#include "link_session.hpp"

namespace datum::control {
namespace {

constexpr std::int64_t kTellAgainNs = 60 * kNsPerSecond;

// Nobody is a stranger; who shows something has to be a node of this mesh, and is told only about
// clocks. An ended certificate is let through: its session gives out the next one and nothing else.
Status judge_peer(const std::vector<Bytes>& chain, const crypto::Certificate& authority,
                  const std::string& mesh, WallNs now) {
  if (chain.empty()) return {};
  DATUM_ASSIGN(const auto shown, crypto::read_certificate(chain.front()));
  const auto verdict = crypto::judge(shown, {&authority, 1}, crypto::Role::node, mesh, now);
  if (verdict.distrust == crypto::Distrust::none || verdict.distrust == crypto::Distrust::expired)
    return {};
  return fail(ErrorCode::refused, verdict.why);
}

}  // namespace

LinkServer::LinkServer(loop::Loop& loop, loop::Network& network, Ledger& ledger,
                       const Keyring& keys, NodeJournals& journals, const ContentSource& content,
                       LinkSettings settings, Tell tell)
    : loop_(loop),
      network_(network),
      ledger_(ledger),
      keys_(keys),
      journals_(journals),
      content_(content),
      settings_(std::move(settings)),
      tell_(std::move(tell)),
      admit_(loop.make_timer()) {}
LinkServer::~LinkServer() = default;

// The key that is shown is made anew at each start and lies in no file: the authority vouches for
// it, and its pin is the authority's.
Status LinkServer::listen(const loop::Address& address) {
  DATUM_ASSIGN(const auto key, crypto::PrivateKey::generate());
  const auto mesh = ledger_.state().mesh;
  const auto& authority = keys_.authority;
  const auto now_s = loop_.clock().wall_now().ns / kNsPerSecond;
  const crypto::Validity validity{now_s - kMostClockDifferenceNs / kNsPerSecond,
                                  authority.validity.not_after_s};
  DATUM_ASSIGN(const auto shown, crypto::issue(keys_.authority_key, authority,
                                               {crypto::Role::control, mesh, "control"},
                                               key.public_key(), validity, crypto::random_id()));
  const auto judge = [this, mesh](const std::vector<Bytes>& chain) {
    return judge_peer(chain, keys_.authority, mesh, loop_.clock().wall_now());
  };
  DATUM_ASSIGN(auto context,
               wire::TlsContext::make(wire::TlsEnd::serves,
                                      {shown.der, key.to_der(), authority.der}, judge));
  context_ = std::move(context);
  DATUM_ASSIGN(listener_, network_.listen(address, [this](std::unique_ptr<loop::Stream> stream) {
    take(std::move(stream));
  }));
  return {};
}

std::uint16_t LinkServer::port() const {
  return listener_ ? listener_->port() : 0;
}

// A stream that is destroyed is cut: there is nobody yet whom a goodbye could reach.
void LinkServer::take(std::unique_ptr<loop::Stream> stream) {
  if (stopped_) return;
  if (links() >= kMaxLinks)
    return tell_turned_away(stream->peer(), std::to_string(kMaxLinks) + " nodes are linked");
  if (waiting_.empty() && make_room()) return begin(std::move(stream));
  if (waiting_.size() >= kMaxWaiting)
    return tell_turned_away(stream->peer(),
                            std::to_string(kMaxStrangers) +
                                " others are on their way in and still speak, and " +
                                std::to_string(kMaxWaiting) + " wait");
  waiting_.push_back(std::move(stream));
  if (waiting_.size() == 1) admit_->start(kNsPerSecond, 0, [this] { admit(); });
}

void LinkServer::begin(std::unique_ptr<loop::Stream> stream) {
  const auto id = next_++;
  auto session = std::make_shared<LinkSession>(*this, id, std::move(stream));
  sessions_.emplace(id, session);
  strangers_.insert(id);
  session->start();
}

void LinkServer::admit() {
  while (!waiting_.empty() && make_room()) {
    auto stream = std::move(waiting_.front());
    waiting_.pop_front();
    begin(std::move(stream));
  }
  // Whoever says nothing has to go some time.
  if (!waiting_.empty()) admit_->start(kNsPerSecond, 0, [this] { admit(); });
}

// In a turn of its own: who frees it is not done yet.
void LinkServer::freed(std::uint64_t id) {
  if (strangers_.erase(id) != 0 && !waiting_.empty()) admit_->start(0, 0, [this] { admit(); });
}

// Who waits for an answer of this end keeps its place; so does who was heard of just now.
bool LinkServer::make_room() {
  if (strangers() < kMaxStrangers) return true;
  const auto now = loop_.clock().boot_now();
  for (const auto id : strangers_) {
    const auto& session = sessions_.at(id);
    const auto since = session->silent_since();
    if (!since || now.ns - since->ns < kStrangersSilenceNs) continue;
    const auto silent_for = std::to_string((now.ns - since->ns) / kNsPerSecond);
    const auto why = "it said nothing for " + silent_for + " s, and its place was needed";
    tell_turned_away(session->peer(), why);
    strangers_.erase(id);
    session->close(core::LinkCause::too_slow, why);
    return true;
  }
  return false;
}

void LinkServer::tell_turned_away(const std::string& who, const std::string& why) {
  ++turned_away_;
  const auto now = loop_.clock().boot_now();
  if (told_turned_away_ && now.ns - told_turned_away_->ns < kTellAgainNs) return;
  told_turned_away_ = now;
  const auto others = std::exchange(turned_away_, 0) - 1;
  tell_(
      Weight::warning,
      who + ": the connection is ended: " + why +
          (others == 0 ? "" : "; so were " + std::to_string(others) + " more in the last minutes"));
}

void LinkServer::linked(std::uint64_t id, const std::string& node) {
  freed(id);
  const auto before = linked_.find(node);
  if (before != linked_.end() && before->second != id) {
    const auto session = sessions_.find(before->second);
    if (session != sessions_.end())
      session->second->close(core::LinkCause::replaced, "a newer connection of " + node);
  }
  linked_[node] = id;
}

// Two machines with one identity differ in their boot, and so does one that came back from a reboot
// without a goodbye. Who comes second is sent away for a heartbeat: if the first has spoken
// meanwhile, both are alive.
LinkServer::Rival LinkServer::find_rival(const std::string& node, const Id128& boot) {
  const auto link = linked_.find(node);
  const auto session = link == linked_.end() ? sessions_.end() : sessions_.find(link->second);
  if (session == sessions_.end() || session->second->boot() == boot) return Rival::none;
  const auto now = loop_.clock().boot_now();
  auto& doubt = doubts_[node];
  if (doubt.boot != boot) {
    doubt = {boot, now};
    return Rival::perhaps;
  }
  if (session->second->spoke_at() > doubt.since) {
    doubt.since = now;
    return Rival::alive;
  }
  if (now.ns - doubt.since.ns < settings_.heartbeat_ns) return Rival::perhaps;
  doubts_.erase(node);
  return Rival::none;
}

void LinkServer::ended(std::uint64_t id, const std::string& node) {
  freed(id);
  const auto link = linked_.find(node);
  if (link != linked_.end() && link->second == id) linked_.erase(link);
}

void LinkServer::drop(std::uint64_t id) {
  freed(id);
  sessions_.erase(id);
}

void LinkServer::heard(const std::string& node) {
  heard_[node] = loop_.clock().wall_now();
}

void LinkServer::send_newest(const std::string& node) {
  const auto link = linked_.find(node);
  if (link != linked_.end()) sessions_.at(link->second)->send_newest();
}

void LinkServer::send_order(const std::string& node) {
  const auto link = linked_.find(node);
  if (link != linked_.end()) sessions_.at(link->second)->send_order();
}

void LinkServer::cut(const std::string& node, core::LinkCause cause, const std::string& why) {
  const auto link = linked_.find(node);
  if (link != linked_.end()) sessions_.at(link->second)->close(cause, why);
}

void LinkServer::stop(const std::string& why) {
  stopped_ = true;
  listener_.reset();
  waiting_.clear();
  admit_->stop();
  const auto sessions = sessions_;
  for (const auto& [id, session] : sessions) session->close(core::LinkCause::stopping, why);
}

bool LinkServer::is_linked(const std::string& node) const {
  return linked_.count(node) != 0;
}

std::optional<WallNs> LinkServer::last_heard(const std::string& node) const {
  const auto found = heard_.find(node);
  if (found == heard_.end()) return std::nullopt;
  return found->second;
}

}  // namespace datum::control
