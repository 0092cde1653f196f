#include "log.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "datum/program/process.hpp"

namespace datum::host {
namespace {

int connect_journal() {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::strncpy(to.sun_path, "/run/systemd/journal/socket", sizeof to.sun_path - 1);
  if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
    return socket;
  ::close(socket);
  return -1;
}

}  // namespace

Log Log::open() {
  const bool journal = program::leads_to_journal(std::getenv("JOURNAL_STREAM"));
  ::unsetenv("JOURNAL_STREAM");
  return {journal ? connect_journal() : -1, journal};
}

Log::Log(Log&& other) noexcept
    : journal_(std::exchange(other.journal_, -1)), marks_(other.marks_) {}

Log::~Log() {
  if (journal_ >= 0) ::close(journal_);
}

void Log::write(Priority priority, std::string_view text, const std::vector<LogField>& fields) {
  if (journal_ >= 0) {
    const auto datagram = journal_datagram(priority, text, fields);
    if (::send(journal_, datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0) return;
  }
  // What the journal does not take (it restarts) goes where it reads as well.
  const auto line = error_line(marks_ ? manager_mark(priority) : "datum-host: ", text);
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace datum::host
