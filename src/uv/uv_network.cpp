// Listening, and the network put together.
#include "datum/uv/uv_network.hpp"

#include <utility>

#include "connecting.hpp"
#include "datum/base/assert.hpp"
#include "stream.hpp"

namespace datum::uv {
namespace {

constexpr int kBacklog = 4096;  // the kernel's own limit (net.core.somaxconn) cuts it

using OnAccept = std::function<void(std::unique_ptr<loop::Stream>)>;

class TcpListener final : public loop::Listener {
 public:
  TcpListener(LoopParts parts, OnAccept on_accept)
      : parts_(std::move(parts)),
        handle_(TcpHandle::make(parts_)),
        on_accept_(std::make_shared<OnAccept>(std::move(on_accept))),
        self_(std::make_shared<TcpListener*>(this)) {
    handle_->user = self_;
  }
  ~TcpListener() override { handle_->close(); }

  Status start(const loop::Address& address) {
    sockaddr_storage at{};
    const auto what = "listen on " + loop::to_string(address);
    if (uv_ip4_addr(address.host.c_str(), address.port, reinterpret_cast<sockaddr_in*>(&at)) != 0 &&
        uv_ip6_addr(address.host.c_str(), address.port, reinterpret_cast<sockaddr_in6*>(&at)) != 0)
      return fail(ErrorCode::invalid_argument, what + ": not an IP address");
    int result = uv_tcp_bind(&handle_->raw, reinterpret_cast<const sockaddr*>(&at), 0);
    if (result == 0) result = uv_listen(handle_->stream(), kBacklog, came);
    return result == 0 ? Status() : fail(network_error(result, what));
  }
  [[nodiscard]] std::uint16_t port() const override {
    sockaddr_storage at{};
    int size = sizeof at;
    const int result = uv_tcp_getsockname(&handle_->raw, reinterpret_cast<sockaddr*>(&at), &size);
    DATUM_ASSERT(result == 0);
    return ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&at)->sin6_port
                                          : reinterpret_cast<sockaddr_in*>(&at)->sin_port);
  }

 private:
  static void came(uv_stream_t* raw, int status) noexcept {
    const auto user = static_cast<TcpHandle*>(raw->data)->user.lock();
    if (user == nullptr || status < 0) return;
    (*static_cast<TcpListener**>(user.get()))->accept();
  }
  void accept() {
    auto* handle = TcpHandle::make(parts_);
    if (uv_accept(handle_->stream(), handle->stream()) != 0) return handle->close();
    auto stream = std::make_shared<std::unique_ptr<loop::Stream>>(make_stream(parts_, handle));
    const std::weak_ptr<OnAccept> on_accept = on_accept_;
    parts_.calls->dispatch([on_accept, stream] {
      if (const auto call = on_accept.lock()) (*call)(std::move(*stream));
    });
  }

  LoopParts parts_;
  TcpHandle* handle_;
  std::shared_ptr<OnAccept> on_accept_;
  std::shared_ptr<TcpListener*> self_;
};

class UvNetwork final : public loop::Network {
 public:
  explicit UvNetwork(loop::Loop& loop) : loop_(loop) {}

  Result<std::unique_ptr<loop::Listener>> listen(const loop::Address& address,
                                                 OnAccept on_accept) override {
    auto listener = std::make_unique<TcpListener>(parts_of(loop_), std::move(on_accept));
    DATUM_TRY(listener->start(address));
    return std::unique_ptr<loop::Listener>(std::move(listener));
  }
  std::unique_ptr<loop::Connecting> connect(
      const loop::Address& address, std::int64_t timeout_ns,
      std::function<void(Result<std::unique_ptr<loop::Stream>>)> done) override {
    return begin_connecting(loop_, address, timeout_ns, std::move(done));
  }

 private:
  loop::Loop& loop_;
};

}  // namespace

std::unique_ptr<loop::Network> make_network(loop::Loop& loop) {
  return std::make_unique<UvNetwork>(loop);
}

}  // namespace datum::uv
