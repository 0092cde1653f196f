// The server's end of the local socket: who may ask, how much, how long. Each connection has a
// thread that reads and writes for it, and takes what a push brings into the blobs; what is asked
// is answered on the loop. Nothing that a caller names is opened here: content comes as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "datum/blobs/blob_store.hpp"
#include "datum/control/local_request.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/loop/loop.hpp"
#include "datum/wire/local_socket.hpp"

namespace datum::control {

class LocalServer {
 public:
  using Handler = std::function<void(LocalRequest, wire::Peer, Reply)>;

  // Listens at `path`, in a folder that is made if it is missing and has to be this user's alone.
  // `handle` is called on the loop; a reply after the server is gone does nothing.
  [[nodiscard]] static Result<std::unique_ptr<LocalServer>> listen(loop::Loop& loop,
                                                                   const std::string& path,
                                                                   blobs::BlobStore& blobs,
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
  struct Asked {
    LocalRequest request;
    wire::Peer peer;
  };
  LocalServer(loop::Loop& loop, std::unique_ptr<wire::LocalListener> listener,
              blobs::BlobStore& blobs, Handler handle);
  [[nodiscard]] static Result<Asked> read_asked(wire::LocalStream& stream, blobs::BlobStore& blobs);
  void accept_next();
  void took(Result<wire::LocalStream> stream);
  void ask(std::uint64_t id, Result<Asked> asked);
  void reply(std::uint64_t id, Answer answer);

  loop::Loop& loop_;
  std::unique_ptr<wire::LocalListener> listener_;
  blobs::BlobStore& blobs_;
  Handler handle_;
  std::unique_ptr<loop::Worker> acceptor_;
  std::unique_ptr<loop::Timer> again_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace datum::control
