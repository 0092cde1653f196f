// One input for every decoder of codec.
#pragma once

#include <cstddef>
#include <cstdint>

// The first two bytes, little-endian, choose: an event's kind, or one of the numbers below for what
// is no event. The rest is what is decoded. Ends the process if something decodes that does not
// encode to bytes which decode to the same again; sanitizers watch the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace datum::test {

inline constexpr std::uint16_t kPlanInput = 60'001;
inline constexpr std::uint16_t kStateInput = 60'002;
inline constexpr std::uint16_t kManifestInput = 60'003;
inline constexpr std::uint16_t kManifestFileInput = 60'004;
// And the kind of a message of a link.
inline constexpr std::uint16_t kLinkInput = 61'000;
// And the kind of an event of the control plane.
inline constexpr std::uint16_t kControlInput = 62'000;

}  // namespace datum::test
