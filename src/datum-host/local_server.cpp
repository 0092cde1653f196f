#include "local_server.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "datum/host/local_end.hpp"
#include "datum/program/mapped_file.hpp"

namespace datum::host {
namespace {

// Commands of people and of a few scripts: more at once is a mistake, and each has a thread.
constexpr std::size_t kMaxConnections = 8;
// A caller sends what it has already; one that stops in between is not waited for.
constexpr std::int64_t kReadWithinNs = 10 * kNsPerSecond;
// A pipe that nobody reads from ends the answer, not the service.
constexpr std::int64_t kWriteWithinNs = 10 * kNsPerSecond;
// Of the largest manifest that is kept at all (engine/upkeep), with its contents.
constexpr std::uint64_t kMaxManifest = std::uint64_t{1} << 30U;
// When no connection can be taken, most likely for want of descriptors.
constexpr std::int64_t kTryAgainNs = kNsPerSecond;

// A file without a name: nothing of it is left, however this process ends.
class Spool {
 public:
  static Result<Spool> make(const std::string& folder) {
    std::string path = folder + "/.incoming-XXXXXX";
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) return fail(error_from_errno(errno, folder));
    ::unlink(path.c_str());
    return Spool(descriptor);
  }
  Spool(Spool&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  Spool& operator=(Spool&&) = delete;
  ~Spool() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Status add(ByteView bytes) {
    size_ += bytes.size();
    if (size_ > kMaxManifest)
      return fail(ErrorCode::limit_exceeded, "a manifest of more than 1 GiB");
    while (!bytes.empty()) {
      const auto written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(error_from_errno(errno, "keep what was sent"));
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }
  [[nodiscard]] Result<std::shared_ptr<const program::MappedFile>> map() const {
    return program::MappedFile::map(descriptor_, "the manifest that was sent");
  }

 private:
  explicit Spool(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
  std::uint64_t size_ = 0;
};

bool is(const wire::Frame& frame, LocalFrame kind) {
  return frame.kind == static_cast<std::uint8_t>(kind);
}

Result<program::Desired> read_manifest(wire::LocalStream& stream, const std::string& folder,
                                       std::string source) {
  DATUM_ASSIGN(auto spool, Spool::make(folder));
  for (;;) {
    DATUM_ASSIGN(const auto frame, stream.receive(wire::kMaxFrame, kReadWithinNs));
    if (is(frame, LocalFrame::manifest_end)) break;
    if (!is(frame, LocalFrame::manifest))
      return fail(ErrorCode::invalid_argument, "something else than a manifest was sent");
    DATUM_TRY(spool.add(frame.message));
  }
  DATUM_ASSIGN(const auto mapped, spool.map());
  return program::open_desired(mapped->bytes(), mapped, std::move(source));
}

Result<Asked> read_asked(wire::LocalStream& stream, const std::string& folder) {
  Asked asked;
  DATUM_ASSIGN(asked.peer, stream.peer());
  DATUM_ASSIGN(const auto frame, stream.receive(kMaxLocalRequest, kReadWithinNs));
  if (!is(frame, LocalFrame::request))
    return fail(ErrorCode::invalid_argument, "a connection begins with a request");
  DATUM_ASSIGN(asked.request, parse_request(as_text(frame.message)));
  if (!asked.request.has_manifest) return asked;
  auto desired = read_manifest(stream, folder, asked.request.source);
  if (!desired) return fail(std::move(desired).error());
  asked.desired = std::move(*desired);
  return asked;
}

Status send_text(wire::LocalStream& stream, LocalFrame kind, std::string_view text) {
  while (!text.empty()) {
    const auto part = text.substr(0, wire::kMaxFrame);
    DATUM_TRY(stream.send(static_cast<std::uint8_t>(kind), as_bytes(part), kWriteWithinNs));
    text.remove_prefix(part.size());
  }
  return {};
}

Status send_answer(wire::LocalStream& stream, const Answer& answer) {
  DATUM_TRY(send_text(stream, LocalFrame::errors, answer.errors));
  DATUM_TRY(send_text(stream, LocalFrame::output, answer.output));
  return send_text(stream, LocalFrame::end, encode_end(answer.exit_code));
}

// Only the trusted user may enter the folder: who could would find a socket that asks who they are,
// and who could write it could put another in its place.
Status make_folder(const std::string& path, std::uint32_t uid) {
  const auto folder = path.substr(0, path.rfind('/'));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(error_from_errno(errno, folder));
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return fail(error_from_errno(errno, folder));
  if (S_ISDIR(info.st_mode) && info.st_uid == uid && (info.st_mode & 0077U) == 0) return {};
  return fail(ErrorCode::refused,
              folder + " is not a folder of this user alone: chmod 0700 " + folder);
}

}  // namespace

Result<std::unique_ptr<LocalServer>> LocalServer::listen(loop::Loop& loop, const std::string& path,
                                                         std::string spool, std::uint32_t uid,
                                                         Handler handle) {
  DATUM_TRY(make_folder(path, uid));
  DATUM_ASSIGN(auto listener, wire::LocalListener::listen(path));
  return std::unique_ptr<LocalServer>(
      new LocalServer(loop, std::move(listener), std::move(spool), uid, std::move(handle)));
}

LocalServer::LocalServer(loop::Loop& loop, std::unique_ptr<wire::LocalListener> listener,
                         std::string spool, std::uint32_t uid, Handler handle)
    : loop_(loop),
      listener_(std::move(listener)),
      spool_(std::move(spool)),
      uid_(uid),
      handle_(std::move(handle)),
      acceptor_(loop.make_serial_worker()),
      again_(loop.make_timer()) {
  accept_next();
}

LocalServer::~LocalServer() {
  alive_.reset();
  listener_->shut_down();
  acceptor_.reset();
  for (auto& [id, connection] : connections_)
    if (connection.reads) connection.stream->shut_down();
}

void LocalServer::accept_next() {
  const auto taken =
      std::make_shared<Result<wire::LocalStream>>(fail(ErrorCode::internal, "nobody was taken"));
  acceptor_->submit(
      [listener = listener_.get(), uid = uid_, taken] { *taken = listener->accept(uid); },
      [this, taken, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) took(std::move(*taken));
      });
}

void LocalServer::took(Result<wire::LocalStream> stream) {
  if (!stream) return again_->start(kTryAgainNs, 0, [this] { accept_next(); });
  accept_next();
  if (connections_.size() >= kMaxConnections) return;
  const auto id = next_++;
  auto& connection = connections_[id];
  connection.thread = loop_.make_serial_worker();
  connection.stream = std::make_shared<wire::LocalStream>(std::move(*stream));
  const auto asked =
      std::make_shared<Result<Asked>>(fail(ErrorCode::internal, "nothing was asked"));
  connection.thread->submit(
      [stream = connection.stream, spool = spool_, asked] { *asked = read_asked(*stream, spool); },
      [this, id, asked, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) ask(id, std::move(*asked));
      });
}

void LocalServer::ask(std::uint64_t id, Result<Asked> asked) {
  auto& connection = connections_.at(id);
  connection.reads = false;
  const auto answer = [this, id, alive = std::weak_ptr(alive_)](Answer given) {
    if (!alive.expired()) reply(id, std::move(given));
  };
  if (!asked) return answer({"", "datum: " + asked.error().message() + "\n", 1});
  connection.thread->submit(
      [stream = connection.stream] {
        static_cast<void>(
            stream->send(static_cast<std::uint8_t>(LocalFrame::accepted), {}, kWriteWithinNs));
      },
      [] {});
  handle_(std::move(*asked), answer);
}

// An answer that nobody takes any more is lost: what was done stands in the journal.
void LocalServer::reply(std::uint64_t id, Answer answer) {
  const auto& connection = connections_.at(id);
  connection.thread->submit(
      [stream = connection.stream, answer = std::move(answer)] {
        static_cast<void>(send_answer(*stream, answer));
      },
      [this, id, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) forget(id);
      });
}

void LocalServer::forget(std::uint64_t id) {
  connections_.erase(id);
}

}  // namespace datum::host
