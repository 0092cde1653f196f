// Events of the control plane: what is written is read, and what a damaged journal may hold.
#include "datum/codec/control_event.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "control_examples.hpp"

using namespace datum;
using namespace datum::codec;

namespace {

std::uint16_t number_of(const core::control::Event& event) {
  return static_cast<std::uint16_t>(core::control::kind_of(event));
}

}  // namespace

TEST_CASE("codec: every member of every event of the control plane has a line in the tables") {
  CHECK(test::incomplete_control_tables() == std::vector<std::string>{});
  CHECK(test::unfilled_control_members() == std::vector<std::string>{});
}

TEST_CASE("codec: an event of the control plane is read as it was written") {
  std::set<std::uint16_t> kinds;
  for (const auto& event : test::control_examples()) {
    const auto bytes = encode_control_event(event);
    INFO(control_event_name(event));
    const auto read = decode_control_event(number_of(event), bytes);
    REQUIRE(read);
    CHECK((*read == event));
    CHECK(encode_control_event(*read) == bytes);
    kinds.insert(number_of(event));
  }
  CHECK(kinds.size() == std::variant_size_v<core::control::Event>);
}

TEST_CASE("codec: an event of the control plane under another's number, or cut, is corrupt") {
  const auto examples = test::control_examples();
  for (const auto& event : examples) {
    const auto bytes = encode_control_event(event);
    INFO(control_event_name(event));
    for (const auto& other : examples)
      if (number_of(other) != number_of(event))
        CHECK(decode_control_event(number_of(other), bytes).error().code() == ErrorCode::corrupt);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto read = decode_control_event(number_of(event), ByteView(bytes).first(size));
      REQUIRE_FALSE(read);
      CHECK(read.error().code() == ErrorCode::corrupt);
    }
  }
}

TEST_CASE("codec: an event of the control plane that is not known is of a newer version") {
  CHECK(decode_control_event(0, {}).error().code() == ErrorCode::corrupt);
  CHECK(decode_control_event(9'999, {}).error().code() == ErrorCode::unsupported_version);
}
