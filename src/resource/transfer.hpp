// Moving bytes in constant memory: from a source into a file with its digest checked, and from file
// to file. Long runs of zeros become holes in a new file.
#pragma once

#include <algorithm>

#include "datum/base/content.hpp"
#include "work.hpp"

namespace datum::resource {

enum class Into : bool { empty_file, old_content };

// Everything of `source` at the beginning of `file`. `conflict` if that is not `digest`; the file's
// content is then of no use. Into `old_content` zeros are written and nothing is cut off: the
// caller truncates.
[[nodiscard]] Status write_content(Sight& sight, ByteSource& source, const Digest& digest,
                                   const os::Handle& file, Into into, std::uint64_t& size);
// Reads a source to its end: whether it has that digest.
[[nodiscard]] Status check_content(Sight& sight, ByteSource& source, const Digest& digest);
// Copies all of `from`, which is `size` bytes long, into the empty file `to`; holes stay holes.
[[nodiscard]] Status copy_file(Sight& sight, const os::Handle& from, const os::FileStat& stat,
                               const os::Handle& to);

// The declared content of a File, secrets filled in.
struct DeclaredContent {
  Digest digest;
  std::uint64_t size = 0;
  std::unique_ptr<ByteSource> source;
};
// From the manifest itself, from the machine's source, or from its secrets, looked up now. Errors
// of a secret say which one, and never what it is.
[[nodiscard]] Result<DeclaredContent> open_content(const Sight& sight,
                                                   const model::Content& content);
[[nodiscard]] bool has_secrets(const model::Content& content);

// Streams bytes that outlive it, as a manifest's do a wave.
class BytesSource final : public ByteSource {
 public:
  explicit BytesSource(ByteView bytes) : left_(bytes) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min(out.size(), left_.size());
    std::copy_n(left_.begin(), count, out.begin());
    left_ = left_.subspan(count);
    return count;
  }

 private:
  ByteView left_;
};

// Streams an open file.
class FileSource final : public ByteSource {
 public:
  FileSource(os::Files& files, const os::Handle& file) : files_(files), file_(file) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
    return files_.read(file_, out);
  }

 private:
  os::Files& files_;
  const os::Handle& file_;
};

}  // namespace datum::resource
