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
  // The bytes of a content, before the request that names it. `conflict` where they are another's.
  [[nodiscard]] Status send_blob(const Digest& digest, ByteSource& source);
  // The exit code. Output goes to standard output, or into `output`.
  [[nodiscard]] Result<int> ask(const LocalRequest& request, std::string* output = nullptr);

 private:
  [[nodiscard]] Status send_request(ByteView text);
  explicit Client(wire::LocalStream stream) : stream_(std::move(stream)) {}
  wire::LocalStream stream_;
};

}  // namespace datum::control
