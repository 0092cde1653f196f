// Events to bytes and back: what must hold for every event, and what must be refused.
#include "datum/codec/event.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "examples.hpp"

using namespace datum;

namespace {

core::Event observed_with(std::size_t drifts) {
  core::ResourceObserved event;
  event.pass = 7;
  event.reference = {model::ResourceType::file, "motd"};
  event.target = {model::TargetFamily::path, "/etc/motd"};
  for (std::size_t i = 0; i < drifts; ++i)
    event.drifts.push_back({"field" + std::to_string(i), "wanted", std::string(100, 'x')});
  return event;
}

// Bytes at an address that is 1 more than a multiple of 8.
struct Askew {
  explicit Askew(ByteView bytes) : store(bytes.size() + 8) {
    std::copy(bytes.begin(), bytes.end(), store.begin() + 1);
    view = {store.data() + 1, bytes.size()};
  }
  Bytes store;
  ByteView view;
};

std::uint16_t number(core::EventKind kind) {
  return static_cast<std::uint16_t>(kind);
}

ErrorCode code_of(const Result<core::Event>& result) {
  REQUIRE_FALSE(result);
  return result.error().code();
}

}  // namespace

TEST_CASE("codec: the table of fields names every member of every stored struct once") {
  CHECK(test::incomplete_tables() == std::vector<std::string>{});
}

TEST_CASE("codec: the examples leave no member at its default") {
  CHECK(test::unfilled_members() == std::vector<std::string>{});
}

TEST_CASE("codec: every event comes back with every member, and encodes to the same bytes again") {
  for (const auto& example : test::event_examples()) {
    INFO(example.name);
    CHECK(number(core::kind_of(example.event)) == example.kind);
    const auto bytes = codec::encode_event(example.event);
    const auto back = codec::decode_event(example.kind, bytes);
    INFO((back ? std::string() : back.error().message()));
    REQUIRE(back);
    CHECK(test::dump(*back) == test::dump(example.event));
    CHECK(*back == example.event);
    CHECK(codec::encode_event(*back) == bytes);
  }
}

TEST_CASE("codec: an event with all members at their default comes back") {
  const core::Event empty = core::StoreClosed{};
  const auto bytes = codec::encode_event(empty);
  const auto back = codec::decode_event(number(core::EventKind::store_closed), bytes);
  REQUIRE(back);
  CHECK(*back == empty);
}

TEST_CASE("codec: payloads are whole words, and those of small events stay small") {
  for (const auto& example : test::event_examples())
    CHECK(codec::encode_event(example.event).size() % 8 == 0);
  CHECK(codec::encode_event(core::StoreClosed{"stop"}).size() == 48);
}

TEST_CASE("codec: an event larger than the scratch memory is one segment all the same") {
  const auto event = observed_with(200);
  const auto bytes = codec::encode_event(event);
  CHECK(load_le<std::uint32_t>(bytes.data()) == 0);
  const auto back = codec::decode_event(number(core::EventKind::resource_observed), bytes);
  REQUIRE(back);
  CHECK(*back == event);
  // The way through the larger memory must not show in the bytes: growing one event word by word
  // across the edge grows the payload word by word.
  std::size_t last = 0;
  for (std::size_t length = 1'000; length < 3'000; length += 8) {
    const auto size = codec::encode_event(core::StoreClosed{std::string(length, 'r')}).size();
    if (last != 0) CHECK(size == last + 8);
    last = size;
  }
}

TEST_CASE("codec: encoding into used memory leaves nothing of the former content") {
  Bytes out;
  codec::encode_event_into(observed_with(50), out);
  codec::encode_event_into(core::StoreClosed{"stop"}, out);
  CHECK(out == codec::encode_event(core::StoreClosed{"stop"}));
}

TEST_CASE(
    "codec: decoding into a used event leaves nothing of the former one, in either direction") {
  for (const auto& example : test::event_examples()) {
    INFO(example.name);
    const auto empty =
        std::visit([]<class T>(const T&) { return core::Event(T{}); }, example.event);
    const auto full_bytes = codec::encode_event(example.event);
    const auto empty_bytes = codec::encode_event(empty);
    core::Event used;
    REQUIRE(codec::decode_event_into(example.kind, full_bytes, used));
    REQUIRE(codec::decode_event_into(example.kind, empty_bytes, used));
    CHECK(test::dump(used) == test::dump(empty));
    REQUIRE(codec::decode_event_into(example.kind, full_bytes, used));
    CHECK(test::dump(used) == test::dump(example.event));
  }
}

TEST_CASE("codec: a payload at an odd address reads like one at an even address") {
  for (const auto& example : test::event_examples()) {
    const Askew askew(codec::encode_event(example.event));
    const auto back = codec::decode_event(example.kind, askew.view);
    INFO((back ? std::string() : back.error().message()));
    REQUIRE(back);
    CHECK(*back == example.event);
  }
}

TEST_CASE("codec: text keeps bytes that are no UTF-8, line ends and zeros") {
  const core::Event event = core::StoreClosed{std::string("a\0b\n\xff\xfe", 6)};
  const auto back =
      codec::decode_event(number(core::EventKind::store_closed), codec::encode_event(event));
  REQUIRE(back);
  CHECK(*back == event);
}

TEST_CASE("codec: kinds are told apart: zero is corrupt, a number without an event is newer") {
  const auto bytes = codec::encode_event(core::StoreClosed{"stop"});
  std::set<std::uint16_t> known;
  for (const auto& example : test::event_examples()) known.insert(example.kind);
  CHECK(known.size() == std::variant_size_v<core::AnyEvent>);
  for (std::uint16_t kind = 1; kind < 1'000; ++kind) {
    if (known.count(kind) != 0) continue;
    CHECK(code_of(codec::decode_event(kind, bytes)) == ErrorCode::unsupported_version);
  }
  CHECK(code_of(codec::decode_event(0, bytes)) == ErrorCode::corrupt);
  CHECK(code_of(codec::decode_event(65'535, bytes)) == ErrorCode::unsupported_version);
}

TEST_CASE("codec: a payload of one event under the number of another is corrupt") {
  const auto examples = test::event_examples();
  for (const auto& example : examples) {
    const auto bytes = codec::encode_event(example.event);
    for (const auto& other : examples) {
      if (other.kind == example.kind) continue;
      CHECK(code_of(codec::decode_event(other.kind, bytes)) == ErrorCode::corrupt);
    }
  }
}

TEST_CASE("codec: a payload cut short anywhere or with bytes behind it is corrupt") {
  const auto bytes = codec::encode_event(observed_with(3));
  const auto kind = number(core::EventKind::resource_observed);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(code_of(codec::decode_event(kind, ByteView(bytes).first(size))) == ErrorCode::corrupt);
  auto longer = bytes;
  longer.resize(bytes.size() + 8);
  CHECK(code_of(codec::decode_event(kind, longer)) == ErrorCode::corrupt);
}

TEST_CASE("codec: a number outside its enumeration is corrupt and named") {
  // `condition` of this event is its first 16 bits: frame, root pointer, union, pointer, struct.
  core::ResourceObserved event;
  event.condition = core::Condition::skipped;
  event.found = core::Found::unseen;
  auto bytes = codec::encode_event(event);
  bool changed = false;
  for (std::size_t i = 8; i + 4 <= bytes.size(); i += 2) {
    // condition 4, found 7 stand beside each other
    if (load_le<std::uint32_t>(bytes.data() + i) != 0x00070004) continue;
    changed = true;
    for (const std::uint16_t bad : {0, 5, 255, 256, 260, 65'535}) {
      store_le<std::uint16_t>(bytes.data() + i, bad);
      const auto back = codec::decode_event(number(core::EventKind::resource_observed), bytes);
      CHECK(code_of(back) == ErrorCode::corrupt);
      CHECK(back.error().message().find("condition") != std::string::npos);
    }
  }
  CHECK(changed);
}

TEST_CASE("codec: a digest of another length is corrupt") {
  core::CheckpointTaken event;
  event.state.bytes.fill(7);
  auto bytes = codec::encode_event(event);
  // The pointer to a list of 32 bytes: kind 1, element size 2, count 32 (shifted by 3).
  bool changed = false;
  for (std::size_t i = 8; i < bytes.size(); i += 8) {
    if ((load_le<std::uint64_t>(bytes.data() + i) >> 32) != (32 << 3 | 2)) continue;
    store_le<std::uint32_t>(bytes.data() + i + 4, 31 << 3 | 2);
    changed = true;
  }
  REQUIRE(changed);
  CHECK(code_of(codec::decode_event(number(core::EventKind::checkpoint_taken), bytes)) ==
        ErrorCode::corrupt);
}

TEST_CASE("codec: one part that is reached twice is corrupt, so reading cannot grow a payload") {
  core::RolledBack event;
  event.from = std::string(255, 'r');
  auto bytes = codec::encode_event(event);
  // The pointers of `from` and `to` stand beside each other; the second is bent onto the text of
  // the first: the same distance less one word.
  bool changed = false;
  for (std::size_t i = 8; i + 16 <= bytes.size(); i += 8) {
    const auto first = load_le<std::uint64_t>(bytes.data() + i);
    if (first >> 32 != (256 << 3 | 2)) continue;
    store_le<std::uint64_t>(bytes.data() + i + 8, first - 4);
    changed = true;
    break;
  }
  REQUIRE(changed);
  CHECK(code_of(codec::decode_event(number(core::EventKind::rolled_back), bytes)) ==
        ErrorCode::corrupt);
}

TEST_CASE("codec: a list of bytes is not taken for a list of structs") {
  // `drifts` of 400 bytes as 400 drifts would be 400 times 96 bytes of memory.
  auto bytes = codec::encode_event(observed_with(10));
  bool changed = false;
  for (std::size_t i = 8; i < bytes.size(); i += 8) {
    // The pointer to a list of structs (element size 7), 10 elements of 3 words.
    if (load_le<std::uint32_t>(bytes.data() + i + 4) != (30U << 3 | 7)) continue;
    store_le<std::uint32_t>(bytes.data() + i + 4, 240U << 3 | 2);
    changed = true;
  }
  REQUIRE(changed);
  const auto back = codec::decode_event(number(core::EventKind::resource_observed), bytes);
  CHECK(code_of(back) == ErrorCode::corrupt);
  CHECK(back.error().message().find("drifts") != std::string::npos);
}

TEST_CASE(
    "codec: [Y05] the same bytes are read a million times, and the last time like the first") {
  core::ResourceObserved event;
  event.pass = 7;
  event.reference = {model::ResourceType::file, "motd"};
  event.target = {model::TargetFamily::path, "/etc/motd"};
  event.condition = core::Condition::drifted;
  event.drifts = {{"mode", "0644", "0600"}, {"owner", "root", "anna"}};
  const auto bytes = codec::encode_event(event);
  std::size_t equal = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto back = codec::decode_event(number(core::EventKind::resource_observed), bytes);
    equal += back && std::get<core::ResourceObserved>(*back) == event ? 1 : 0;
  }
  CHECK(equal == 1'000'000);
}
