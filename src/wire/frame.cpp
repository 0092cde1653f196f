#include "datum/wire/frame.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"

namespace datum::wire {

Result<FrameHead> read_frame_head(std::span<const std::byte, kFrameHead> bytes, std::size_t limit) {
  DATUM_ASSERT(limit <= kMaxFrame);
  FrameHead head;
  head.size = load_le<std::uint32_t>(bytes.data());
  head.kind = std::to_integer<std::uint8_t>(bytes[4]);
  if (head.size <= limit) return head;
  return fail(ErrorCode::limit_exceeded, "a message of " + std::to_string(head.size) +
                                             " bytes, where at most " + std::to_string(limit) +
                                             " are taken");
}

Bytes make_frame(std::uint8_t kind, ByteView message) {
  DATUM_ASSERT(message.size() <= kMaxFrame);
  Bytes frame(kFrameHead + message.size());
  store_le<std::uint32_t>(frame.data(), static_cast<std::uint32_t>(message.size()));
  frame[4] = std::byte{kind};
  std::copy(message.begin(), message.end(), frame.begin() + kFrameHead);
  return frame;
}

}  // namespace datum::wire
