// Memory for the nodes and texts of one `Parsed`: blocks that only grow and are freed together. A
// tree of a million nodes then costs a few dozen allocations. Objects must be trivially
// destructible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace datum::yaml {

class Arena {
 public:
  // Copies; the result lives as long as the arena.
  std::string_view copy(std::string_view text) {
    if (text.empty()) return {"", 0};
    auto* at = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }
  // `write` fills the `size` bytes at the address that it is given.
  template <class Write>
  std::string_view make(std::size_t size, Write write) {
    auto* at = static_cast<char*>(allocate(size, 1));
    write(at);
    return {at, size};
  }
  template <class T>
  std::span<T> copy(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (values.empty()) return {};
    auto* at = static_cast<T*>(allocate(values.size_bytes(), alignof(T)));
    std::uninitialized_copy(values.begin(), values.end(), at);
    return {at, values.size()};
  }

 private:
  static constexpr std::size_t kFirstBlock = 4U << 10U;  // a file of one small document
  static constexpr std::size_t kLargestBlock = 1U << 20U;

  void* allocate(std::size_t size, std::size_t alignment) {
    std::size_t padding = (alignment - (used_ % alignment)) % alignment;
    if (blocks_.empty() || used_ + padding + size > capacity_) {
      capacity_ = std::max(size, std::min(kLargestBlock, kFirstBlock << blocks_.size()));
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity_));
      used_ = padding = 0;
    }
    void* const at = blocks_.back().get() + used_ + padding;
    used_ += padding + size;
    return at;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t used_ = 0;      // of the last block
  std::size_t capacity_ = 0;  // of the last block
};

}  // namespace datum::yaml
