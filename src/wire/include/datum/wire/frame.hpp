// How messages lie one after the other in a stream of bytes: 4 bytes of size (little-endian, of
// what follows the head), 1 byte that says what it is, the message. Pure. What the numbers and
// messages mean is known elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::wire {

inline constexpr std::size_t kFrameHead = 5;
// Long things go in several: nobody allocates more than this for a stranger's word.
inline constexpr std::size_t kMaxFrame = 256 * 1024;

struct FrameHead {
  std::uint32_t size = 0;  // of the message
  std::uint8_t kind = 0;
};

// `limit_exceeded` for a message beyond `limit` (at most kMaxFrame), before anything is allocated
// for it. `bytes` has exactly kFrameHead.
[[nodiscard]] Result<FrameHead> read_frame_head(std::span<const std::byte, kFrameHead> bytes,
                                                std::size_t limit);
// Head and message. `message` has at most kMaxFrame bytes.
[[nodiscard]] Bytes make_frame(std::uint8_t kind, ByteView message);

}  // namespace datum::wire
