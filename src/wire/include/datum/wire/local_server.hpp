// Serves a local socket: who may call, how many at once, how long. Each caller has a thread that
// reads and writes for it; what is asked is answered on the loop, by somebody else. Knows frames,
// and no meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datum/loop/loop.hpp"
#include "datum/wire/local_socket.hpp"

namespace datum::wire {

// One frame; of a text that is longer than a frame may be, as many as it takes.
struct LocalPart {
  std::uint8_t kind = 0;
  std::string text;
};

// Loop thread only.
class LocalServer {
 public:
  // Who asked and waits. Copies mean the same one. After the server is gone nothing is sent.
  class Caller {
   public:
    // An answer that nobody takes any more is lost.
    void send(std::vector<LocalPart> parts) const;
    // The last that is said to it; it is hung up on afterwards. Once.
    void end(std::vector<LocalPart> parts) const;

   private:
    friend class LocalServer;
    Caller(LocalServer& server, std::uint64_t id);
    LocalServer* server_;
    std::uint64_t id_;
    std::weak_ptr<bool> alive_;  // the server's
  };
  // On the caller's thread, where it may wait; owns what it uses, or borrows what outlives the
  // loop.
  template <class Asked>
  using Read = std::function<Result<Asked>(LocalStream&)>;
  // On the loop, with what was read, right or wrong; never after the server is gone.
  template <class Asked>
  using Answer = std::function<void(Result<Asked>, Caller)>;

  // What somebody is told who is not heard, or not answered any more, as its last frames. Any
  // thread.
  using Refuse = std::function<std::vector<LocalPart>(const std::string& why)>;

  // Listens at `path` for those who are welcome, in a folder that is made if it is missing.
  // `refused` where somebody else than the owner can write it, or, with no others, enter it.
  template <class Asked>
  [[nodiscard]] static Result<std::unique_ptr<LocalServer>> listen(
      loop::Loop& loop, const std::string& path, Admission admission, Read<Asked> read,
      Answer<Asked> answer, Refuse refuse) {
    return listen(
        loop, path, std::move(admission),
        [read = std::move(read), answer = std::move(answer)] {
          const auto asked =
              std::make_shared<Result<Asked>>(fail(ErrorCode::internal, "nothing was asked"));
          return Exchange{
              [read, asked](LocalStream& stream) { *asked = read(stream); },
              [answer, asked](const Caller& caller) { answer(std::move(*asked), caller); }};
        },
        std::move(refuse));
  }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;
  // Whoever still asks or waits is told that it ends; an answer that is on its way is finished.
  ~LocalServer();

 private:
  // Both halves of one caller's turn.
  struct Exchange {
    std::function<void(LocalStream&)> read;
    std::function<void(const Caller&)> answer;
  };
  using Begin = std::function<Exchange()>;
  struct Connection {
    std::unique_ptr<loop::Worker> thread;
    std::shared_ptr<LocalStream> stream;
    bool reads = true;
    bool is_guest = false;
    bool is_answered = false;  // to its end
  };
  [[nodiscard]] static Result<std::unique_ptr<LocalServer>> listen(loop::Loop& loop,
                                                                   const std::string& path,
                                                                   Admission admission, Begin begin,
                                                                   Refuse refuse);
  LocalServer(loop::Loop& loop, std::unique_ptr<LocalListener> listener, Admission admission,
              Begin begin, Refuse refuse);
  [[nodiscard]] std::size_t guests() const;
  void accept_next();
  void took(Result<LocalStream> stream);
  void send(std::uint64_t id, std::vector<LocalPart> parts, bool is_last);

  loop::Loop& loop_;
  std::unique_ptr<LocalListener> listener_;
  const Admission admission_;
  const Begin begin_;
  const Refuse refuse_;
  std::unique_ptr<loop::Worker> acceptor_;
  std::unique_ptr<loop::Timer> again_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace datum::wire
