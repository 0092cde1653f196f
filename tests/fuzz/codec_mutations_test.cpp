// Seeded damage to everything that codec stores. What is asked: an error or a value, never the end
// of the process, and never more memory than a small multiple of the bytes. Run with sanitizers in
// CI; a longer search is libFuzzer's over the same target.
#include <catch2/catch.hpp>
#include <random>

#include "codec_fuzz.hpp"
#include "datum/codec/control_event.hpp"
#include "datum/codec/event.hpp"
#include "datum/codec/link.hpp"
#include "golden/codec/goldens.hpp"
#include "unit/codec/control_examples.hpp"
#include "unit/codec/examples.hpp"
#include "unit/codec/link_examples.hpp"

using namespace datum;

namespace {

using Random = std::mt19937_64;

std::uint16_t input_kind(const std::string& name) {
  for (const auto& example : test::control_examples())
    if (name == "control-" + std::string(codec::control_event_name(example)))
      return static_cast<std::uint16_t>(test::kControlInput +
                                        static_cast<unsigned>(core::control::kind_of(example)));
  if (name == "plan") return test::kPlanInput;
  if (name == "checkpoint") return test::kStateInput;
  if (name == "manifest") return test::kManifestInput;
  if (name == "manifest-file") return test::kManifestFileInput;
  for (const auto& example : test::event_examples())
    if (example.name == name) return example.kind;
  return 0;
}

Bytes input_of(std::uint16_t kind, const Bytes& bytes) {
  Bytes input(2);
  store_le(input.data(), kind);
  input.insert(input.end(), bytes.begin(), bytes.end());
  return input;
}

// Inputs of the fuzz target: two bytes that choose, then golden bytes, or a message of a link.
std::vector<Bytes> seeds() {
  std::vector<Bytes> inputs;
  for (const auto& [name, bytes] : test::golden_bytes())
    inputs.push_back(input_of(input_kind(name), bytes));
  for (const auto& message : test::link_examples()) {
    const auto kind = test::kLinkInput + static_cast<unsigned>(core::kind_of(message));
    inputs.push_back(input_of(static_cast<std::uint16_t>(kind), codec::encode_link(message)));
  }
  return inputs;
}

// One to four of: a flipped bit, a random byte, a boundary value as a number of 16, 32 or 64 bits,
// a word copied elsewhere (pointers that meet), a piece cut out or doubled.
void damage(Bytes& bytes, Random& random) {
  const auto below = [&random](std::size_t end) { return random() % end; };
  constexpr std::uint64_t kBoundaries[] = {0,      1,      7,          8,          0x7f, 0xff,
                                           0x7fff, 0xffff, 0x7fffffff, 0xffffffff, ~0ULL};
  for (auto left = 1 + below(4); left > 0 && bytes.size() > 32; --left) {
    const auto word = 2 + 8 * below((bytes.size() - 2) / 8);
    switch (below(6)) {
      case 0:
        bytes[below(bytes.size())] ^= static_cast<std::byte>(1U << below(8));
        break;
      case 1:
        bytes[below(bytes.size())] = static_cast<std::byte>(random());
        break;
      case 2:
        store_le(bytes.data() + word, static_cast<std::uint32_t>(kBoundaries[below(11)]));
        break;
      case 3:
        store_le(bytes.data() + word, kBoundaries[below(11)]);
        break;
      case 4:
        std::copy_n(bytes.data() + 2 + 8 * below((bytes.size() - 2) / 8), 8, bytes.data() + word);
        break;
      default: {
        const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(word);
        if (below(2) == 0)
          bytes.erase(at, at + 8);
        else
          bytes.insert(at, 8, std::byte{});
        // The frame may name the new length, so that the damage lies deeper.
        const auto words = static_cast<std::uint32_t>((bytes.size() - 10) / 8);
        if (below(2) == 0) store_le(bytes.data() + 6, words);
      }
    }
  }
}

void take(const Bytes& input) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(input.data());
  REQUIRE(LLVMFuzzerTestOneInput(data, input.size()) == 0);
}

}  // namespace

TEST_CASE("codec: the fuzz target takes every golden example and its every beginning") {
  for (const auto& input : seeds()) {
    take(input);
    for (std::size_t size = 0; size < input.size(); size += 3)
      take(Bytes(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST_CASE("codec: 100,000 damaged examples decode to an error or to a value that encodes again") {
  constexpr std::uint64_t kSeed = 20'260'101;
  constexpr std::size_t kRounds = 100'000;
  const auto inputs = seeds();
  Random random(kSeed);
  std::size_t refused = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    auto input = inputs[random() % inputs.size()];
    damage(input, random);
    take(input);
    const auto kind = load_le<std::uint16_t>(input.data());
    if (kind < test::kPlanInput && !codec::decode_event(kind, ByteView(input).subspan(2)))
      ++refused;
  }
  // Damage that is mostly seen and sometimes lands in a text or number: otherwise it tests little.
  CHECK(refused > kRounds / 4);
  CHECK(refused < kRounds);
}

TEST_CASE("codec: a list that claims many elements of no size asks for no memory") {
  // `ordinals` of actionsNotStarted as a list of 2^29-1 elements of zero bits.
  core::ActionsNotStarted event;
  event.ordinals = {1, 2};
  auto bytes = codec::encode_event(event);
  bool changed = false;
  for (std::size_t at = 8; at < bytes.size(); at += 8) {
    if (load_le<std::uint64_t>(bytes.data() + at) >> 32 != (2 << 3 | 4)) continue;
    store_le<std::uint32_t>(bytes.data() + at + 4, 0xffffffffU << 3);
    changed = true;
  }
  REQUIRE(changed);
  const auto kind = static_cast<std::uint16_t>(core::EventKind::actions_not_started);
  CHECK(codec::decode_event(kind, bytes).error().code() == ErrorCode::corrupt);
}
