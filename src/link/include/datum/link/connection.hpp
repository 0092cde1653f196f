// One connection of a link: TLS over a stream, frames inside it, messages in them. Bounded in every
// direction: what a stranger may send before it is known, how long it may take, how much may wait
// for a peer that does not read. A fault of the peer ends its connection with a goodbye that names
// the cause, and nothing else. Who is taken as a peer is asked of the TLS context's judge; what
// messages mean is known to `node` and `control`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/link_message.hpp"
#include "datum/loop/loop.hpp"
#include "datum/loop/network.hpp"
#include "datum/wire/tls.hpp"

namespace datum::link {

// A peer that was not let in yet: its enrolment request with an inventory of 48 KiB fits.
inline constexpr std::size_t kMaxStrangersFrame = 64 * 1024;
// For TLS and the first message. A handshake takes two round trips; a satellite's takes 2 s.
inline constexpr std::int64_t kStrangersTimeNs = 30 * kNsPerSecond;

// How a connection ended.
struct LinkEnd {
  core::Goodbye goodbye;  // the peer's, or what it was told
  bool by_peer = false;   // it said so itself
  bool was_cut = false;   // no goodbye came: the way broke, or the peer is gone
  std::string why;        // for people
};

struct ConnectionEvents {
  std::function<void()> established;  // TLS is up, the peer was judged
  std::function<void(core::LinkMessage)> message;
  std::function<void(const LinkEnd&)> end;  // once, and last
  std::function<void()> drained = {};       // as a stream's
};

// May be destroyed by any of its callbacks; that cuts it.
class Connection {
 public:
  // `context` is asked once; the connection keeps what it needs of it.
  Connection(loop::Loop& loop, std::unique_ptr<loop::Stream> stream,
             const wire::TlsContext& context);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start(ConnectionEvents events);
  // The peer is known: the limits of a stranger fall.
  void let_in();
  // Only after `established`. `limit_exceeded` when more than loop::kMaxUnsent would wait: the
  // connection then ends as too slow. `unavailable` after its end.
  [[nodiscard]] Status send(const core::LinkMessage& message);
  // Whether a part of core::kMaxLinkPart would be taken now.
  [[nodiscard]] bool has_room() const;
  // Whether bytes are taken from the peer (at first they are); those that are not wait there.
  void set_reading(bool reading);
  // Sends the goodbye if the peer can still read it; `end` is called, later, with it.
  void close(core::LinkCause cause, std::string why, std::int64_t not_before_ns = 0);

  [[nodiscard]] const std::string& peer() const;  // its address, for people
  // When the peer's last bytes came, of whatever kind; before any, when this began.
  [[nodiscard]] BootNs heard_at() const;
  // Both only after `established`.
  [[nodiscard]] std::optional<Bytes> peer_certificate() const;
  [[nodiscard]] Bytes binding(std::string_view label) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace datum::link
