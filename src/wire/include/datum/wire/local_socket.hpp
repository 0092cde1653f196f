// A socket of this machine that knows who is at the other end. Calls block: whoever serves many
// gives each a thread. Every read and write has a limit in time. Knows frames, and no meaning.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/wire/frame.hpp"

namespace datum::wire {

struct Peer {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
  std::vector<std::uint32_t> groups;  // its own first, then those that it is a member of
  [[nodiscard]] bool is_in(std::uint32_t group) const;
};

// How somebody is taken: not at all, as a guest, of whom only so many have room at once, or as
// those for whom there is always room beside the guests.
enum class Welcome : std::uint8_t { none, guest, full };

// Who may call. Whoever is not welcome is told so and sent away unheard.
struct Admission {
  Admission(std::uint32_t owner_uid) : owner(owner_uid) {}  // NOLINT: implicit by design
  Admission(std::uint32_t owner_uid, std::function<Welcome(const Peer&)> who)
      : owner(owner_uid), others(std::move(who)) {}
  [[nodiscard]] Welcome welcome(const Peer& peer) const {
    if (peer.uid == owner) return Welcome::full;
    return others ? others(peer) : Welcome::none;
  }
  std::uint32_t owner;                         // the user of whom folder and socket are
  std::function<Welcome(const Peer&)> others;  // any thread; empty: nobody else
};

struct Frame {
  std::uint8_t kind = 0;
  Bytes message;
};

// One connection. One thread at a time, but `shut_down`, which any thread may call meanwhile.
class LocalStream {
 public:
  explicit LocalStream(int descriptor) : descriptor_(descriptor) {}
  LocalStream(LocalStream&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  LocalStream& operator=(LocalStream&& other) noexcept;
  ~LocalStream();

  // Connects to the socket at `path`. `not_found`: there is none. `unavailable`: nobody listens.
  [[nodiscard]] static Result<LocalStream> connect(const std::string& path);

  // Who has the other end, as the kernel says.
  [[nodiscard]] Result<Peer> peer() const;
  // `timed_out` when the other end takes nothing for `within_ns`; 0: no limit. `unavailable`: it is
  // gone. After an error the stream is of no use.
  [[nodiscard]] Status send(std::uint8_t kind, ByteView message, std::int64_t within_ns);
  // The next frame whole. `limit_exceeded` for one beyond `limit`, before it is read.
  // `unavailable`: the other end is gone, in order or not.
  [[nodiscard]] Result<Frame> receive(std::size_t limit, std::int64_t within_ns);
  // Every call that waits, here or later, ends.
  void shut_down() const;
  // Every `receive` that waits, here or later, ends; what is to be said can be said yet.
  void stop_receiving() const;

 private:
  [[nodiscard]] Status read_whole(MutableByteView bytes);
  [[nodiscard]] Status limit_time(int option, std::int64_t within_ns) const;
  int descriptor_;
};

// A listening socket. Removed when destroyed.
class LocalListener {
 public:
  // What lies at `path` from a process that died is replaced: the caller knows that none listens.
  // The folder must exist. `limit_exceeded`: the path is longer than a socket's may be. For its
  // owner alone (0600), unless others may connect too, who are asked for when they are taken.
  [[nodiscard]] static Result<std::unique_ptr<LocalListener>> listen(const std::string& path,
                                                                     bool for_others = false);
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  ~LocalListener();

  // Told why, who is not welcome; on the thread of `accept`. A few short frames are not waited for.
  using TurnAway = std::function<void(LocalStream&, const std::string& why)>;
  // Waits for the next one who is welcome, without limit. `cancelled` after `shut_down`.
  [[nodiscard]] Result<LocalStream> accept(const Admission& admission,
                                           const TurnAway& turn_away = nullptr);
  // Ends `accept`, on whatever thread it waits, and every later one.
  void shut_down();

 private:
  LocalListener(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
  std::atomic<bool> ended_ = false;
};

}  // namespace datum::wire
