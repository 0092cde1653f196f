// Connections over a network: bytes in order, both ways, until one side ends or the way between
// them breaks. `uv` implements it over TCP; a seeded simulation implements it for tests; one
// conformance suite runs over both. As in loop.hpp: everything belongs to the loop's thread, a
// callback never runs inside the call that registered it, and nothing here outlives its loop.
// Who is at the other end, and what the bytes mean, is known elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::loop {

struct Address {
  std::string host;  // a name, or an IPv4 or IPv6 address without brackets
  std::uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};
[[nodiscard]] std::string to_string(const Address& address);  // "host:1", "[::1]:1"
// "host:port", "192.0.2.1:port", "[2001:db8::1]:port"; port 1 to 65535. nullopt for anything else.
[[nodiscard]] std::optional<Address> find_address(std::string_view text);

// More than this waits for nobody: a peer that does not read is not worth its memory.
inline constexpr std::size_t kMaxUnsent = 256 * 1024;

struct StreamEvents {
  std::function<void(Bytes)> data;  // never empty
  // Once, and last: the peer has ended in order, or why nothing more comes.
  std::function<void(Status)> end;
  // All that was taken to be sent is out, after some had waited. May be empty.
  std::function<void()> drained = {};
};

// One connection. Destroying it cuts it at once; none of its callbacks runs any more.
class Stream {
 public:
  virtual ~Stream() = default;
  // Once. What arrived before waits until then.
  virtual void start(StreamEvents events) = 0;
  // Takes the bytes to be sent. `limit_exceeded` when more than kMaxUnsent would wait: then nothing
  // of them is sent. `unavailable` after `end`, and after the connection broke.
  [[nodiscard]] virtual Status send(Bytes bytes) = 0;
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  // Whether bytes are taken from the peer (at first they are). Those that are not wait at the peer.
  virtual void set_reading(bool reading) = 0;
  // Nothing more is sent; once what was taken is out, the peer sees the end. Bytes still arrive.
  virtual void end() = 0;
  [[nodiscard]] virtual const std::string& peer() const = 0;  // its address, for people
};

// Destroying it ends listening.
class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;  // the one that was found, for port 0
};

// Destroying it gives the attempt up; its callback never runs then.
class Connecting {
 public:
  virtual ~Connecting() = default;
};

class Network {
 public:
  virtual ~Network() = default;
  // `address.host` is an address of this machine ("::" for all). `busy` when another has the port,
  // `permission_denied`, `not_found` for an address that is not of this machine.
  [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen(
      const Address& address, std::function<void(std::unique_ptr<Stream>)> on_accept) = 0;
  // Looks the name up and tries its addresses one after the other. `done` runs once: `not_found`
  // for a name that nobody knows, `unavailable` when nobody listens or no way leads there,
  // `timed_out` after `timeout_ns` (positive) in all.
  [[nodiscard]] virtual std::unique_ptr<Connecting> connect(
      const Address& address, std::int64_t timeout_ns,
      std::function<void(Result<std::unique_ptr<Stream>>)> done) = 0;
};

}  // namespace datum::loop
