// The service's end of the local socket: who may ask, how much, how long. Each connection has a
// thread that reads and writes for it; what is asked is answered on the loop, by somebody else.
// Nothing that a caller names is opened here: a manifest comes as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "datum/host/local_request.hpp"
#include "datum/loop/loop.hpp"
#include "datum/program/desired.hpp"
#include "datum/wire/local_socket.hpp"

namespace datum::host {

struct Asked {
  LocalRequest request;
  wire::Peer peer;
  std::optional<program::Desired> desired;  // of the manifest that came with it
  bool is_declared = false;                 // none came: the accepted declaration is meant
};
struct Answer {
  std::string output, errors;
  int exit_code = 0;
};
using Reply = std::function<void(Answer)>;

class LocalServer {
 public:
  using Handler = std::function<void(Asked, Reply)>;

  // Listens at `path`, in a folder that is made if it is missing and has to be the trusted user's
  // alone. Manifests are kept in unnamed files of `spool`. `handle` is called on the loop; a reply
  // after the server is gone does nothing.
  [[nodiscard]] static Result<std::unique_ptr<LocalServer>> listen(loop::Loop& loop,
                                                                   const std::string& path,
                                                                   std::string spool,
                                                                   std::uint32_t uid,
                                                                   Handler handle);
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;
  // Whoever still asks is cut off; an answer that is on its way is finished.
  ~LocalServer();

 private:
  struct Connection {
    std::unique_ptr<loop::Worker> thread;
    std::shared_ptr<wire::LocalStream> stream;
    bool reads = true;
  };
  LocalServer(loop::Loop& loop, std::unique_ptr<wire::LocalListener> listener, std::string spool,
              std::uint32_t uid, Handler handle);
  void accept_next();
  void took(Result<wire::LocalStream> stream);
  void ask(std::uint64_t id, Result<Asked> asked);
  void reply(std::uint64_t id, Answer answer);
  void forget(std::uint64_t id);

  loop::Loop& loop_;
  std::unique_ptr<wire::LocalListener> listener_;
  std::string spool_;
  std::uint32_t uid_;
  Handler handle_;
  std::unique_ptr<loop::Worker> acceptor_;
  std::unique_ptr<loop::Timer> again_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace datum::host
