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
  return Client(std::move(*stream));
}

Status Client::send_blob(const Digest& digest, ByteSource& source) {
  Bytes buffer(wire::kMaxFrame);
  bool is_empty = true;
  for (;;) {
    DATUM_ASSIGN(const auto count, source.read(buffer));
    if (count == 0 && !is_empty) break;
    DATUM_TRY(stream_.send(static_cast<std::uint8_t>(LocalFrame::blob),
                           ByteView(buffer).first(count), kAnswerWithinNs));
    is_empty = false;
    if (count == 0) break;
  }
  return stream_.send(static_cast<std::uint8_t>(LocalFrame::blob_end), as_bytes(digest.hex()),
                      kAnswerWithinNs);
}

Status Client::send_request(ByteView text) {
  for (; text.size() > wire::kMaxFrame; text = text.subspan(wire::kMaxFrame))
    DATUM_TRY(stream_.send(static_cast<std::uint8_t>(LocalFrame::request_part),
                           text.first(wire::kMaxFrame), kAnswerWithinNs));
  return stream_.send(static_cast<std::uint8_t>(LocalFrame::request), text, kAnswerWithinNs);
}

Result<int> Client::ask(const LocalRequest& request, std::string* output) {
  const auto text = encode_request(request);
  if (text.size() > kMaxLocalRequest)
    return fail(ErrorCode::limit_exceeded, "the request is too long: name fewer hosts at once");
  const auto sent = send_request(as_bytes(text));
  const bool is_long = request.verb == LocalVerb::push || request.verb == LocalVerb::drift;
  const auto within = is_long ? kLongWithinNs : kAnswerWithinNs;
  // Where sending failed the server may have said why before it hung up.
  for (;;) {
    auto frame = stream_.receive(wire::kMaxFrame, within);
    if (!frame) return fail(sent ? frame.error() : sent.error());
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
