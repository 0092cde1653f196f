// Streams over bytes and over parts.
#include "blob_stream.hpp"

#include <algorithm>

#include "folder_store.hpp"

namespace datum::blobs {

Result<std::size_t> ViewSource::read(MutableByteView out) {
  const auto count = std::min(out.size(), left_.size());
  std::copy_n(left_.begin(), count, out.begin());
  left_ = left_.subspan(count);
  return count;
}

Result<std::size_t> ListSource::read(MutableByteView out) {
  if (at_ == part_.size()) {
    if (next_ == parts_.size()) return std::size_t{0};
    DATUM_ASSIGN(const auto file, store_.read_file(parts_[next_]));
    DATUM_ASSIGN(part_, decode_content(file, parts_[next_]));
    ++next_;
    at_ = 0;
  }
  const auto count = std::min(out.size(), part_.size() - at_);
  std::copy_n(part_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
  at_ += count;
  return count;
}

}  // namespace datum::blobs
