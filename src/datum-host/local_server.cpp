#include "local_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "datum/host/local_end.hpp"
#include "datum/program/mapped_file.hpp"

namespace datum::host {
namespace {

// A caller sends what it has already; one that stops in between is not waited for.
constexpr std::int64_t kReadWithinNs = 10 * kNsPerSecond;
// What a command ends with whom somebody else keeps from it.
constexpr int kTryAgainExit = 3;
// Of the largest manifest that is kept at all (engine/upkeep), with its contents.
constexpr std::uint64_t kMaxManifest = std::uint64_t{1} << 30U;

// A file without a name: nothing of it is left, however this process ends.
class Spool {
 public:
  // Takes `limit` bytes; `what` is for messages.
  static Result<Spool> make(const std::string& folder, std::uint64_t limit, const char* what) {
    std::string path = folder + "/.incoming-XXXXXX";
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) return fail(error_from_errno(errno, folder));
    ::unlink(path.c_str());
    return Spool(descriptor, limit, what);
  }
  Spool(Spool&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        limit_(other.limit_),
        what_(other.what_),
        size_(other.size_) {}
  Spool& operator=(Spool&&) = delete;
  ~Spool() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Status add(ByteView bytes) {
    size_ += bytes.size();
    if (size_ > limit_)
      return fail(ErrorCode::limit_exceeded, "a " + std::string(what_) + " of more than " +
                                                 std::to_string(limit_ >> 20U) + " MiB was sent");
    while (!bytes.empty()) {
      const auto written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(error_from_errno(errno, "keep what was sent"));
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }
  [[nodiscard]] const char* what() const { return what_; }
  [[nodiscard]] Result<std::shared_ptr<const program::MappedFile>> map() const {
    return program::MappedFile::map(descriptor_, "the " + std::string(what_) + " that was sent");
  }

 private:
  Spool(int descriptor, std::uint64_t limit, const char* what)
      : descriptor_(descriptor), limit_(limit), what_(what) {}
  int descriptor_;
  std::uint64_t limit_;
  const char* what_;
  std::uint64_t size_ = 0;
};

bool is(const wire::Frame& frame, LocalFrame kind) {
  return frame.kind == static_cast<std::uint8_t>(kind);
}

// The bytes of frames `part` up to the frame `end`.
Result<std::shared_ptr<const program::MappedFile>> read_parts(wire::LocalStream& stream,
                                                              LocalFrame part, LocalFrame end,
                                                              Spool spool) {
  for (;;) {
    DATUM_ASSIGN(const auto frame, stream.receive(wire::kMaxFrame, kReadWithinNs));
    if (is(frame, end)) return spool.map();
    if (!is(frame, part))
      return fail(ErrorCode::invalid_argument,
                  "something else than a " + std::string(spool.what()) + " was sent");
    DATUM_TRY(spool.add(frame.message));
  }
}

Result<program::Desired> read_manifest(wire::LocalStream& stream, const std::string& folder,
                                       std::string source) {
  DATUM_ASSIGN(auto spool, Spool::make(folder, kMaxManifest, "manifest"));
  DATUM_ASSIGN(const auto mapped, read_parts(stream, LocalFrame::manifest, LocalFrame::manifest_end,
                                             std::move(spool)));
  return program::open_desired(mapped->bytes(), mapped, std::move(source));
}

Result<std::shared_ptr<const program::SavedPlan>> read_plan(wire::LocalStream& stream,
                                                            const std::string& folder) {
  DATUM_ASSIGN(auto spool, Spool::make(folder, program::kMaxSavedPlan, "saved plan"));
  DATUM_ASSIGN(const auto mapped,
               read_parts(stream, LocalFrame::plan, LocalFrame::plan_end, std::move(spool)));
  DATUM_ASSIGN(auto plan, program::parse_saved_plan(as_text(mapped->bytes()), "the saved plan"));
  return std::make_shared<const program::SavedPlan>(std::move(plan));
}

Result<Asked> read_asked(wire::LocalStream& stream, const std::string& folder) {
  Asked asked;
  DATUM_ASSIGN(asked.peer, stream.peer());
  DATUM_ASSIGN(const auto frame, stream.receive(kMaxLocalRequest, kReadWithinNs));
  if (!is(frame, LocalFrame::request))
    return fail(ErrorCode::invalid_argument, "a connection begins with a request");
  DATUM_ASSIGN(asked.request, parse_request(as_text(frame.message)));
  if (asked.request.has_manifest) {
    auto desired = read_manifest(stream, folder, asked.request.source);
    if (!desired) return fail(std::move(desired).error());
    asked.desired = std::move(*desired);
  }
  if (asked.request.has_plan) {
    DATUM_ASSIGN(asked.plan, read_plan(stream, folder));
  }
  return asked;
}

wire::LocalPart part_of(LocalFrame kind, std::string text) {
  return {static_cast<std::uint8_t>(kind), std::move(text)};
}

std::vector<wire::LocalPart> parts_of(Answer answer) {
  std::vector<wire::LocalPart> parts;
  if (!answer.errors.empty())
    parts.push_back(part_of(LocalFrame::errors, std::move(answer.errors)));
  if (!answer.output.empty())
    parts.push_back(part_of(LocalFrame::output, std::move(answer.output)));
  parts.push_back(part_of(LocalFrame::end, encode_end(answer.exit_code)));
  return parts;
}

}  // namespace

Result<std::unique_ptr<wire::LocalServer>> listen_local(loop::Loop& loop, const std::string& path,
                                                        const std::string& spool, std::uint32_t uid,
                                                        std::function<void(Asked, Reply)> handle) {
  return wire::LocalServer::listen<Asked>(
      loop, path, uid, [spool](wire::LocalStream& stream) { return read_asked(stream, spool); },
      [handle = std::move(handle)](Result<Asked> asked, const wire::LocalServer::Caller& caller) {
        const auto reply = [caller](Answer answer) { caller.end(parts_of(std::move(answer))); };
        if (!asked) return reply({"", "datum: " + asked.error().message() + "\n", 1});
        caller.send({part_of(LocalFrame::accepted, "")});
        handle(std::move(*asked), reply);
      },
      [](const std::string& why) {
        return parts_of({"", "datum: the service does not answer: " + why + "\n", kTryAgainExit});
      });
}

}  // namespace datum::host
