// Asking the server that runs: what it answers goes to this program's standard streams.
#pragma once

#include <string>

#include "datum/base/content.hpp"
#include "datum/control/local_request.hpp"
#include "datum/wire/local_socket.hpp"

namespace datum::control {

class Client {
 public:
  // `not_found`: no server listens at `path`. `refused`: another user does.
  [[nodiscard]] static Result<Client> connect(const std::string& path);
  // The bytes of a content, before the request that names it. An error is of the source, or the
  // server hung up.
  [[nodiscard]] Status send_blob(const Digest& digest, ByteSource& source);
  // The exit code. Output goes to standard output, or into `output`.
  [[nodiscard]] Result<int> ask(const LocalRequest& request, std::string* output = nullptr);
  // Nothing more can be sent: the server hung up, and may have said why, which `hear` tells.
  [[nodiscard]] bool is_cut_off() const { return !sent_; }
  // What is said to what was sent, as `ask` does with it.
  [[nodiscard]] Result<int> hear(std::int64_t within_ns, std::string* output = nullptr);

 private:
  void send(LocalFrame kind, ByteView message);
  Client(wire::LocalStream stream, wire::Peer server)
      : stream_(std::move(stream)), server_(std::move(server)) {}
  wire::LocalStream stream_;
  wire::Peer server_;
  Status sent_;  // the first that could not be sent
};

}  // namespace datum::control
