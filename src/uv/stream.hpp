// One TCP connection of libuv behind loop::Stream.
#pragma once

#include <uv.h>

#include <memory>
#include <string>
#include <string_view>

#include "datum/loop/network.hpp"
#include "loop_parts.hpp"

namespace datum::uv {

// The closed code for what libuv says of a connection, with its words.
[[nodiscard]] Error network_error(int uv_code, std::string_view what);
// "192.0.2.1:7600", "[2001:db8::1]:7600".
[[nodiscard]] std::string describe(const sockaddr_storage& address);

// A handle of its own that lives until libuv has closed it; `TcpStream` only borrows it.
struct TcpHandle {
  uv_tcp_t raw{};
  std::weak_ptr<void> user;  // the stream, while there is one

  [[nodiscard]] uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&raw); }
  static TcpHandle* make(const LoopParts& parts);
  void close();
};

// Takes the handle, which is connected.
[[nodiscard]] std::unique_ptr<loop::Stream> make_stream(const LoopParts& parts, TcpHandle* handle);

}  // namespace datum::uv
