#include "bus.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace datum::os_linux {

namespace {

constexpr const char* kManagerSocket = "/run/systemd/private";
constexpr const char* kManager = "org.freedesktop.systemd1";
// So many calls are under way at once: the manager builds their replies, some 10 KiB each, before
// it reads on, and should not hold megabytes for one client.
constexpr std::size_t kUnderWay = 128;
// Ends of jobs that nobody waits for: whoever waits does so right after asking.
constexpr std::size_t kKeptSignals = 256;

struct Named {
  std::string_view name;
  ErrorCode code;
};
constexpr std::array kErrors{
    Named{"org.freedesktop.systemd1.NoSuchUnit", ErrorCode::not_found},
    Named{"org.freedesktop.systemd1.UnitMasked", ErrorCode::conflict},
    Named{"org.freedesktop.systemd1.UnitExists", ErrorCode::already_exists},
    Named{"org.freedesktop.systemd1.JobTypeNotApplicable", ErrorCode::unsupported},
    Named{"org.freedesktop.DBus.Error.FileNotFound", ErrorCode::not_found},
    Named{"org.freedesktop.DBus.Error.FileExists", ErrorCode::already_exists},
    Named{"org.freedesktop.DBus.Error.AccessDenied", ErrorCode::permission_denied},
    Named{"org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
          ErrorCode::permission_denied},
    Named{"org.freedesktop.DBus.Error.InvalidArgs", ErrorCode::invalid_argument},
    Named{"org.freedesktop.DBus.Error.UnknownObject", ErrorCode::not_found},
};

Error error_of_reply(const sd_bus_error* replied) {
  const std::string_view name = replied->name == nullptr ? "" : replied->name;
  std::string words = replied->message == nullptr ? std::string(name) : replied->message;
  for (const auto& known : kErrors)
    if (known.name == name) return {known.code, std::move(words)};
  return {ErrorCode::io_error, std::move(words)};
}

}  // namespace

Error Bus::fault(int result, const char* what) {
  broken_ = true;
  auto error = error_from_errno(-result, what);
  if (error.code() == ErrorCode::timed_out) return error;
  return {ErrorCode::unavailable, error.message(), -result};
}

Result<std::unique_ptr<Bus>> Bus::open(const BusLibrary& library, Deadline deadline) {
  sd_bus* direct = nullptr;
  if (::access(kManagerSocket, R_OK | W_OK) == 0 && library.bus_new(&direct) >= 0) {
    auto bus = std::unique_ptr<Bus>(new Bus(library, direct, true));
    const std::string address = std::string("unix:path=") + kManagerSocket;
    if (library.set_address(direct, address.c_str()) >= 0 && library.start(direct) >= 0) return bus;
  }
  sd_bus* shared = nullptr;
  const int opened = library.open_system(&shared);
  if (opened < 0)
    return fail(ErrorCode::unavailable,
                error_from_errno(-opened, "connect to the service manager").message());
  auto bus = std::unique_ptr<Bus>(new Bus(library, shared, false));
  DATUM_TRY(bus->subscribe(deadline));
  return bus;
}

Bus::~Bus() {
  library_.close(bus_);
  library_.unref(bus_);
}

// Over the system's bus signals come only to those who ask; on the manager's own socket always.
Status Bus::subscribe(Deadline deadline) {
  sd_bus_message* raw = nullptr;
  const int made =
      library_.new_method_call(bus_, &raw, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                               "org.freedesktop.DBus", "AddMatch");
  if (made < 0) return fail(fault(made, "subscribe"));
  Message match(library_, raw);
  match.add(
      std::string("type='signal',sender='org.freedesktop.systemd1',"
                  "interface='org.freedesktop.systemd1.Manager',member='JobRemoved'"));
  DATUM_TRY(call(std::move(match), deadline));
  DATUM_ASSIGN(auto wanted, make_call(kManagerPath, kManagerInterface, "Subscribe"));
  DATUM_TRY(call(std::move(wanted), deadline));
  return {};
}

Result<Message> Bus::make_call(const std::string& path, const char* interface, const char* member) {
  sd_bus_message* raw = nullptr;
  const int made = library_.new_method_call(bus_, &raw, direct_ ? nullptr : kManager, path.c_str(),
                                            interface, member);
  if (made < 0) return fail(fault(made, member));
  return Message(library_, raw);
}

Result<std::uint64_t> Bus::send(const Message& message) {
  DATUM_TRY(message.status());
  std::uint64_t cookie = 0;
  const int sent = library_.send(bus_, message.get(), &cookie);
  if (sent < 0) return fail(fault(sent, "call the service manager"));
  return cookie;
}

// The next message that comes in, of whatever kind.
Result<Message> Bus::next(Deadline deadline) {
  for (;;) {
    sd_bus_message* raw = nullptr;
    const int processed = library_.process(bus_, &raw);
    if (processed < 0) return fail(fault(processed, "connection to the service manager"));
    if (raw != nullptr) return Message(library_, raw);
    if (processed > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      // Its answer would be taken for that of a later call.
      broken_ = true;
      return fail(ErrorCode::timed_out, "the service manager did not answer in time");
    }
    const int waited = library_.wait(bus_, static_cast<std::uint64_t>(left.count()));
    if (waited < 0 && waited != -EINTR)
      return fail(fault(waited, "connection to the service manager"));
  }
}

void Bus::keep_signal(Message& message) {
  if (library_.is_signal(message.get(), kManagerInterface, "JobRemoved") <= 0) return;
  RemovedJob removed;
  message.skip("u");
  removed.job = message.read_text('o');
  message.skip("s");  // the unit
  removed.result = message.read_text();
  if (!message.status()) return;
  if (removed_.size() >= kKeptSignals) removed_.pop_front();
  removed_.push_back(std::move(removed));
}

Result<std::vector<Result<Message>>> Bus::call_all(std::vector<Message> messages,
                                                   Deadline deadline) {
  std::map<std::uint64_t, std::size_t> waiting;
  std::vector<std::optional<Result<Message>>> replies(messages.size());
  std::size_t sent = 0;
  for (std::size_t got = 0; got < messages.size();) {
    for (; sent < messages.size() && waiting.size() < kUnderWay; ++sent) {
      DATUM_ASSIGN(const auto cookie, send(messages[sent]));
      waiting.emplace(cookie, sent);
    }
    DATUM_ASSIGN(auto message, next(deadline));
    std::uint64_t cookie = 0;
    const bool replied = library_.reply_cookie(message.get(), &cookie) >= 0;
    const auto asked = replied ? waiting.find(cookie) : waiting.end();
    if (asked == waiting.end()) {
      keep_signal(message);
      continue;
    }
    const auto* error = library_.message_error(message.get());
    if (error != nullptr)
      replies[asked->second].emplace(fail(error_of_reply(error)));
    else
      replies[asked->second].emplace(std::move(message));
    waiting.erase(asked);
    ++got;
  }
  std::vector<Result<Message>> all;
  all.reserve(replies.size());
  for (auto& reply : replies) all.push_back(std::move(*reply));
  return all;
}

Result<Message> Bus::call(Message message, Deadline deadline) {
  std::vector<Message> one;
  one.push_back(std::move(message));
  DATUM_ASSIGN(auto replies, call_all(std::move(one), deadline));
  return std::move(replies.front());
}

Result<std::string> Bus::wait_for_job(const std::string& job, Deadline deadline) {
  for (;;) {
    const auto ended = std::find_if(removed_.begin(), removed_.end(),
                                    [&job](const RemovedJob& one) { return one.job == job; });
    if (ended != removed_.end()) {
      auto result = std::move(ended->result);
      removed_.erase(ended);
      return result;
    }
    DATUM_ASSIGN(auto message, next(deadline));
    keep_signal(message);
  }
}

}  // namespace datum::os_linux
