// Sparse bytes of a modelled file.
#include <algorithm>
#include <cstring>

#include "support/model_disk.hpp"

namespace datum::support {

std::size_t Content::read(std::uint64_t offset, MutableByteView out) const {
  if (offset >= size_) return 0;
  const auto count = std::min<std::uint64_t>(out.size(), size_ - offset);
  std::memset(out.data(), 0, count);
  for (std::uint64_t done = 0; done < count;) {
    const auto at = offset + done;
    const auto inside = at % kBlockBytes;
    const auto part = std::min(count - done, kBlockBytes - inside);
    const auto block = blocks_.find(at / kBlockBytes);
    if (block != blocks_.end() && block->second.size() > inside)
      std::memcpy(out.data() + done, block->second.data() + inside,
                  std::min<std::uint64_t>(part, block->second.size() - inside));
    done += part;
  }
  return count;
}

void Content::write(std::uint64_t offset, ByteView bytes) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    const auto at = offset + done;
    const auto inside = at % kBlockBytes;
    const auto part = std::min<std::uint64_t>(bytes.size() - done, kBlockBytes - inside);
    auto& block = blocks_[at / kBlockBytes];
    if (block.size() < inside + part) block.resize(inside + part, '\0');
    std::memcpy(block.data() + inside, bytes.data() + done, part);
    done += part;
  }
  if (!bytes.empty()) size_ = std::max(size_, offset + bytes.size());
}

void Content::truncate(std::uint64_t size) {
  if (size < size_) {
    const auto last = size / kBlockBytes;
    const auto inside = size % kBlockBytes;
    blocks_.erase(blocks_.upper_bound(last), blocks_.end());
    const auto block = blocks_.find(last);
    if (block != blocks_.end() && inside == 0)
      blocks_.erase(block);
    else if (block != blocks_.end() && block->second.size() > inside)
      block->second.resize(inside);
  }
  size_ = size;
}

std::uint64_t Content::missing_blocks(std::uint64_t offset, std::uint64_t count) const {
  if (count == 0) return 0;
  const auto first = offset / kBlockBytes;
  const auto last = (offset + count - 1) / kBlockBytes;
  const auto present = static_cast<std::uint64_t>(
      std::distance(blocks_.lower_bound(first), blocks_.upper_bound(last)));
  return last - first + 1 - present;
}

std::uint64_t Content::next_data(std::uint64_t offset) const {
  if (offset >= size_) return size_;
  const auto block = blocks_.lower_bound(offset / kBlockBytes);
  if (block == blocks_.end()) return size_;
  return std::min(size_, std::max(offset, block->first * kBlockBytes));
}

std::uint64_t Content::next_hole(std::uint64_t offset) const {
  auto at = offset;
  while (at < size_ && blocks_.contains(at / kBlockBytes))
    at = (at / kBlockBytes + 1) * kBlockBytes;
  return std::min(size_, at);
}

std::string Content::text() const {
  std::string text(size_, '\0');
  static_cast<void>(read(0, {reinterpret_cast<std::byte*>(text.data()), text.size()}));
  return text;
}

}  // namespace datum::support
