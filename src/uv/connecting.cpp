// Looks a name up and tries its addresses in turn. The attempt is shared by whoever asked and by
// the one request of libuv that is under way; the latter outlives the former.
#include "connecting.hpp"

#include <deque>
#include <utility>

#include "datum/base/assert.hpp"
#include "stream.hpp"

namespace datum::uv {
namespace {

using Done = std::function<void(Result<std::unique_ptr<loop::Stream>>)>;

struct Attempt : std::enable_shared_from_this<Attempt> {
  Attempt(loop::Loop& its_loop, const loop::Address& its_address, Done its_done)
      : parts(parts_of(its_loop)),
        name(loop::to_string(its_address)),
        limit(its_loop.make_timer()),
        done(std::move(its_done)) {}

  void begin(const loop::Address& address, std::int64_t timeout_ns);
  void look_up(const loop::Address& address);
  void found(int status, const addrinfo* list, std::uint16_t port);
  void try_next();
  void tried(TcpHandle* handle, int status);
  // The one call of `done`, later than any call into the attempt.
  void finish(Result<std::unique_ptr<loop::Stream>> result);
  void give_up();

  LoopParts parts;
  std::string name;
  std::unique_ptr<loop::Timer> limit;
  Done done;  // empty once it was called or nobody waits
  std::deque<sockaddr_storage> addresses;
  TcpHandle* trying = nullptr;
  Error last{ErrorCode::not_found, "no address"};
};

struct LookUp {
  uv_getaddrinfo_t raw{};
  std::shared_ptr<Attempt> attempt;
  std::uint16_t port = 0;
};

struct Connect {
  uv_connect_t raw{};
  std::shared_ptr<Attempt> attempt;
  TcpHandle* handle = nullptr;
};

void Attempt::begin(const loop::Address& address, std::int64_t timeout_ns) {
  limit->start(timeout_ns, 0, [this] {
    finish(fail(ErrorCode::timed_out, name + ": no connection in time; last: " + last.message()));
  });
  sockaddr_storage literal{};
  const bool is_literal = uv_ip4_addr(address.host.c_str(), address.port,
                                      reinterpret_cast<sockaddr_in*>(&literal)) == 0 ||
                          uv_ip6_addr(address.host.c_str(), address.port,
                                      reinterpret_cast<sockaddr_in6*>(&literal)) == 0;
  if (!is_literal) return look_up(address);
  addresses.push_back(literal);
  try_next();
}

void Attempt::look_up(const loop::Address& address) {
  auto* request = new LookUp{{}, shared_from_this(), address.port};
  request->raw.data = request;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const auto on_found = [](uv_getaddrinfo_t* raw, int status, addrinfo* list) noexcept {
    const std::unique_ptr<LookUp> ended(static_cast<LookUp*>(raw->data));
    ended->attempt->found(status, list, ended->port);
    uv_freeaddrinfo(list);
  };
  const int result =
      uv_getaddrinfo(parts.raw, &request->raw, on_found, address.host.c_str(), nullptr, &hints);
  if (result == 0) return;
  delete request;
  finish(fail(network_error(result, name)));
}

void Attempt::found(int status, const addrinfo* list, std::uint16_t port) {
  if (!done) return;
  if (status < 0) return finish(fail(network_error(status, name)));
  for (; list != nullptr; list = list->ai_next) {
    sockaddr_storage address{};
    if (list->ai_family == AF_INET) {
      auto& four = reinterpret_cast<sockaddr_in&>(address);
      four = *reinterpret_cast<const sockaddr_in*>(list->ai_addr);
      four.sin_port = htons(port);
    } else if (list->ai_family == AF_INET6) {
      auto& six = reinterpret_cast<sockaddr_in6&>(address);
      six = *reinterpret_cast<const sockaddr_in6*>(list->ai_addr);
      six.sin6_port = htons(port);
    } else {
      continue;
    }
    addresses.push_back(address);
  }
  try_next();
}

void Attempt::try_next() {
  while (!addresses.empty()) {
    const auto address = addresses.front();
    addresses.pop_front();
    auto* request = new Connect{{}, shared_from_this(), TcpHandle::make(parts)};
    request->raw.data = request;
    const int result = uv_tcp_connect(
        &request->raw, &request->handle->raw, reinterpret_cast<const sockaddr*>(&address),
        [](uv_connect_t* raw, int status) noexcept {
          const std::unique_ptr<Connect> ended(static_cast<Connect*>(raw->data));
          ended->attempt->tried(ended->handle, status);
        });
    if (result == 0) {
      trying = request->handle;
      return;
    }
    last = network_error(result, describe(address));
    request->handle->close();
    delete request;
  }
  finish(fail(last));
}

void Attempt::tried(TcpHandle* handle, int status) {
  if (trying != handle) return;  // given up, and closed
  trying = nullptr;
  if (status == 0) return finish(make_stream(parts, handle));
  last = network_error(status, name);
  handle->close();
  try_next();
}

void Attempt::finish(Result<std::unique_ptr<loop::Stream>> result) {
  if (!done) return;
  limit->stop();
  if (trying != nullptr) std::exchange(trying, nullptr)->close();
  // A connection that nobody takes any more is cut when the call is dropped.
  auto shared = std::make_shared<Result<std::unique_ptr<loop::Stream>>>(std::move(result));
  parts.calls->post([self = shared_from_this(), shared] {
    if (const auto call = std::exchange(self->done, nullptr)) call(std::move(*shared));
  });
}

void Attempt::give_up() {
  done = nullptr;
  limit->stop();
  if (trying != nullptr) std::exchange(trying, nullptr)->close();
}

class UvConnecting final : public loop::Connecting {
 public:
  explicit UvConnecting(std::shared_ptr<Attempt> attempt) : attempt_(std::move(attempt)) {}
  ~UvConnecting() override { attempt_->give_up(); }

 private:
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace

std::unique_ptr<loop::Connecting> begin_connecting(loop::Loop& loop, const loop::Address& address,
                                                   std::int64_t timeout_ns, Done done) {
  DATUM_ASSERT(timeout_ns > 0);
  auto attempt = std::make_shared<Attempt>(loop, address, std::move(done));
  attempt->begin(address, timeout_ns);
  return std::make_unique<UvConnecting>(std::move(attempt));
}

}  // namespace datum::uv
