// Streaming with hashing and holes.
#include "transfer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "datum/crypto/digest.hpp"
#include "datum/model/substitution.hpp"

namespace datum::resource {

namespace {

// A shorter run of zeros is written: a hole costs an extent and a seek.
constexpr std::size_t kHoleSize = 64 * 1024;

bool is_zero(ByteView bytes) {
  return bytes[0] == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

// Writes at a running offset; whole pieces of zeros only move it.
class SparseWriter {
 public:
  SparseWriter(os::Files& files, const os::Handle& file) : files_(files), file_(file) {}

  Status write(ByteView bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kHoleSize));
      if (piece.size() == kHoleSize && is_zero(piece)) {
        skip(piece.size());
      } else {
        DATUM_TRY(put(piece));
      }
      bytes = bytes.subspan(piece.size());
    }
    return {};
  }
  void skip(std::uint64_t count) {
    at_ += count;
    behind_ = true;
  }
  // A hole at the end needs the size set.
  Status finish() { return behind_ ? files_.truncate(file_, at_) : Status{}; }

 private:
  Status put(ByteView piece) {
    if (behind_) DATUM_TRY(files_.seek(file_, at_));
    behind_ = false;
    at_ += piece.size();
    return files_.write(file_, piece);
  }

  os::Files& files_;
  const os::Handle& file_;
  std::uint64_t at_ = 0;
  bool behind_ = false;  // the file's offset is not `at_`
};

// Calls `take` with each piece and returns the digest of all.
template <class Take>
Result<Digest> pump(Sight& sight, ByteSource& source, Take take) {
  crypto::Sha256 sha;
  const auto room = sight.buffer();
  for (;;) {
    if (sight.machine().stop.stopped()) return fail(ErrorCode::cancelled, "stopped while copying");
    // Filled as far as possible, so that runs of zeros are seen whole.
    std::size_t filled = 0;
    while (filled < room.size()) {
      auto count = source.read(room.subspan(filled));
      if (!count) return fail(std::move(count).error().context("content"));
      if (*count == 0) break;
      filled += *count;
    }
    if (filled == 0) return sha.finish();
    sha.update(room.first(filled));
    DATUM_TRY(take(room.first(filled)));
  }
}

Status compare(const Digest& got, const Digest& digest) {
  if (got == digest) return {};
  // Without the digests: of sensitive content they would tell what it is.
  return fail(ErrorCode::conflict, "the content's bytes changed since they were declared");
}

}  // namespace

Status write_content(Sight& sight, ByteSource& source, const Digest& digest, const os::Handle& file,
                     Into into, std::uint64_t& size) {
  size = 0;
  SparseWriter sparse(sight.files(), file);
  DATUM_ASSIGN(const auto got, pump(sight, source, [&](ByteView piece) -> Status {
                 size += piece.size();
                 if (into == Into::empty_file) return sparse.write(piece);
                 return sight.files().write(file, piece);
               }));
  DATUM_TRY(compare(got, digest));
  return sparse.finish();
}

Status check_content(Sight& sight, ByteSource& source, const Digest& digest) {
  DATUM_ASSIGN(const auto got, pump(sight, source, [](ByteView) { return Status{}; }));
  return compare(got, digest);
}

Status copy_file(Sight& sight, const os::Handle& from, const os::FileStat& stat,
                 const os::Handle& to) {
  auto& files = sight.files();
  SparseWriter writer(files, to);
  const bool has_holes = stat.allocated < stat.size;
  std::uint64_t at = 0;
  while (at < stat.size) {
    std::uint64_t end = stat.size;
    if (has_holes) {
      DATUM_ASSIGN(const auto data, files.seek_data(from, at));
      writer.skip(std::min(data, stat.size) - at);
      at = std::min(data, stat.size);
      if (at == stat.size) break;
      DATUM_ASSIGN(const auto hole, files.seek_hole(from, at));
      end = std::min(hole, stat.size);
      DATUM_TRY(files.seek(from, at));
    }
    while (at < end) {
      if (sight.machine().stop.stopped())
        return fail(ErrorCode::cancelled, "stopped while copying");
      const auto room = sight.buffer().first(std::min<std::uint64_t>(kReadSize, end - at));
      DATUM_ASSIGN(const auto count, files.read(from, room));
      if (count == 0) return fail(ErrorCode::conflict, "it was cut short while it was copied");
      DATUM_TRY(writer.write(room.first(count)));
      at += count;
    }
  }
  return writer.finish();
}

namespace {

// A document has at most as much.
constexpr std::size_t kMaxTemplate = 16 * 1024 * 1024;

class OwnedText final : public ByteSource {
 public:
  explicit OwnedText(std::string text) : text_(std::move(text)), left_(as_bytes(text_)) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override { return left_.read(out); }

 private:
  std::string text_;
  BytesSource left_;
};

Result<std::unique_ptr<ByteSource>> open_unresolved(const Machine& machine,
                                                    const model::Content& content) {
  if (content.has_bytes)
    return std::unique_ptr<ByteSource>(std::make_unique<BytesSource>(as_bytes(content.bytes)));
  auto opened = machine.content->open(content.digest);
  if (!opened) return fail(std::move(opened).error().context("content"));
  return opened;
}

Result<std::string> read_template(const Machine& machine, const model::Content& content) {
  DATUM_ASSIGN(const auto source, open_unresolved(machine, content));
  std::string text;
  std::array<std::byte, 4096> piece{};
  for (;;) {
    DATUM_ASSIGN(const auto count, source->read(piece));
    if (count == 0) break;
    text.append(as_text(ByteView(piece).first(count)));
    if (text.size() > kMaxTemplate)
      return fail(ErrorCode::limit_exceeded, "a template has at most 16 MiB");
  }
  DATUM_TRY(compare(crypto::sha256(as_bytes(text)), content.digest));
  return text;
}

Result<std::string> resolve(const Sight& sight, const model::Content& content) {
  if (!content.secret.empty()) return sight.secret(content.secret);
  DATUM_ASSIGN(const auto text, read_template(sight.machine(), content));
  return model::fill_secrets(text, [&](std::string_view name) { return sight.secret(name); });
}

}  // namespace

bool has_secrets(const model::Content& content) {
  return content.has_secrets || !content.secret.empty();
}

Result<DeclaredContent> open_content(const Sight& sight, const model::Content& content) {
  if (!has_secrets(content)) {
    DATUM_ASSIGN(auto source, open_unresolved(sight.machine(), content));
    return DeclaredContent{content.digest, content.size, std::move(source)};
  }
  DATUM_ASSIGN(auto text, resolve(sight, content));
  DeclaredContent declared{crypto::sha256(as_bytes(text)), text.size(), nullptr};
  declared.source = std::make_unique<OwnedText>(std::move(text));
  return declared;
}

}  // namespace datum::resource
