// Content by digest: first what stands in the manifest, then files of the fleet that were hashed
// for it. A file is hashed again while it is read, because it may have changed since.
#include <algorithm>
#include <unordered_map>

#include "datum/crypto/digest.hpp"
#include "datum/fleet/resolve.hpp"
#include "documents.hpp"

namespace datum::fleet {
namespace {

class TextStream final : public ByteSource {
 public:
  TextStream(model::ManifestPtr owner, std::string_view text)
      : owner_(std::move(owner)), text_(text) {}
  Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min(out.size(), text_.size());
    const auto bytes = as_bytes(text_.substr(0, count));
    std::copy(bytes.begin(), bytes.end(), out.begin());
    text_.remove_prefix(count);
    return count;
  }

 private:
  model::ManifestPtr owner_;
  std::string_view text_;
};

class CheckedStream final : public ByteSource {
 public:
  CheckedStream(std::unique_ptr<ByteSource> inner, const Digest& digest, std::string path)
      : inner_(std::move(inner)), digest_(digest), path_(std::move(path)) {}
  Result<std::size_t> read(MutableByteView out) override {
    if (out.empty()) return std::size_t{0};
    DATUM_ASSIGN(const auto count, inner_->read(out));
    if (count > 0) {
      hasher_.update(out.first(count));
      return count;
    }
    if (!ended_ && hasher_.finish() != digest_)
      return fail(ErrorCode::conflict, path_ + " changed since the manifest was made");
    ended_ = true;
    return count;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  Digest digest_;
  std::string path_;
  crypto::Sha256 hasher_;
  bool ended_ = false;
};

class FleetContent final : public ContentSource {
 public:
  FleetContent(FleetPtr fleet, model::ManifestPtr manifest)
      : fleet_(std::move(fleet)), manifest_(std::move(manifest)) {
    for (const auto& resource : manifest_->resources)
      for (const auto& field : resource->fields)
        if (const auto* content = model::find_content(field.value))
          if (content->has_bytes) inline_.emplace(content->digest, content->bytes);
  }

  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    if (const auto at = inline_.find(digest); at != inline_.end())
      return std::unique_ptr<ByteSource>(std::make_unique<TextStream>(manifest_, at->second));
    auto& sources = *fleet_->documents().sources;
    DATUM_ASSIGN(auto path, sources.find(digest));
    DATUM_ASSIGN(auto stream, sources.stream(path));
    return std::unique_ptr<ByteSource>(
        std::make_unique<CheckedStream>(std::move(stream), digest, std::move(path)));
  }

 private:
  FleetPtr fleet_;
  model::ManifestPtr manifest_;
  std::unordered_map<Digest, std::string_view, DigestHash> inline_;
};

}  // namespace

std::unique_ptr<ContentSource> make_content_source(FleetPtr fleet, model::ManifestPtr manifest) {
  return std::make_unique<FleetContent>(std::move(fleet), std::move(manifest));
}

}  // namespace datum::fleet
