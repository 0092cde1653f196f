// What the service tells the service manager that started it: datagrams of KEY=value lines to the
// socket in $NOTIFY_SOCKET. Without one every call does nothing. A message that cannot be sent is
// lost: the manager's own time limits are what remains then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace datum::host {

class Notifier {
 public:
  // From the environment, which loses those variables: no child is to speak in this one's name.
  [[nodiscard]] static Notifier from_environment();
  Notifier(Notifier&& other) noexcept;
  Notifier& operator=(Notifier&&) = delete;
  ~Notifier();

  // Once: started, whatever else the service waits for.
  void ready(std::string_view status);
  void status(std::string_view status);
  void stopping(std::string_view status);
  // Before reading the configuration again; `ready` ends it.
  void reloading(std::int64_t monotonic_us);
  void feed_watchdog();
  // How often the manager wants to hear of this process; 0: never.
  [[nodiscard]] std::int64_t watchdog_ns() const { return watchdog_ns_; }

 private:
  Notifier(int socket, std::string address, std::int64_t watchdog_ns)
      : socket_(socket), address_(std::move(address)), watchdog_ns_(watchdog_ns) {}
  void send(const std::string& message);

  int socket_;
  std::string address_;  // a path, or '@' and an abstract name
  std::int64_t watchdog_ns_;
};

}  // namespace datum::host
