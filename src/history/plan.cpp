#include "datum/history/plan.hpp"

#include "datum/codec/documents.hpp"
#include "datum/codec/plan.hpp"
#include "datum/history/documents.hpp"

namespace datum::history {

Result<Bytes> read_content(const ContentSource& content, const Digest& digest, std::size_t limit) {
  constexpr std::size_t kStep = 1U << 20U;
  DATUM_ASSIGN(auto stream, content.open(digest));
  Bytes bytes;
  for (;;) {
    const auto filled = bytes.size();
    if (filled > limit)
      return fail(ErrorCode::limit_exceeded,
                  "sha256:" + digest.hex() + " is larger than " + std::to_string(limit) + " bytes");
    bytes.resize(filled + kStep);
    DATUM_ASSIGN(const auto count, stream->read(MutableByteView(bytes).subspan(filled)));
    bytes.resize(filled + count);
    if (count == 0) return bytes;
  }
}

Result<core::Plan> read_plan(const ContentSource& content, const Digest& digest) {
  auto bytes = read_content(content, digest, kMaxPlanBytes);
  if (!bytes) return fail(std::move(bytes).error().context("plan sha256:" + digest.hex()));
  return codec::decode_plan(*bytes);
}

Result<std::map<std::string, std::string>> read_documents(const ContentSource& content,
                                                          const Digest& digest) {
  DATUM_ASSIGN(const auto bytes, read_content(content, digest, kMaxPlanBytes));
  return codec::decode_documents(bytes);
}

}  // namespace datum::history
