// TLS 1.3 as a machine of bytes: what came from the peer goes in, what it is to be sent comes out,
// text goes through. Knows no socket, no clock and no trust: who is taken is asked of a function.
// The bytes of a session are those of RFC 8446; only the mesh's own certificates are ever looked at
// (no system trust store, no tickets, no early data, no renegotiation).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::wire {

// Who this end is. All DER. Empty: a node that is not enrolled yet, which has nothing to show.
struct TlsIdentity {
  Bytes certificate;
  Bytes private_key;  // PKCS#8
  Bytes authority;    // sent along by the end that serves, for those who know its pin only
};

// What the peer showed, leaf first; empty if it showed nothing. An error ends the handshake; the
// peer is told only that its certificate was not taken, this end the error.
using JudgePeer = std::function<Status(const std::vector<Bytes>& chain)>;

enum class TlsEnd : std::uint8_t { serves, connects };

// What all connections of one end share. Replaced as a whole when a key or certificate is: sessions
// keep what they began with. May be shared by sessions of one thread.
class TlsContext {
 public:
  // `invalid_argument` when certificate and key are none, or do not belong together.
  [[nodiscard]] static Result<TlsContext> make(TlsEnd end, const TlsIdentity& identity,
                                               JudgePeer judge);
  TlsContext(TlsContext&&) noexcept;
  TlsContext& operator=(TlsContext&&) noexcept;
  ~TlsContext();

  struct Impl;
  [[nodiscard]] const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  explicit TlsContext(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// One connection. After an error it is of no use, but what `take_output` gives is still to be sent:
// it tells the peer why. One thread at a time.
class TlsSession {
 public:
  explicit TlsSession(const TlsContext& context);
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  // Bytes from the peer, any number of them. Text that is whole is added to `text`. The error of
  // the judge if it took the peer's certificate for bad; `corrupt` for what is no TLS 1.3, or was
  // changed on the way; `refused` when the peer ended the handshake or the session with an alert.
  // `text` holds at most what the bytes held: nothing is unpacked.
  [[nodiscard]] Status receive(ByteView bytes, Bytes& text);
  // Text for the peer; only after `is_established`.
  [[nodiscard]] Status send(ByteView text);
  // Tells the peer that nothing more comes.
  void end();

  // What is to be sent, and was not taken yet. At the end that connects it begins with the first
  // message of the handshake.
  [[nodiscard]] Bytes take_output();
  [[nodiscard]] bool has_output() const;

  // The handshake is over on this side: the peer was judged.
  [[nodiscard]] bool is_established() const;
  // The peer said that nothing more comes. A connection that ends without it was cut off.
  [[nodiscard]] bool peer_ended() const;
  // What the peer showed; nothing before the handshake is over, and for a peer without one.
  [[nodiscard]] std::optional<Bytes> peer_certificate() const;

  // 32 bytes that both ends compute and nobody else (RFC 8446, 7.5): what a proof
  // of possession is bound to. Only after `is_established`.
  [[nodiscard]] Bytes binding(std::string_view label) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum::wire
