#include "local_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "datum/host/local_end.hpp"
#include "key_files.hpp"

namespace datum::control {
namespace {

// Commands of people and of a few scripts: more at once is a mistake, and each has a thread.
constexpr std::size_t kMaxConnections = 8;
// A caller sends what it has already; one that stops in between is not waited for.
constexpr std::int64_t kReadWithinNs = 30 * kNsPerSecond;
// A pipe that nobody reads from ends the answer, not the server.
constexpr std::int64_t kWriteWithinNs = 10 * kNsPerSecond;
// When no connection can be taken, most likely for want of descriptors.
constexpr std::int64_t kTryAgainNs = kNsPerSecond;

bool is_kind(const wire::Frame& frame, LocalFrame kind) {
  return frame.kind == static_cast<std::uint8_t>(kind);
}

// The frames of one blob, as a stream of its bytes; ends with the frame that names it.
class FrameSource final : public ByteSource {
 public:
  FrameSource(wire::LocalStream& stream, wire::Frame first)
      : stream_(stream), frame_(std::move(first)) {}

  Result<std::size_t> read(MutableByteView out) override {
    while (is_kind(frame_, LocalFrame::blob) && at_ == frame_.message.size()) {
      DATUM_ASSIGN(frame_, stream_.receive(wire::kMaxFrame, kReadWithinNs));
      at_ = 0;
    }
    if (is_kind(frame_, LocalFrame::blob_end)) return std::size_t{0};
    if (!is_kind(frame_, LocalFrame::blob))
      return fail(ErrorCode::invalid_argument, "something else than a blob was sent");
    const auto count = std::min(out.size(), frame_.message.size() - at_);
    std::copy_n(frame_.message.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  // Of the last frame.
  [[nodiscard]] std::optional<Digest> named() const {
    return Digest::find_hex(as_text(frame_.message));
  }

 private:
  wire::LocalStream& stream_;
  wire::Frame frame_;
  std::size_t at_ = 0;
};

// Nothing is released of which something is missing: a node would ask for it for ever.
Status check_whole(const LocalRequest& request, const blobs::BlobStore& blobs) {
  for (const auto& pushed : request.manifests) {
    const auto named = named_by(blobs, pushed.manifest);
    if (!named) return fail(Error(named.error()).context("the manifest of " + pushed.node));
    for (const auto& digest : *named)
      if (!blobs.contains(digest))
        return fail(ErrorCode::invalid_argument,
                    "a content of " + pushed.node + " was not sent: sha256:" + digest.hex());
  }
  return {};
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
  return send_text(stream, LocalFrame::end, host::encode_end(answer.exit_code));
}

}  // namespace

Result<LocalServer::Asked> LocalServer::read_asked(wire::LocalStream& stream,
                                                   blobs::BlobStore& blobs) {
  Asked asked;
  DATUM_ASSIGN(asked.peer, stream.peer());
  bool has_blobs = false;
  for (;;) {
    DATUM_ASSIGN(auto frame, stream.receive(wire::kMaxFrame, kReadWithinNs));
    if (is_kind(frame, LocalFrame::request)) {
      DATUM_ASSIGN(asked.request, parse_request(as_text(frame.message)));
      if (has_blobs) DATUM_TRY(blobs.sync());
      DATUM_TRY(check_whole(asked.request, blobs));
      return asked;
    }
    if (!is_kind(frame, LocalFrame::blob))
      return fail(ErrorCode::invalid_argument, "a connection begins with a request or its blobs");
    FrameSource source(stream, std::move(frame));
    DATUM_ASSIGN(const auto stored, blobs.put_stream(source));
    if (source.named() != stored.digest)
      return fail(ErrorCode::conflict, "a file of the fleet changed while it was sent: push again");
    has_blobs = true;
  }
}

Result<std::unique_ptr<LocalServer>> LocalServer::listen(loop::Loop& loop, const std::string& path,
                                                         blobs::BlobStore& blobs, Handler handle) {
  DATUM_TRY(make_private_folder(path.substr(0, path.rfind('/'))));
  DATUM_ASSIGN(auto listener, wire::LocalListener::listen(path));
  return std::unique_ptr<LocalServer>(
      new LocalServer(loop, std::move(listener), blobs, std::move(handle)));
}

LocalServer::LocalServer(loop::Loop& loop, std::unique_ptr<wire::LocalListener> listener,
                         blobs::BlobStore& blobs, Handler handle)
    : loop_(loop),
      listener_(std::move(listener)),
      blobs_(blobs),
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
  acceptor_->submit([listener = listener_.get(), taken] { *taken = listener->accept(::geteuid()); },
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
  connection.thread->submit([stream = connection.stream, blobs = &blobs_,
                             asked] { *asked = read_asked(*stream, *blobs); },
                            [this, id, asked, alive = std::weak_ptr(alive_)] {
                              if (!alive.expired()) ask(id, std::move(*asked));
                            });
}

void LocalServer::ask(std::uint64_t id, Result<Asked> asked) {
  connections_.at(id).reads = false;
  const auto answer = [this, id, alive = std::weak_ptr(alive_)](Answer given) {
    if (!alive.expired()) reply(id, std::move(given));
  };
  if (!asked) return answer({"", "datum-control: " + asked.error().message() + "\n", 1});
  handle_(std::move(asked->request), asked->peer, answer);
}

// An answer that nobody takes any more is lost: what was done stands in the journal.
void LocalServer::reply(std::uint64_t id, Answer answer) {
  const auto& connection = connections_.at(id);
  connection.thread->submit(
      [stream = connection.stream, answer = std::move(answer)] {
        static_cast<void>(send_answer(*stream, answer));
      },
      [this, id, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) connections_.erase(id);
      });
}

}  // namespace datum::control
