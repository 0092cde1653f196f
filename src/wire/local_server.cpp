#include "datum/wire/local_server.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "datum/base/time.hpp"

namespace datum::wire {
namespace {

// Commands of people and of a few scripts: more at once is a mistake, and each has a thread.
constexpr std::size_t kMaxConnections = 8;
// Of them, so that guests who say nothing leave room for those who command.
constexpr std::size_t kMaxGuests = 4;
// A pipe that nobody reads from ends the answer, not the server.
constexpr std::int64_t kWriteWithinNs = 10 * kNsPerSecond;
// When no connection can be taken, most likely for want of descriptors.
constexpr std::int64_t kTryAgainNs = kNsPerSecond;

// Only the trusted user may enter the folder, where nobody else is welcome: who could would find a
// socket that asks who they are, and who could write it could put another in its place.
Status make_socket_folder(const std::string& folder, const Admission& admission) {
  const mode_t wanted = admission.others ? 0755 : 0700;
  const mode_t forbidden = admission.others ? 0022 : 0077;
  if (::mkdir(folder.c_str(), 0700) == 0) {
    if (::chmod(folder.c_str(), wanted) != 0) return fail(error_from_errno(errno, folder));
  } else if (errno != EEXIST) {
    return fail(error_from_errno(errno, folder));
  }
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return fail(error_from_errno(errno, folder));
  if (S_ISDIR(info.st_mode) && info.st_uid == admission.owner && (info.st_mode & forbidden) == 0)
    return {};
  return fail(ErrorCode::refused,
              folder +
                  (admission.others ? " can be written by others: chmod 0755 "
                                    : " is not a folder of this user alone: chmod 0700 ") +
                  folder);
}

Status send_part(LocalStream& stream, const LocalPart& part) {
  auto rest = as_bytes(part.text);
  do {
    const auto frame = rest.first(std::min(rest.size(), kMaxFrame));
    DATUM_TRY(stream.send(part.kind, frame, kWriteWithinNs));
    rest = rest.subspan(frame.size());
  } while (!rest.empty());
  return {};
}

Status send_all(LocalStream& stream, const std::vector<LocalPart>& parts) {
  for (const auto& part : parts) DATUM_TRY(send_part(stream, part));
  return {};
}

}  // namespace

LocalServer::Caller::Caller(LocalServer& server, std::uint64_t id)
    : server_(&server), id_(id), alive_(server.alive_) {}

void LocalServer::Caller::send(std::vector<LocalPart> parts) const {
  if (!alive_.expired()) server_->send(id_, std::move(parts), false);
}

void LocalServer::Caller::end(std::vector<LocalPart> parts) const {
  if (!alive_.expired()) server_->send(id_, std::move(parts), true);
}

Result<std::unique_ptr<LocalServer>> LocalServer::listen(loop::Loop& loop, const std::string& path,
                                                         Admission admission, Begin begin,
                                                         Refuse refuse) {
  DATUM_TRY(make_socket_folder(path.substr(0, path.rfind('/')), admission));
  const bool for_others = admission.others != nullptr;
  DATUM_ASSIGN(auto listener, LocalListener::listen(path, for_others));
  return std::unique_ptr<LocalServer>(new LocalServer(
      loop, std::move(listener), std::move(admission), std::move(begin), std::move(refuse)));
}

LocalServer::LocalServer(loop::Loop& loop, std::unique_ptr<LocalListener> listener,
                         Admission admission, Begin begin, Refuse refuse)
    : loop_(loop),
      listener_(std::move(listener)),
      admission_(std::move(admission)),
      begin_(std::move(begin)),
      refuse_(std::move(refuse)),
      acceptor_(loop.make_serial_worker()),
      again_(loop.make_timer()) {
  accept_next();
}

LocalServer::~LocalServer() {
  alive_.reset();
  listener_->shut_down();
  acceptor_.reset();
  for (auto& [id, connection] : connections_) {
    if (connection.is_answered) continue;
    if (connection.reads) connection.stream->stop_receiving();
    connection.thread->submit(
        [stream = connection.stream, parts = refuse_("it ends, and what was asked may be done")] {
          static_cast<void>(send_all(*stream, parts));
        },
        [] {});
  }
}

std::size_t LocalServer::guests() const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [](const auto& each) { return each.second.is_guest; }));
}

void LocalServer::accept_next() {
  const auto taken =
      std::make_shared<Result<LocalStream>>(fail(ErrorCode::internal, "nobody was taken"));
  auto turn_away = [refuse = refuse_](LocalStream& stream, const std::string& why) {
    static_cast<void>(send_all(stream, refuse(why)));
  };
  acceptor_->submit(
      [listener = listener_.get(), admission = admission_, turn_away = std::move(turn_away),
       taken] { *taken = listener->accept(admission, turn_away); },
      [this, taken, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) took(std::move(*taken));
      });
}

void LocalServer::took(Result<LocalStream> stream) {
  if (!stream) return again_->start(kTryAgainNs, 0, [this] { accept_next(); });
  accept_next();
  const auto peer = stream->peer();
  const bool is_guest = !peer || admission_.welcome(*peer) != Welcome::full;
  const bool is_full = connections_.size() >= kMaxConnections;
  if (is_full || (is_guest && guests() >= kMaxGuests)) {
    // Nothing was written to it yet: nobody waits for the little that is said.
    const auto others =
        is_full ? std::to_string(kMaxConnections) + " others ask at this moment"
                : std::to_string(kMaxGuests) + " others who may only read ask at this moment";
    static_cast<void>(send_all(*stream, refuse_(others + ", and no more may: try again")));
    return;
  }
  const auto id = next_++;
  auto& connection = connections_[id];
  connection.is_guest = is_guest;
  connection.thread = loop_.make_serial_worker();
  connection.stream = std::make_shared<LocalStream>(std::move(*stream));
  auto exchange = begin_();
  connection.thread->submit(
      [stream = connection.stream, read = std::move(exchange.read)] { read(*stream); },
      [this, id, answer = std::move(exchange.answer), alive = std::weak_ptr(alive_)] {
        if (alive.expired()) return;
        connections_.at(id).reads = false;
        answer(Caller(*this, id));
      });
}

// What was done stands in the journal, whether its answer is taken or not.
void LocalServer::send(std::uint64_t id, std::vector<LocalPart> parts, bool is_last) {
  auto& connection = connections_.at(id);
  connection.is_answered = connection.is_answered || is_last;
  connection.thread->submit(
      [stream = connection.stream, parts = std::move(parts)] {
        static_cast<void>(send_all(*stream, parts));
      },
      [this, id, is_last, alive = std::weak_ptr(alive_)] {
        if (is_last && !alive.expired()) connections_.erase(id);
      });
}

}  // namespace datum::wire
