#include "message.hpp"

#include <cstring>

namespace datum::codec {

void put_frame(Bytes& out, std::size_t words) {
  out.resize(kFrameBytes + words * kWordBytes);
  store_le<std::uint32_t>(out.data(), 0);
  store_le<std::uint32_t>(out.data() + 4, static_cast<std::uint32_t>(words));
}

Result<std::span<const capnp::word>> open_frame(ByteView bytes, std::vector<std::uint64_t>& copy) {
  if (bytes.size() < kFrameBytes + kWordBytes)
    return fail(ErrorCode::corrupt, "shorter than any message");
  if (load_le<std::uint32_t>(bytes.data()) != 0)
    return fail(ErrorCode::corrupt, "more than one segment");
  const std::size_t words = load_le<std::uint32_t>(bytes.data() + 4);
  if (bytes.size() - kFrameBytes != words * kWordBytes)
    return fail(ErrorCode::corrupt, "another length than it names");
  const auto* first = bytes.data() + kFrameBytes;
  if (reinterpret_cast<std::uintptr_t>(first) % kWordBytes == 0)
    return std::span(reinterpret_cast<const capnp::word*>(first), words);
  copy.resize(words);
  std::memcpy(copy.data(), first, words * kWordBytes);
  return std::span(reinterpret_cast<const capnp::word*>(copy.data()), words);
}

}  // namespace datum::codec
