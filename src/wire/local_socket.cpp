#include "datum/wire/local_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "datum/base/time.hpp"

namespace datum::wire {
namespace {

// As many as knock at once wait their turn; more than a handful of commands never do.
constexpr int kBacklog = 16;
// Of a person; more are asked for where there are.
constexpr std::size_t kUsualGroups = 64;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return fail(ErrorCode::limit_exceeded, path + ": longer than the path of a socket may be");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Error error_of_peer(int number, const char* what) {
  if (number == EAGAIN) return {ErrorCode::timed_out, std::string(what) + ": no answer in time"};
  if (number == EPIPE || number == ECONNRESET || number == ENOTCONN)
    return {ErrorCode::unavailable, std::string(what) + ": the other end is gone", number};
  return error_from_errno(number, what);
}

}  // namespace

bool Peer::is_in(std::uint32_t group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

LocalStream& LocalStream::operator=(LocalStream&& other) noexcept {
  if (this == &other) return *this;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

LocalStream::~LocalStream() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<LocalStream> LocalStream::connect(const std::string& path) {
  DATUM_ASSIGN(const auto address, address_of(path));
  LocalStream stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (stream.descriptor_ < 0) return fail(error_from_errno(errno, "socket"));
  if (::connect(stream.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
      0)
    return stream;
  if (errno == ECONNREFUSED || errno == EAGAIN)
    return fail(ErrorCode::unavailable, path + ": nobody listens there");
  return fail(error_from_errno(errno, path));
}

Result<Peer> LocalStream::peer() const {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return fail(error_from_errno(errno, "who has the other end"));
  Peer peer{credentials.uid, credentials.pid, {credentials.gid}};
  std::vector<gid_t> groups(kUsualGroups);
  for (;;) {
    size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(descriptor_, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) == 0) break;
    // The kernel says how many there are.
    if (errno != ERANGE || size <= groups.size() * sizeof(gid_t))
      return fail(error_from_errno(errno, "which groups has the other end"));
    groups.resize(size / sizeof(gid_t));
  }
  groups.resize(size / sizeof(gid_t));
  peer.groups.insert(peer.groups.end(), groups.begin(), groups.end());
  return peer;
}

Status LocalStream::limit_time(int option, std::int64_t within_ns) const {
  timeval limit{};
  limit.tv_sec = within_ns / kNsPerSecond;
  limit.tv_usec = within_ns % kNsPerSecond / 1000;
  if (::setsockopt(descriptor_, SOL_SOCKET, option, &limit, sizeof limit) == 0) return {};
  return fail(error_from_errno(errno, "limit a socket in time"));
}

Status LocalStream::send(std::uint8_t kind, ByteView message, std::int64_t within_ns) {
  DATUM_TRY(limit_time(SO_SNDTIMEO, within_ns));
  const auto frame = make_frame(kind, message);
  for (ByteView rest = frame; !rest.empty();) {
    const auto sent = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(error_of_peer(errno, "send"));
    rest = rest.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

Status LocalStream::read_whole(MutableByteView bytes) {
  while (!bytes.empty()) {
    const auto size = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(error_of_peer(errno, "receive"));
    if (size == 0) return fail(ErrorCode::unavailable, "receive: the other end is gone");
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return {};
}

Result<Frame> LocalStream::receive(std::size_t limit, std::int64_t within_ns) {
  DATUM_TRY(limit_time(SO_RCVTIMEO, within_ns));
  std::array<std::byte, kFrameHead> head_bytes{};
  DATUM_TRY(read_whole(head_bytes));
  DATUM_ASSIGN(const auto head, read_frame_head(head_bytes, limit));
  Frame frame{head.kind, Bytes(head.size)};
  DATUM_TRY(read_whole(frame.message));
  return frame;
}

void LocalStream::shut_down() const {
  ::shutdown(descriptor_, SHUT_RDWR);
}

void LocalStream::stop_receiving() const {
  ::shutdown(descriptor_, SHUT_RD);
}

Result<std::unique_ptr<LocalListener>> LocalListener::listen(const std::string& path,
                                                             bool for_others) {
  DATUM_ASSIGN(const auto address, address_of(path));
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return fail(error_from_errno(errno, "socket"));
  std::unique_ptr<LocalListener> listener(new LocalListener(path, descriptor));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(error_from_errno(errno, path));
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), for_others ? 0666 : 0600) != 0 || ::listen(descriptor, kBacklog) != 0)
    return fail(error_from_errno(errno, path));
  return listener;
}

LocalListener::~LocalListener() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

Result<LocalStream> LocalListener::accept(const Admission& admission, const TurnAway& turn_away) {
  for (;;) {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    const int number = errno;
    if (ended_) {
      if (descriptor >= 0) ::close(descriptor);
      return fail(ErrorCode::cancelled, "no more connections are taken");
    }
    if (descriptor < 0 && (number == EINTR || number == ECONNABORTED)) continue;
    if (descriptor < 0) return fail(error_from_errno(number, "accept"));
    LocalStream stream(descriptor);
    const auto peer = stream.peer();
    if (peer && admission.welcome(*peer) != Welcome::none) return stream;
    if (turn_away)
      turn_away(stream, peer ? "uid " + std::to_string(peer->uid) + " may not ask here"
                             : peer.error().message());
  }
}

void LocalListener::shut_down() {
  ended_ = true;
  ::shutdown(descriptor_, SHUT_RDWR);
}

}  // namespace datum::wire
