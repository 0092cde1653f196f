#include "notifier.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "datum/base/time.hpp"

namespace datum::host {
namespace {

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::optional<std::int64_t> find_number(const std::string& text) {
  // A microsecond count of a hundred years has 16 digits.
  if (text.empty() || text.size() > 16 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

// One line: a status with line ends would be taken for other keys.
std::string line_of(std::string_view text) {
  std::string line(text);
  for (auto& letter : line)
    if (static_cast<unsigned char>(letter) < 0x20) letter = ' ';
  return line;
}

}  // namespace

Notifier Notifier::from_environment() {
  auto address = take_variable("NOTIFY_SOCKET");
  const auto usec = find_number(take_variable("WATCHDOG_USEC")).value_or(0);
  const auto pid = find_number(take_variable("WATCHDOG_PID")).value_or(::getpid());
  if (address.empty() || (address[0] != '/' && address[0] != '@')) return {-1, "", 0};
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return {socket, std::move(address), pid == ::getpid() ? usec * 1000 : 0};
}

Notifier::Notifier(Notifier&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      address_(std::move(other.address_)),
      watchdog_ns_(other.watchdog_ns_) {}

Notifier::~Notifier() {
  if (socket_ >= 0) ::close(socket_);
}

void Notifier::send(const std::string& message) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (socket_ < 0 || address_.size() >= sizeof to.sun_path) return;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  if (address_[0] == '@') to.sun_path[0] = '\0';
  const auto size =
      offsetof(sockaddr_un, sun_path) + address_.size() + (address_[0] == '@' ? 0 : 1);
  static_cast<void>(::sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&to), static_cast<socklen_t>(size)));
}

void Notifier::ready(std::string_view status) {
  send("READY=1\nSTATUS=" + line_of(status) + "\n");
}

void Notifier::status(std::string_view status) {
  send("STATUS=" + line_of(status) + "\n");
}

void Notifier::stopping(std::string_view status) {
  send("STOPPING=1\nSTATUS=" + line_of(status) + "\n");
}

void Notifier::reloading(std::int64_t monotonic_us) {
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_us) + "\n");
}

void Notifier::feed_watchdog() {
  send("WATCHDOG=1\n");
}

}  // namespace datum::host
