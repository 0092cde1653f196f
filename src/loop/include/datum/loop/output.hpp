// Keeps the first and the last half of what a child wrote and counts what was left out between
// them. A bounded value: memory never exceeds the limit, however much is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datum::loop {

class BoundedOutput {
 public:
  // Keeps at most `limit` bytes.
  explicit BoundedOutput(std::size_t limit);
  void add(std::string_view bytes);
  // Everything if it fitted, otherwise the first `limit / 2` bytes followed by the last ones.
  [[nodiscard]] std::string text() const;
  // Bytes left out at offset `limit / 2` of `text()`; 0 if everything was kept.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  std::size_t head_limit_;
  std::size_t tail_limit_;
  std::string head_;
  std::string ring_;  // the last bytes, oldest at `oldest_` once it is full
  std::size_t oldest_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace datum::loop
