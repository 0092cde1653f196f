#include "local_server.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "datum/host/local_end.hpp"

namespace datum::control {
namespace {

// A caller sends what it has already; one that stops in between is not waited for.
constexpr std::int64_t kReadWithinNs = 30 * kNsPerSecond;

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

struct Asked {
  LocalRequest request;
  wire::Peer peer;
};

Result<Asked> read_asked(wire::LocalStream& stream, const Callers& callers,
                         blobs::BlobStore& blobs) {
  Asked asked;
  DATUM_ASSIGN(asked.peer, stream.peer());
  bool has_blobs = false;
  std::string text;
  for (;;) {
    DATUM_ASSIGN(auto frame, stream.receive(wire::kMaxFrame, kReadWithinNs));
    if (is_kind(frame, LocalFrame::request) || is_kind(frame, LocalFrame::request_part)) {
      // Only what changes something is so long.
      if (is_kind(frame, LocalFrame::request_part))
        DATUM_TRY(callers.check(asked.peer, LocalVerb::push));
      if (text.size() + frame.message.size() > kMaxLocalRequest)
        return fail(ErrorCode::limit_exceeded, "a request has 4 MiB at most");
      text += as_text(frame.message);
      if (is_kind(frame, LocalFrame::request_part)) continue;
      DATUM_ASSIGN(asked.request, parse_request(text));
      DATUM_TRY(callers.check(asked.peer, asked.request.verb));
      if (has_blobs) DATUM_TRY(blobs.sync());
      DATUM_TRY(check_whole(asked.request, blobs));
      return asked;
    }
    if (!is_kind(frame, LocalFrame::blob))
      return fail(ErrorCode::invalid_argument, "a connection begins with a request or its blobs");
    DATUM_TRY(callers.check(asked.peer, LocalVerb::push));
    FrameSource source(stream, std::move(frame));
    DATUM_ASSIGN(const auto stored, blobs.put_stream(source));
    if (source.named() != stored.digest)
      return fail(ErrorCode::conflict, "a file of the fleet changed while it was sent: push again");
    has_blobs = true;
  }
}

std::vector<wire::LocalPart> parts_of(Answer answer) {
  std::vector<wire::LocalPart> parts;
  const auto add = [&parts](LocalFrame kind, std::string text) {
    if (!text.empty()) parts.push_back({static_cast<std::uint8_t>(kind), std::move(text)});
  };
  add(LocalFrame::errors, std::move(answer.errors));
  add(LocalFrame::output, std::move(answer.output));
  add(LocalFrame::end, host::encode_end(answer.exit_code));
  return parts;
}

}  // namespace

Result<std::unique_ptr<wire::LocalServer>> listen_local(
    loop::Loop& loop, const std::string& path, const Callers& callers, blobs::BlobStore& blobs,
    std::function<void(const LocalRequest&, wire::Peer, Reply)> handle) {
  return wire::LocalServer::listen<Asked>(
      loop, path, callers.admission(),
      [callers, blobs = &blobs](wire::LocalStream& stream) {
        return read_asked(stream, callers, *blobs);
      },
      [handle = std::move(handle)](Result<Asked> asked, const wire::LocalServer::Caller& caller) {
        const auto reply = [caller](Answer answer) { caller.end(parts_of(std::move(answer))); };
        if (!asked) return reply({"", "datum-control: " + asked.error().message() + "\n", 1});
        handle(asked->request, asked->peer, reply);
      },
      [](const std::string& why) {
        return parts_of({"", "datum-control: the server does not answer: " + why + "\n", 1});
      });
}

}  // namespace datum::control
