// One connection to the service manager and the messages on it. Calls are sent and their replies
// collected by cookie, so that many can be under way; nothing calls back. Belongs to one thread at
// a time. Knows D-Bus, and of systemd only where its sockets are and the one signal that ends a
// job.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bus_library.hpp"

namespace datum::os_linux {

inline constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
inline constexpr const char* kManagerInterface = "org.freedesktop.systemd1.Manager";

using Deadline = std::chrono::steady_clock::time_point;

// A message, its functions beside it. Writing: a failed append makes `status` an error and what
// follows does nothing. Reading: a fault makes `status` an error and values empty.
class Message {
 public:
  Message() = default;
  Message(const BusLibrary& library, sd_bus_message* message)
      : library_(&library), message_(message) {}
  Message(Message&& other) noexcept;
  Message& operator=(Message&& other) noexcept;
  ~Message();

  [[nodiscard]] sd_bus_message* get() const { return message_; }
  [[nodiscard]] Status status() const;

  // --- writing
  Message& add(const std::string& text);
  Message& add(bool flag);
  Message& open(char type, const char* contents);
  Message& close();
  Message& add_list(const std::vector<std::string>& texts);

  // --- reading
  bool enter(char type, const char* contents);  // false at the end of what surrounds it
  void leave();
  [[nodiscard]] std::string read_text(char type = 's');
  [[nodiscard]] bool read_flag();
  [[nodiscard]] std::uint64_t read_number(char type);
  [[nodiscard]] std::vector<std::string> read_list();
  [[nodiscard]] std::string read_hex();       // of an array of bytes
  [[nodiscard]] std::string peek_contents();  // of the container that comes next; empty at the end
  void skip(const std::string& contents);

 private:
  void note(int result);

  const BusLibrary* library_ = nullptr;
  sd_bus_message* message_ = nullptr;
  int fault_ = 0;  // first negative result
};

struct RemovedJob {
  std::string job;  // its object's path
  std::string result;
};

class Bus {
 public:
  // To the manager's own socket where this process may use it, else over the system's bus.
  [[nodiscard]] static Result<std::unique_ptr<Bus>> open(const BusLibrary& library,
                                                         Deadline deadline);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  [[nodiscard]] const BusLibrary& library() const { return library_; }
  [[nodiscard]] Result<Message> make_call(const std::string& path, const char* interface,
                                          const char* member);
  // Sends and waits. An error that the other side replied has its words and a code by its name.
  [[nodiscard]] Result<Message> call(Message message, Deadline deadline);
  // Sends all, a bounded number at a time, and yields their replies in order; each its own.
  [[nodiscard]] Result<std::vector<Result<Message>>> call_all(std::vector<Message> messages,
                                                              Deadline deadline);
  // How that job ended, once it has.
  [[nodiscard]] Result<std::string> wait_for_job(const std::string& job, Deadline deadline);
  // After an error of the connection itself it is of no more use.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  Bus(const BusLibrary& library, sd_bus* bus, bool direct)
      : library_(library), bus_(bus), direct_(direct) {}
  [[nodiscard]] Status subscribe(Deadline deadline);
  [[nodiscard]] Result<std::uint64_t> send(const Message& message);
  [[nodiscard]] Result<Message> next(Deadline deadline);
  void keep_signal(Message& message);
  [[nodiscard]] Error fault(int result, const char* what);

  const BusLibrary& library_;
  sd_bus* bus_;
  bool direct_;
  bool broken_ = false;
  std::deque<RemovedJob> removed_;  // that nobody has asked for yet; the oldest go first
};

}  // namespace datum::os_linux
