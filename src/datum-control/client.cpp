#include "client.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "datum/host/local_end.hpp"

namespace datum::control {
namespace {

// A server whose loop turns answers at once; what it waits for is its disk.
constexpr std::int64_t kAnswerWithinNs = 60 * kNsPerSecond;
// Of a push it reads every manifest first, for drift every journal, however many and on whatever
// disk.
constexpr std::int64_t kLongWithinNs = 600 * kNsPerSecond;

// Only its owner can put a socket there: who was told this path is answered by whom it is of.
bool owns_folder(std::uint32_t uid, const std::string& path) {
  struct stat info {};
  const auto folder = path.substr(0, path.rfind('/'));
  return ::lstat(folder.empty() ? "/" : folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == uid && (info.st_mode & 0022U) == 0;
}

// One that is stuck, or one that died with a request in its hands.
Error silence_of(const wire::Peer& server, const Error& error) {
  const auto who = "the server (process " + std::to_string(server.pid) + ") ";
  if (error.code() == ErrorCode::unavailable)
    return {ErrorCode::unavailable,
            who + "hung up before it answered, so it ended: " + error.message() +
                ". What it has done of this `datum-control history` says"};
  return {error.code(), who + "does not answer: " + error.message()};
}

}  // namespace

Result<Client> Client::connect(const std::string& path) {
  auto stream = wire::LocalStream::connect(path);
  if (!stream)
    return fail(ErrorCode::not_found,
                stream.error().message() + "; does `datum-control serve` run with this --socket?");
  DATUM_ASSIGN(const auto peer, stream->peer());
  if (peer.uid != ::geteuid() && !owns_folder(peer.uid, path))
    return fail(ErrorCode::refused, path + ": uid " + std::to_string(peer.uid) +
                                        " listens there, and the folder is not that user's");
  return Client(std::move(*stream), peer);
}

void Client::send(LocalFrame kind, ByteView message) {
  if (sent_) sent_ = stream_.send(static_cast<std::uint8_t>(kind), message, kAnswerWithinNs);
}

Status Client::send_blob(const Digest& digest, ByteSource& source) {
  Bytes buffer(wire::kMaxFrame);
  bool is_empty = true;
  while (sent_) {
    DATUM_ASSIGN(const auto count, source.read(buffer));
    if (count == 0 && !is_empty) break;
    send(LocalFrame::blob, ByteView(buffer).first(count));
    is_empty = false;
    if (count == 0) break;
  }
  send(LocalFrame::blob_end, as_bytes(digest.hex()));
  return sent_;
}

Result<int> Client::ask(const LocalRequest& request, std::string* output) {
  const auto text = encode_request(request);
  if (text.size() > kMaxLocalRequest)
    return fail(ErrorCode::limit_exceeded, "the request is too long: name fewer hosts at once");
  auto rest = as_bytes(text);
  for (; rest.size() > wire::kMaxFrame; rest = rest.subspan(wire::kMaxFrame))
    send(LocalFrame::request_part, rest.first(wire::kMaxFrame));
  send(LocalFrame::request, rest);
  const bool is_long = request.verb == LocalVerb::push || request.verb == LocalVerb::drift;
  return hear(is_long ? kLongWithinNs : kAnswerWithinNs, output);
}

// Where sending failed the server may have said why before it hung up.
Result<int> Client::hear(std::int64_t within_ns, std::string* output) {
  for (;;) {
    auto frame = stream_.receive(wire::kMaxFrame, within_ns);
    if (!frame) return fail(silence_of(server_, sent_ ? frame.error() : sent_.error()));
    const auto part = as_text(frame->message);
    switch (static_cast<LocalFrame>(frame->kind)) {
      case LocalFrame::end:
        return host::parse_end(part);
      case LocalFrame::errors:
        std::fwrite(part.data(), 1, part.size(), stderr);
        break;
      case LocalFrame::output:
        if (output != nullptr)
          output->append(part);
        else
          std::fwrite(part.data(), 1, part.size(), stdout);
        break;
      default:
        break;  // of a later version
    }
  }
}

}  // namespace datum::control
