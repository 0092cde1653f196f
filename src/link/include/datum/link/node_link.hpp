// A node's end of the link: keeps one connection to its control plane open, finds out when it is
// dead, comes back without a crowd, and says upward what its node tells it to say. It decides
// nothing about declarations, orders or certificates: those go to the node as they come. Time,
// network and random bits come from outside, so it runs over a simulation as over the real ones
// (docs/formats/link.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/link_message.hpp"
#include "datum/loop/loop.hpp"
#include "datum/loop/network.hpp"
#include "datum/wire/tls.hpp"

namespace datum::link {

// One address: name, connection, nothing of TLS yet. A satellite takes two seconds.
inline constexpr std::int64_t kConnectWithinNs = 10 * kNsPerSecond;
// Until a control plane has said another one, and the bounds of what it may say.
inline constexpr std::int64_t kUsualHeartbeatNs = 60 * kNsPerSecond;
inline constexpr std::int64_t kLeastHeartbeatNs = kNsPerSecond;
inline constexpr std::int64_t kMostHeartbeatNs = 3600 * kNsPerSecond;
// Heartbeats without a word from the other end: then the connection is dead, whoever says what.
inline constexpr std::int64_t kSilentHeartbeats = 2;
// Heartbeats without a connection: then the node is disconnected (design, 4).
inline constexpr std::int64_t kLostHeartbeats = 3;
// Between two parts of the journal: a backlog takes 5 MB a second of a line at most, and the loop
// has time for everything else.
inline constexpr std::int64_t kPartEveryNs = 25 * kNsPerMs;

// What the link needs of its node, and tells it. All on the loop, never inside a call of the
// node's own into the link. It may call the link, and stop it; it must not destroy it.
class NodeSide {
 public:
  virtual ~NodeSide() = default;

  // What is durable, and nothing else. `done` is called at once or later.
  virtual void hello(std::function<void(core::Hello)> done) = 0;
  // nullopt while something that it would tell is not durable yet: `report` brings it later.
  [[nodiscard]] virtual std::optional<core::Heartbeat> heartbeat() = 0;
  // Durable records from `from` on, as many as one part holds. `done` is called later, once; with
  // nullopt where there are none. One read at a time for each connection.
  using Part = Result<std::optional<core::JournalPart>>;
  virtual void read_journal(Seq from, std::function<void(Part)> done) = 0;

  virtual void up(const std::string& address, const core::Welcome& welcome) = 0;
  // Of a connection that was up. Another one is tried by itself.
  virtual void down(const std::string& why) = 0;
  // No connection for kLostHeartbeats; once until the next `up`.
  virtual void lost(const std::string& why) = 0;
  // The control plane ended the connection, or did not begin it, and says why.
  virtual void goodbye(const core::Goodbye& goodbye) = 0;
  // A declaration, a part of a blob, an order, or a certificate.
  virtual void received(core::LinkMessage message) = 0;
  // All through it is kept upstream.
  virtual void kept(Seq through) = 0;
  // There may be room for more.
  virtual void drained() = 0;
  // Something depends on its being heard soon: the longest random part of a wait; 0: nothing does.
  [[nodiscard]] virtual std::int64_t most_wait_ns() { return 0; }
};

class NodeLink {
 public:
  // All are borrowed. `random` gives 64 random bits at each call.
  NodeLink(loop::Loop& loop, loop::Network& network, NodeSide& side,
           std::function<std::uint64_t()> random);
  // Cuts what is open.
  ~NodeLink();
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  // Keeps a connection to one of `addresses` (at least one) from now on, until `stop`. Again: with
  // other addresses or another certificate; what is open is ended first.
  void start(std::vector<loop::Address> addresses, wire::TlsContext context);
  // Says goodbye where somebody hears it; nothing is tried any more, and nobody is told.
  void stop(core::LinkCause cause, const std::string& why);

  [[nodiscard]] bool is_up() const;
  [[nodiscard]] bool is_started() const;
  // Why it is not up, for people; empty while it is.
  [[nodiscard]] const std::string& problem() const;
  // All through it is kept upstream, by the last that was heard.
  [[nodiscard]] Seq kept() const;
  [[nodiscard]] std::int64_t heartbeat_ns() const;

  // `unavailable` while it is not up; `limit_exceeded` where too much waits already: the connection
  // then ends.
  [[nodiscard]] Status send(const core::LinkMessage& message);
  // Whether bytes are taken from the peer: for a node that cannot keep up with what it asked for.
  void set_reading(bool reading);
  // A heartbeat now, beside the regular ones.
  void report();
  // There are durable records that were not there before.
  void journal_grew();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum::link
