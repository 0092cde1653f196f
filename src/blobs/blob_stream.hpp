// Streams over bytes: borrowed, owned, and over the parts of a list.
#pragma once

#include <vector>

#include "datum/base/content.hpp"
#include "datum/base/ids.hpp"

namespace datum::blobs {

class FolderStore;

class ViewSource final : public ByteSource {
 public:
  explicit ViewSource(ByteView bytes) : left_(bytes) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override;

 private:
  ByteView left_;
};

class BytesSource final : public ByteSource {
 public:
  explicit BytesSource(Bytes bytes) : bytes_(std::move(bytes)), view_(bytes_) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override { return view_.read(out); }

 private:
  Bytes bytes_;
  ViewSource view_;
};

// Each part is checked against its digest before its first byte is handed out.
class ListSource final : public ByteSource {
 public:
  ListSource(const FolderStore& store, std::vector<Digest> parts)
      : store_(store), parts_(std::move(parts)) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override;

 private:
  const FolderStore& store_;
  std::vector<Digest> parts_;
  std::size_t next_ = 0;
  Bytes part_;
  std::size_t at_ = 0;
};

}  // namespace datum::blobs
