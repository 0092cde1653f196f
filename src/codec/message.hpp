// One Cap'n Proto message as flat bytes: a frame of 8 bytes (segment count less one = 0, size of
// the segment in words) and one segment. Written without a copy where it is small, read in place
// where it is aligned. Exceptions of the library end here. Knows nothing of what a message says.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datum/base/assert.hpp"
#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::codec {

inline constexpr std::size_t kWordBytes = sizeof(capnp::word);
inline constexpr std::size_t kFrameBytes = 8;
// Holds almost every event; small enough that clearing it costs less than asking for memory.
inline constexpr std::size_t kScratchWords = 256;
// The deepest value is a state (state, pass, started, actor): 6 levels with the root and a list.
inline constexpr int kNestingLimit = 16;

// Writes the frame and the only segment; `segment` may already stand behind the frame in `out`.
void put_frame(Bytes& out, std::size_t words);

// Lets `fill` write a root of type Root, twice if it is large: first into scratch memory, which
// shows its size, then into `out` itself. `fill` must write the same both times.
template <class Root, class Fill>
void build_message(Bytes& out, const Fill& fill) {
  std::size_t words = 0;
  {
    // Cleared: the library requires zeroed memory.
    alignas(kWordBytes) std::array<std::byte, kScratchWords * kWordBytes> scratch{};
    capnp::MallocMessageBuilder builder(
        kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch.data()), kScratchWords));
    fill(builder.initRoot<Root>());
    const auto segments = builder.getSegmentsForOutput();
    for (const auto& segment : segments) words += segment.size();
    out.clear();
    if (segments.size() == 1) {
      out.resize(kFrameBytes + words * kWordBytes);
      std::memcpy(out.data() + kFrameBytes, segments[0].begin(), words * kWordBytes);
      put_frame(out, words);
      return;
    }
  }
  // One segment needs no more than several with their pointers to each other.
  out.resize(kFrameBytes + words * kWordBytes);
  auto* first = reinterpret_cast<capnp::word*>(out.data() + kFrameBytes);
  DATUM_ASSERT(reinterpret_cast<std::uintptr_t>(first) % kWordBytes == 0);
  capnp::FlatMessageBuilder builder(kj::arrayPtr(first, words));
  fill(builder.initRoot<Root>());
  put_frame(out, builder.getSegmentsForOutput()[0].size());
}

// The words of the only segment of a flat message, borrowed from `bytes` or, where these are not
// aligned, from `copy`. `corrupt`: not one message in one segment that ends with the bytes.
[[nodiscard]] Result<std::span<const capnp::word>> open_frame(ByteView bytes,
                                                              std::vector<std::uint64_t>& copy);

// Calls `read(root, words)`, which returns a Result, over a flat message of so many words. Nothing
// can be read that is not in the bytes, and nothing twice: the limit of traversal is their size.
// `what` begins the message of an error.
template <class Root, class Read>
auto read_message(ByteView bytes, std::string_view what, const Read& read)
    -> decltype(read(std::declval<typename Root::Reader>(), std::size_t{})) {
  std::vector<std::uint64_t> copy;
  auto words = open_frame(bytes, copy);
  if (!words) return fail(std::move(words).error().context(what));
  capnp::ReaderOptions options;
  options.traversalLimitInWords = words->size() + 1;  // the library counts the root pointer twice
  options.nestingLimit = kNestingLimit;
  const kj::ArrayPtr<const capnp::word> segment(words->data(), words->size());
  try {
    capnp::SegmentArrayMessageReader reader(kj::arrayPtr(&segment, 1), options);
    return read(reader.getRoot<Root>(), words->size());
  } catch (const kj::Exception& exception) {
    return fail(ErrorCode::corrupt, std::string(what) + ": " + exception.getDescription().cStr());
  }
}

}  // namespace datum::codec
