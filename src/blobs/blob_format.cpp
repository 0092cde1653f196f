// Encoding and decoding of blob files.
#include "blob_format.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "datum/blobs/blob_store.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::blobs {

namespace {

constexpr std::string_view kMagic = "DBL1";
// Fast enough to keep up with a disk; higher levels gain a few percent on configuration files.
constexpr int kLevel = 3;
// Below it the header of a compressed frame eats what compression gains.
constexpr std::size_t kWorthCompressing = 64;

void write_header(Bytes& file, Form form, std::uint64_t size) {
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  file[4] = static_cast<std::byte>(form);
  std::fill_n(file.begin() + 5, 3, std::byte{0});
  store_le(file.data() + 8, size);
}

Error corrupt(std::string what) {
  return {ErrorCode::corrupt, "blob: " + std::move(what)};
}

// Empty if it is not worth it.
Bytes compress(ByteView content) {
  if (content.size() < kWorthCompressing) return {};
  Bytes file(kHeaderSize + ZSTD_compressBound(content.size()));
  const auto size = ZSTD_compress(file.data() + kHeaderSize, file.size() - kHeaderSize,
                                  content.data(), content.size(), kLevel);
  if (ZSTD_isError(size) != 0 || size > content.size() - content.size() / 16) return {};
  file.resize(kHeaderSize + size);
  write_header(file, Form::zstd, content.size());
  return file;
}

Result<Bytes> decompress(ByteView payload, std::size_t size) {
  Bytes content(size);
  const auto got = ZSTD_decompress(content.data(), content.size(), payload.data(), payload.size());
  if (ZSTD_isError(got) != 0 || got != size) return fail(corrupt("compressed content is damaged"));
  return content;
}

}  // namespace

Bytes encode_content(ByteView content) {
  auto file = compress(content);
  if (!file.empty()) return file;
  file.resize(kHeaderSize);
  write_header(file, Form::plain, content.size());
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

Bytes encode_list(std::uint64_t size, const std::vector<Digest>& parts) {
  Bytes file(kHeaderSize + parts.size() * Digest::kSize);
  write_header(file, Form::list, size);
  auto* at = file.data() + kHeaderSize;
  for (const auto& part : parts) {
    std::memcpy(at, part.bytes.data(), Digest::kSize);
    at += Digest::kSize;
  }
  return file;
}

Result<Header> read_header(ByteView file) {
  if (file.size() < kHeaderSize) return fail(corrupt("shorter than its header"));
  const auto magic = as_text(file.first(kMagic.size()));
  if (magic.substr(0, 3) != kMagic.substr(0, 3)) return fail(corrupt("not a blob file"));
  if (magic != kMagic)
    return fail(ErrorCode::unsupported_version, "blob: written by a newer version");
  const auto form = std::to_integer<std::uint8_t>(file[4]);
  if (form < 1 || form > 3 || file[5] != std::byte{0} || file[6] != std::byte{0} ||
      file[7] != std::byte{0})
    return fail(corrupt("its header is damaged"));
  return Header{static_cast<Form>(form), load_le<std::uint64_t>(file.data() + 8)};
}

Result<Bytes> decode_content(ByteView file, const Digest& digest) {
  DATUM_ASSIGN(const auto header, read_header(file));
  const auto payload = file.subspan(kHeaderSize);
  if (header.form == Form::list || header.size > kPartSize)
    return fail(corrupt("a part that is longer than a part"));
  Bytes content;
  if (header.form == Form::zstd) {
    DATUM_ASSIGN(content, decompress(payload, header.size));
  } else {
    content.assign(payload.begin(), payload.end());
  }
  if (content.size() != header.size || crypto::sha256(content) != digest)
    return fail(corrupt("content does not have its digest " + digest.hex()));
  return content;
}

Result<std::vector<Digest>> decode_list(ByteView file) {
  DATUM_ASSIGN(const auto header, read_header(file));
  const auto payload = file.subspan(kHeaderSize);
  const auto count = header.size / kPartSize + (header.size % kPartSize != 0 ? 1 : 0);
  if (header.form != Form::list || payload.size() % Digest::kSize != 0 ||
      payload.size() / Digest::kSize != count)
    return fail(corrupt("its list of parts is damaged"));
  std::vector<Digest> parts(count);
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::memcpy(parts[i].bytes.data(), payload.data() + i * Digest::kSize, Digest::kSize);
  return parts;
}

}  // namespace datum::blobs
