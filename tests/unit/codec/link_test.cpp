// Messages of a link: what is written is read, and what a stranger may send instead.
#include "datum/codec/link.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "link_examples.hpp"

using namespace datum;
using namespace datum::codec;

namespace {

std::uint8_t number_of(const core::LinkMessage& message) {
  return static_cast<std::uint8_t>(core::kind_of(message));
}

}  // namespace

TEST_CASE("codec: every member of every message of a link has a line in the tables") {
  CHECK(test::incomplete_link_tables() == std::vector<std::string>{});
  CHECK(test::unfilled_link_members() == std::vector<std::string>{});
}

TEST_CASE("codec: a message of a link is read as it was written") {
  std::set<std::uint8_t> kinds;
  for (const auto& message : test::link_examples()) {
    const auto bytes = encode_link(message);
    CHECK(bytes == encode_link(message));
    const auto read = decode_link(number_of(message), bytes);
    INFO(to_string(core::kind_of(message)));
    REQUIRE(read);
    REQUIRE(*read);
    CHECK((**read == message));
    kinds.insert(number_of(message));
  }
  CHECK(kinds.size() == std::variant_size_v<core::LinkMessage>);
}

TEST_CASE("codec: an empty message of a link is read as one") {
  for (const auto& message :
       {core::LinkMessage(core::Hello{}), core::LinkMessage(core::BlobRequest{}),
        core::LinkMessage(core::JournalKept{}), core::LinkMessage(core::Heartbeat{})}) {
    const auto read = decode_link(number_of(message), encode_link(message));
    REQUIRE(read);
    CHECK((**read == message));
  }
}

TEST_CASE("codec: a kind of message that is not known is skipped") {
  const auto read = decode_link(200, to_bytes("whatever a later version says"));
  REQUIRE(read);
  CHECK_FALSE(read->has_value());
}

TEST_CASE("codec: a message of a link cut anywhere is corrupt") {
  for (const auto& message : test::link_examples()) {
    const auto bytes = encode_link(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto read = decode_link(number_of(message), ByteView(bytes).first(size));
      REQUIRE_FALSE(read);
      CHECK(read.error().code() == ErrorCode::corrupt);
    }
  }
}

TEST_CASE("codec: bytes of one message read as another, or changed, are a message or an error") {
  const auto examples = test::link_examples();
  std::size_t refused = 0;
  for (const auto& message : examples)
    for (const auto& other : examples)
      if (!decode_link(number_of(other), encode_link(message))) ++refused;
  CHECK(refused > 0);
  for (const auto& message : examples) {
    const auto bytes = encode_link(message);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      auto changed = bytes;
      changed[at] ^= std::byte{0x81};
      const auto read = decode_link(number_of(message), changed);
      if (read) CHECK((encode_link(**read) == encode_link(**read)));
    }
  }
}

TEST_CASE("codec: what a message says of its size is no reason to ask for memory") {
  // Behind the frame and the pointer to the root: the pointer to the list. Its last four bytes are
  // the kind of element (6: pointers, 7: structs) and the number of them, here 2^29 - 1.
  constexpr std::size_t kListPointer = 16;
  const auto bytes = encode_link(core::BlobRequest{{Digest{}, Digest{}}});
  for (const auto kind : {std::byte{0xfe}, std::byte{0xff}}) {
    auto changed = bytes;
    changed[kListPointer + 4] = kind;
    for (std::size_t i = 5; i < 8; ++i) changed[kListPointer + i] = std::byte{0xff};
    const auto read = decode_link(static_cast<std::uint8_t>(core::LinkKind::blob_request), changed);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::corrupt);
  }
}

TEST_CASE("codec: what is signed is read as it was written, and refused with a byte missing") {
  const auto declaration = test::declaration_body_example();
  const auto body = encode_declaration_body(declaration);
  const auto read = decode_declaration_body(body);
  REQUIRE(read);
  CHECK(*read == declaration);
  CHECK_FALSE(decode_declaration_body(ByteView(body).first(body.size() - 1)));
  const auto order = test::order_body_example();
  const auto order_read = decode_order_body(encode_order_body(order));
  REQUIRE(order_read);
  CHECK(*order_read == order);
}
