// Reading, writing and ending a connection. What libuv calls holds the stream weakly: one that was
// destroyed is called no more, and its handle and requests end on their own.
#include "stream.hpp"

#include <array>
#include <functional>
#include <utility>

#include "datum/base/assert.hpp"

namespace datum::uv {
namespace {

constexpr std::size_t kSocketBytes = 64 * 1024;  // what a socket's buffer gives at once

struct WriteRequest {
  uv_write_t raw{};
  Bytes bytes;
};

class TcpStream;

// What callbacks of libuv hold of a stream.
struct Link {
  TcpStream* stream = nullptr;  // null once it is destroyed
};

class TcpStream final : public loop::Stream {
 public:
  TcpStream(const LoopParts& parts, TcpHandle* handle)
      : calls_(parts.calls), handle_(handle), link_(std::make_shared<Link>()) {
    link_->stream = this;
    handle_->user = link_;
    uv_tcp_nodelay(&handle_->raw, 1);
    sockaddr_storage address{};
    int size = sizeof address;
    peer_ = uv_tcp_getpeername(&handle_->raw, reinterpret_cast<sockaddr*>(&address), &size) == 0
                ? describe(address)
                : "?";
  }
  ~TcpStream() override {
    link_->stream = nullptr;
    handle_->close();
  }

  void start(loop::StreamEvents events) override {
    DATUM_ASSERT(!started_);
    started_ = true;
    events_ = std::make_shared<loop::StreamEvents>(std::move(events));
    set_reading(true);
  }
  Status send(Bytes bytes) override;
  [[nodiscard]] std::size_t unsent() const override { return unsent_; }
  void set_reading(bool reading) override;
  void end() override;
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  static TcpStream* of(const uv_handle_t* handle) {
    const auto link = static_cast<TcpHandle*>(handle->data)->user.lock();
    return link ? static_cast<Link*>(link.get())->stream : nullptr;
  }
  static void arrived(uv_stream_t* raw, ssize_t count, const uv_buf_t* buffer) noexcept;
  static void written(uv_write_t* raw, int status) noexcept;
  // While a stopped loop owes a call of this stream, the next ones wait behind it.
  [[nodiscard]] bool must_wait() const;
  void owe(std::function<void(const loop::StreamEvents&)> call);
  void tell_data(Bytes bytes);
  void tell_end(Status status);
  void tell_drained();

  std::shared_ptr<CallQueue> calls_;
  TcpHandle* handle_;
  std::shared_ptr<Link> link_;
  std::shared_ptr<loop::StreamEvents> events_;
  std::string peer_;
  std::shared_ptr<std::size_t> owed_ = std::make_shared<std::size_t>(0);
  std::size_t unsent_ = 0;
  bool started_ = false;
  bool sending_over_ = false;
  bool receiving_over_ = false;
};

// One buffer for all connections of a thread: libuv fills it and hands it over at once.
void lend_buffer(uv_handle_t*, std::size_t, uv_buf_t* buffer) noexcept {
  thread_local std::array<char, kSocketBytes> bytes;
  *buffer = uv_buf_init(bytes.data(), bytes.size());
}

void TcpStream::set_reading(bool reading) {
  if (!started_ || receiving_over_) return;
  uv_read_stop(handle_->stream());
  if (!reading) return;
  const int result = uv_read_start(handle_->stream(), lend_buffer, arrived);
  if (result < 0)
    calls_->post([this, alive = std::weak_ptr<Link>(link_), result] {
      if (!alive.expired()) tell_end(fail(network_error(result, peer_)));
    });
}

void TcpStream::arrived(uv_stream_t* raw, ssize_t count, const uv_buf_t* buffer) noexcept {
  auto* stream = of(reinterpret_cast<uv_handle_t*>(raw));
  if (stream == nullptr || count == 0) return;
  if (count > 0) {
    const auto* begin = reinterpret_cast<const std::byte*>(buffer->base);
    return stream->tell_data({begin, begin + count});
  }
  if (count == UV_EOF) return stream->tell_end({});
  stream->tell_end(fail(network_error(static_cast<int>(count), stream->peer_)));
}

bool TcpStream::must_wait() const {
  return *owed_ > 0 || calls_->stop_requested();
}

void TcpStream::owe(std::function<void(const loop::StreamEvents&)> call) {
  ++*owed_;
  calls_->post([events = std::weak_ptr(events_), call = std::move(call), owed = owed_] {
    --*owed;
    if (const auto still = events.lock()) call(*still);
  });
}

void TcpStream::tell_data(Bytes bytes) {
  const auto events = events_;  // the call may destroy the stream
  if (!must_wait()) return events->data(std::move(bytes));
  owe([bytes = std::move(bytes)](const loop::StreamEvents& still) { still.data(bytes); });
}

void TcpStream::tell_end(Status status) {
  if (receiving_over_) return;
  receiving_over_ = true;
  uv_read_stop(handle_->stream());
  if (!status) sending_over_ = true;
  const auto events = events_;
  if (!must_wait()) return events->end(std::move(status));
  owe([status = std::move(status)](const loop::StreamEvents& still) { still.end(status); });
}

void TcpStream::tell_drained() {
  const auto events = events_;
  if (!events->drained || receiving_over_) return;
  if (!must_wait()) return events->drained();
  owe([](const loop::StreamEvents& still) { still.drained(); });
}

Status TcpStream::send(Bytes bytes) {
  if (sending_over_) return fail(ErrorCode::unavailable, peer_ + ": the connection has ended");
  if (bytes.empty()) return {};
  if (unsent_ + bytes.size() > loop::kMaxUnsent)
    return fail(ErrorCode::limit_exceeded,
                peer_ + " takes nothing: " + std::to_string(unsent_) + " bytes wait");
  auto* request = new WriteRequest{{}, std::move(bytes)};
  request->raw.data = request;
  const auto size = request->bytes.size();
  const auto buffer =
      uv_buf_init(reinterpret_cast<char*>(request->bytes.data()), static_cast<unsigned>(size));
  const int result = uv_write(&request->raw, handle_->stream(), &buffer, 1, written);
  if (result < 0) {
    delete request;
    return fail(ErrorCode::unavailable, network_error(result, peer_).message());
  }
  unsent_ += size;
  return {};
}

void TcpStream::written(uv_write_t* raw, int status) noexcept {
  const std::unique_ptr<WriteRequest> request(static_cast<WriteRequest*>(raw->data));
  auto* stream = of(reinterpret_cast<uv_handle_t*>(raw->handle));
  if (stream == nullptr) return;
  stream->unsent_ -= request->bytes.size();
  if (!stream->started_) return;
  if (status < 0) return stream->tell_end(fail(network_error(status, stream->peer_)));
  if (stream->unsent_ == 0) stream->tell_drained();
}

void TcpStream::end() {
  if (std::exchange(sending_over_, true)) return;
  auto* request = new uv_shutdown_t{};
  const int result = uv_shutdown(request, handle_->stream(),
                                 [](uv_shutdown_t* ended, int) noexcept { delete ended; });
  if (result < 0) delete request;  // the connection is broken already: reading tells
}

ErrorCode code_of(int uv_code) {
  switch (uv_code) {
    case UV_EAI_NONAME:
    case UV_EAI_NODATA:
      return ErrorCode::not_found;
    case UV_EADDRINUSE:
      return ErrorCode::busy;
    case UV_EADDRNOTAVAIL:
      return ErrorCode::not_found;
    case UV_EACCES:
    case UV_EPERM:
      return ErrorCode::permission_denied;
    case UV_ETIMEDOUT:
      return ErrorCode::timed_out;
    case UV_EMFILE:
    case UV_ENFILE:
      return ErrorCode::limit_exceeded;
    default:
      return ErrorCode::unavailable;
  }
}

}  // namespace

Error network_error(int uv_code, std::string_view what) {
  return {code_of(uv_code), std::string(what) + ": " + uv_strerror(uv_code)};
}

std::string describe(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (uv_ip_name(any, text.data(), text.size()) != 0) return "?";
  const auto port = address.ss_family == AF_INET6
                        ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                        : reinterpret_cast<const sockaddr_in*>(&address)->sin_port;
  return loop::to_string({text.data(), ntohs(port)});
}

TcpHandle* TcpHandle::make(const LoopParts& parts) {
  auto* handle = new TcpHandle;
  DATUM_ASSERT(uv_tcp_init(parts.raw, &handle->raw) == 0);
  handle->raw.data = handle;
  return handle;
}

void TcpHandle::close() {
  uv_close(reinterpret_cast<uv_handle_t*>(&raw),
           [](uv_handle_t* closed) noexcept { delete static_cast<TcpHandle*>(closed->data); });
}

std::unique_ptr<loop::Stream> make_stream(const LoopParts& parts, TcpHandle* handle) {
  return std::make_unique<TcpStream>(parts, handle);
}

}  // namespace datum::uv
