// Frames: what is written is read, and no size is believed.
#include "datum/wire/frame.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace datum;
using namespace datum::wire;

std::span<const std::byte, kFrameHead> head_of(const Bytes& frame) {
  return std::span<const std::byte, kFrameHead>(frame.data(), kFrameHead);
}

}  // namespace

TEST_CASE("frame: the head says size and kind of what follows") {
  const auto frame = make_frame(7, as_bytes("hello"));
  REQUIRE(frame.size() == kFrameHead + 5);
  CHECK(as_text(ByteView(frame).first(4)) == std::string_view("\x05\0\0\0", 4));
  const auto head = read_frame_head(head_of(frame), 5);
  REQUIRE(head);
  CHECK(head->size == 5);
  CHECK(head->kind == 7);
}

TEST_CASE("frame: an empty message is one") {
  const auto frame = make_frame(3, {});
  CHECK(frame.size() == kFrameHead);
  CHECK(read_frame_head(head_of(frame), 0)->size == 0);
}

TEST_CASE("frame: a size beyond the limit is refused, the largest number too") {
  auto frame = make_frame(1, as_bytes("123456"));
  CHECK(read_frame_head(head_of(frame), 5).error().code() == ErrorCode::limit_exceeded);
  CHECK(read_frame_head(head_of(frame), 6));
  for (std::size_t at = 0; at < 4; ++at) frame[at] = std::byte{0xff};
  CHECK(read_frame_head(head_of(frame), kMaxFrame).error().code() == ErrorCode::limit_exceeded);
}
