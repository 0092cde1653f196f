// Two ends of a socket in a scratch folder: who is there, limits in size and time, ends.
#include "datum/wire/local_socket.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "datum/base/time.hpp"
#include "scratch.hpp"

namespace {

using namespace datum;
using namespace datum::wire;

// Nobody here waits for long: whoever should answer does.
constexpr std::int64_t kLong = 60 * kNsPerSecond;

// One connection: the caller's end and the listener's.
struct Pair {
  explicit Pair(LocalListener& listener, const std::string& path)
      : caller(LocalStream::connect(path)), taken(listener.accept(::geteuid())) {
    REQUIRE(caller);
    REQUIRE(taken);
  }
  Result<LocalStream> caller, taken;
};

}  // namespace

TEST_CASE("local socket: it is its owner's alone, and each end knows who has the other") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  struct stat info {};
  REQUIRE(::stat(folder.socket().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
  const Pair pair(**listener, folder.socket());
  CHECK(pair.taken->peer()->uid == ::geteuid());
  CHECK(pair.taken->peer()->pid == ::getpid());
  CHECK(pair.caller->peer()->uid == ::geteuid());
}

TEST_CASE("local socket: where others may come each is asked for by user and groups") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket(), true);
  REQUIRE(listener);
  struct stat info {};
  REQUIRE(::stat(folder.socket().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0666);
  const auto one = LocalStream::connect(folder.socket());
  const auto other = LocalStream::connect(folder.socket());
  REQUIRE(one);
  REQUIRE(other);
  // The first is sent away, the second is let in.
  int asked = 0;
  const Admission admission(::geteuid() + 1, [&asked](const Peer& peer) {
    return peer.is_in(::getegid()) && ++asked == 2 ? Welcome::guest : Welcome::none;
  });
  auto taken = (*listener)->accept(admission);
  REQUIRE(taken);
  CHECK(asked == 2);
  const auto peer = taken->peer();
  REQUIRE(peer);
  std::vector<gid_t> groups(1'024);
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  REQUIRE(count >= 0);
  CHECK(peer->groups.size() == static_cast<std::size_t>(count) + 1);
  for (int i = 0; i < count; ++i) CHECK(peer->is_in(groups[static_cast<std::size_t>(i)]));
  CHECK_FALSE(peer->is_in(4'000'000'000U));
}

TEST_CASE("local socket: frames arrive whole, in order, in both directions") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  Pair pair(**listener, folder.socket());
  const Bytes large(kMaxFrame, std::byte{0x5a});
  std::thread sender([&] {
    static_cast<void>(pair.caller->send(1, as_bytes("first"), kLong));
    static_cast<void>(pair.caller->send(2, large, kLong));
  });
  const auto first = pair.taken->receive(kMaxFrame, kLong);
  const auto second = pair.taken->receive(kMaxFrame, kLong);
  sender.join();
  REQUIRE(first);
  CHECK(first->kind == 1);
  CHECK(as_text(first->message) == "first");
  REQUIRE(second);
  CHECK(second->kind == 2);
  CHECK(second->message == large);
  REQUIRE(pair.taken->send(9, {}, kLong));
  CHECK(pair.caller->receive(0, kLong)->kind == 9);
}

TEST_CASE("local socket: what is larger than its limit is not read") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  Pair pair(**listener, folder.socket());
  REQUIRE(pair.caller->send(1, as_bytes("123456"), kLong));
  CHECK(pair.taken->receive(5, kLong).error().code() == ErrorCode::limit_exceeded);
}

TEST_CASE("local socket: who says nothing is waited for up to the limit, who is gone not at all") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  Pair pair(**listener, folder.socket());
  CHECK(pair.taken->receive(5, 20 * kNsPerMs).error().code() == ErrorCode::timed_out);
  { const auto gone = std::move(*pair.caller); }
  CHECK(pair.taken->receive(5, kLong).error().code() == ErrorCode::unavailable);
  CHECK(pair.taken->send(1, as_bytes("x"), kLong).error().code() == ErrorCode::unavailable);
}

TEST_CASE("local socket: one that does not read ends the sending after its limit") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  Pair pair(**listener, folder.socket());
  const Bytes large(kMaxFrame, std::byte{1});
  Status sent;
  for (int tries = 0; sent && tries < 1000; ++tries)
    sent = pair.taken->send(1, large, 20 * kNsPerMs);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code() == ErrorCode::timed_out);
}

TEST_CASE("local socket: nobody listens: none is there, or a dead one's name is left") {
  const Folder folder;
  CHECK(LocalStream::connect(folder.socket()).error().code() == ErrorCode::not_found);
  {
    const auto listener = LocalListener::listen(folder.socket());
    REQUIRE(listener);
    std::filesystem::create_hard_link(folder.socket(), folder.socket() + ".left");
  }
  CHECK_FALSE(std::filesystem::exists(folder.socket()));
  std::filesystem::rename(folder.socket() + ".left", folder.socket());
  CHECK(LocalStream::connect(folder.socket()).error().code() == ErrorCode::unavailable);
  CHECK(LocalListener::listen(folder.socket()));
}

TEST_CASE("local socket: a wait for callers ends when it is told to, and a stream's when it is") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  Pair pair(**listener, folder.socket());
  std::thread waits([&] {
    if (auto frame = pair.taken->receive(5, 0); !frame) (*listener)->shut_down();
  });
  pair.taken->shut_down();
  waits.join();
  CHECK((*listener)->accept(::geteuid()).error().code() == ErrorCode::cancelled);
}

TEST_CASE("local socket: callers of another user are told so and sent away unheard") {
  const Folder folder;
  const auto listener = LocalListener::listen(folder.socket());
  REQUIRE(listener);
  auto stranger = LocalStream::connect(folder.socket());
  REQUIRE(stranger);
  const auto turn_away = [](LocalStream& stream, const std::string& why) {
    static_cast<void>(stream.send(8, as_bytes(why), kLong));
  };
  std::thread waits([&] { static_cast<void>((*listener)->accept(::geteuid() + 1, turn_away)); });
  const auto told = stranger->receive(100, kLong);
  REQUIRE(told);
  CHECK(as_text(told->message) == "uid " + std::to_string(::geteuid()) + " may not ask here");
  CHECK(stranger->receive(5, kLong).error().code() == ErrorCode::unavailable);
  (*listener)->shut_down();
  waits.join();
}
