// The control plane's end of all links: takes connections, knows who is there, and conducts what
// they say into events and answers. Nothing that rests on an event leaves before that is durable. A
// fault of one peer ends its connection, with the cause, and nothing else. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "datum/base/content.hpp"
#include "datum/control/ledger.hpp"
#include "datum/control/node_journals.hpp"
#include "datum/crypto/certificate.hpp"
#include "datum/link/connection.hpp"
#include "datum/loop/network.hpp"

namespace datum::control {

// The mesh's own keys, as they lie in the store.
struct Keyring {
  crypto::PrivateKey authority_key;
  crypto::Certificate authority;
  crypto::PrivateKey signer;
};

// Handshakes and strangers at once: what each may hold is bounded (64 KiB and TLS's buffers).
inline constexpr std::size_t kMaxStrangers = 64;
// Where all places are taken, who has said nothing for so long makes room for the next one: a
// satellite's round trip takes 0.7 s.
inline constexpr std::int64_t kStrangersSilenceNs = 3 * kNsPerSecond;
// Behind them wait others, unheard, until a place is free: a mesh that comes back while this loop
// stood still for a moment is not sent away for minutes. Where all of these and their predecessors
// say nothing the last has its place within 20 s; its own patience is 30 s.
inline constexpr std::size_t kMaxWaiting = 256;
// Nodes that are linked at once: an idle connection takes 23 KiB.
inline constexpr std::size_t kMaxLinks = 10'000;

struct LinkSettings {
  std::int64_t heartbeat_ns = 60 * kNsPerSecond;               // silent after three
  std::int64_t pending_retry_ns = 30 * kNsPerSecond;           // a person is asked meanwhile
  std::int64_t certificate_ns = 365 * 86'400 * kNsPerSecond;   // renewed when a third is left
  std::int64_t renew_within_ns = 400 * 86'400 * kNsPerSecond;  // after its end
  std::string version;
};

// What a server says for its log.
enum class Weight : std::uint8_t { notice, warning, error };
using Tell = std::function<void(Weight weight, const std::string& text)>;

// What a declaration names: its manifest, and every content that does not stand in it. Blocks;
// any thread.
[[nodiscard]] Result<std::set<Digest>> named_by(const ContentSource& content,
                                                const Digest& manifest);

class LinkSession;

class LinkServer {
 public:
  // All are borrowed. `content` has what declarations name.
  LinkServer(loop::Loop& loop, loop::Network& network, Ledger& ledger, const Keyring& keys,
             NodeJournals& journals, const ContentSource& content, LinkSettings settings,
             Tell tell);
  ~LinkServer();

  // Errors of loop::Network::listen, and of making the certificate that is shown.
  [[nodiscard]] Status listen(const loop::Address& address);
  [[nodiscard]] std::uint16_t port() const;

  // The node's newest declaration goes to it now, if it is linked. Durable already.
  void send_newest(const std::string& node);
  // The newest order to it goes out, if it is linked and has not answered it. Durable already.
  void send_order(const std::string& node);
  // Ends the node's link, if it has one.
  void cut(const std::string& node, core::LinkCause cause, const std::string& why);
  // Every link ends; nothing is taken any more.
  void stop(const std::string& why);

  // Into the log that this server's words go to.
  void tell(Weight weight, const std::string& text) const { tell_(weight, text); }

  [[nodiscard]] bool is_linked(const std::string& node) const;
  [[nodiscard]] std::size_t links() const { return linked_.size(); }
  [[nodiscard]] std::size_t strangers() const { return strangers_.size(); }
  // When the node last said anything, since this server began; nothing: not since then.
  [[nodiscard]] std::optional<WallNs> last_heard(const std::string& node) const;

 private:
  friend class LinkSession;
  void take(std::unique_ptr<loop::Stream> stream);
  void begin(std::unique_ptr<loop::Stream> stream);
  // Those who wait, as far as there are places.
  void admit();
  // A place may have become free.
  void freed(std::uint64_t id);
  // Whether there is a place for one more that is not let in yet.
  [[nodiscard]] bool make_room();
  // Said once a minute at most, with how many there were since.
  void tell_turned_away(const std::string& who, const std::string& why);
  // The session says that it is the node's link now; the one before ends.
  void linked(std::uint64_t id, const std::string& node);
  void ended(std::uint64_t id, const std::string& node);
  void drop(std::uint64_t id);
  void heard(const std::string& node);
  // Of a session that wants to be the node's: another machine may be it already.
  enum class Rival : std::uint8_t { none, perhaps, alive };
  [[nodiscard]] Rival find_rival(const std::string& node, const Id128& boot);

  loop::Loop& loop_;
  loop::Network& network_;
  Ledger& ledger_;
  const Keyring& keys_;
  NodeJournals& journals_;
  const ContentSource& content_;
  const LinkSettings settings_;
  const Tell tell_;
  std::optional<wire::TlsContext> context_;
  std::unique_ptr<loop::Listener> listener_;
  std::map<std::uint64_t, std::shared_ptr<LinkSession>> sessions_;
  std::deque<std::unique_ptr<loop::Stream>> waiting_;  // for a place, the first the longest
  std::unique_ptr<loop::Timer> admit_;
  std::set<std::uint64_t> strangers_;            // sessions not let in yet, the oldest first
  std::map<std::string, std::uint64_t> linked_;  // node to session
  std::map<std::string, WallNs> heard_;
  // Another machine's boot with a node's identity, and since when its session has to be silent.
  struct Doubt {
    Id128 boot;
    BootNs since;
  };
  std::map<std::string, Doubt> doubts_;
  std::uint64_t next_ = 1;
  std::size_t turned_away_ = 0;  // since it was said
  std::optional<BootNs> told_turned_away_;
  bool stopped_ = false;
};

}  // namespace datum::control
