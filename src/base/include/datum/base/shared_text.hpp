// Immutable text that all its copies share: one allocation for a name that stands in a manifest, in
// observations, events and the State at once. A copy is a pointer and a count.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace datum {

// Bytes of any value, NUL at the end not counted. Empty text has no allocation. Copies may be made
// and destroyed on any thread; one object is not to be assigned while another thread reads it.
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string_view text) : block_(make(text)) {}
  SharedText(const std::string& text) : block_(make(text)) {}
  SharedText(const char* text) : block_(make(text)) {}
  SharedText(const SharedText& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedText() { release(); }

  [[nodiscard]] std::string_view view() const {
    return block_ == nullptr ? std::string_view{} : std::string_view(block_->bytes(), block_->size);
  }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  // With a NUL behind the last byte.
  [[nodiscard]] const char* c_str() const { return block_ == nullptr ? "" : block_->bytes(); }
  [[nodiscard]] bool empty() const { return block_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  operator std::string_view() const { return view(); }
  operator std::string() const { return str(); }

  [[nodiscard]] const char* begin() const { return view().data(); }
  [[nodiscard]] const char* end() const { return view().data() + size(); }
  [[nodiscard]] bool starts_with(std::string_view text) const { return view().starts_with(text); }
  [[nodiscard]] bool ends_with(std::string_view text) const { return view().ends_with(text); }
  [[nodiscard]] std::string substr(std::size_t at, std::size_t count = std::string::npos) const {
    return std::string(view().substr(at, count));
  }
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t at = 0) const {
    return view().find(text, at);
  }
  [[nodiscard]] std::size_t rfind(char one) const { return view().rfind(one); }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.block_ == b.block_ || a.view() == b.view();
  }
  friend bool operator==(const SharedText& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const SharedText& a, const std::string& b) { return a.view() == b; }
  friend bool operator==(const SharedText& a, const char* b) { return a.view() == b; }
  friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) {
    if (a.block_ == b.block_) return std::strong_ordering::equal;
    return a.view() <=> b.view();
  }
  friend std::string operator+(std::string a, const SharedText& b) { return a.append(b.view()); }
  friend std::string operator+(const SharedText& a, std::string_view b) {
    return a.str().append(b);
  }
  friend std::string operator+(const char* a, const SharedText& b) {
    return std::string(a).append(b.view());
  }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) {
    return out << text.view();
  }

 private:
  // The bytes and a NUL follow it in the same allocation.
  struct Block {
    std::atomic<std::uint32_t> owners;
    std::uint32_t size;
    [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(this + 1); }
  };

  static Block* make(std::string_view text);
  void release() {
    if (block_ == nullptr || block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    block_->~Block();
    ::operator delete(block_);
  }

  Block* block_ = nullptr;
};

}  // namespace datum

template <>
struct std::hash<datum::SharedText> {
  std::size_t operator()(const datum::SharedText& text) const {
    return std::hash<std::string_view>{}(text.view());
  }
};
