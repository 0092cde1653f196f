// Wrapping and unwrapping of old content.
#include "datum/resource/kept.hpp"

#include <algorithm>
#include <string_view>

#include "datum/crypto/digest.hpp"

namespace datum::resource {

namespace {

constexpr std::string_view kKeptMagic("DKEPT\x01\0\0", 8);
constexpr std::size_t kWrapSize = kKeptMagic.size() + Digest::kSize;

// Some bytes, then the rest of a stream.
class Prefixed final : public ByteSource {
 public:
  Prefixed(Bytes first, ByteSource& rest) : first_(std::move(first)), rest_(rest) {}
  Prefixed(Bytes first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), owned_(std::move(rest)), rest_(*owned_) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
    if (at_ == first_.size()) return rest_.read(out);
    const auto count = std::min(out.size(), first_.size() - at_);
    std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  Bytes first_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> owned_;
  ByteSource& rest_;
};

Result<Bytes> read_first(ByteSource& source, std::size_t size) {
  Bytes first(size);
  std::size_t filled = 0;
  while (filled < size) {
    DATUM_ASSIGN(const auto count, source.read(MutableByteView(first).subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  first.resize(filled);
  return first;
}

bool has_magic(const Bytes& first) {
  return as_text(first).starts_with(kKeptMagic);
}

}  // namespace

Result<KeptContent> open_kept(const ContentSource& blobs, const Digest& digest) {
  DATUM_ASSIGN(auto stream, blobs.open(digest));
  DATUM_ASSIGN(auto first, read_first(*stream, kWrapSize));
  if (has_magic(first)) {
    if (first.size() < kWrapSize) return fail(ErrorCode::corrupt, "kept content is cut short");
    const auto salt = ByteView(first).subspan(kKeptMagic.size());
    const bool sensitive =
        std::any_of(salt.begin(), salt.end(), [](auto byte) { return byte != std::byte{0}; });
    return KeptContent{std::move(stream), sensitive};
  }
  return KeptContent{std::make_unique<Prefixed>(std::move(first), std::move(stream)), false};
}

Result<blobs::Stored> put_kept(blobs::BlobStore& blobs, ByteSource& content, const Digest& salt) {
  DATUM_ASSIGN(auto first, read_first(content, kKeptMagic.size()));
  if (salt.empty() && !has_magic(first)) {
    Prefixed whole(std::move(first), content);
    return blobs.put_stream(whole);
  }
  Bytes wrap = to_bytes(kKeptMagic);
  const auto tail = salt.view();
  wrap.insert(wrap.end(), tail.begin(), tail.end());
  wrap.insert(wrap.end(), first.begin(), first.end());
  Prefixed wrapped(std::move(wrap), content);
  return blobs.put_stream(wrapped);
}

}  // namespace datum::resource
