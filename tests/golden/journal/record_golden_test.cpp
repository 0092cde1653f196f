// The bytes of docs/formats/journal.md's worked example. A change here is a change of the format,
// and that is a decision.
#include <catch2/catch.hpp>

#include "envelope.hpp"

using namespace datum;
using namespace datum::journal;

static constexpr const char* kExample =
    "44544a31010007000200000005000000"
    "010000000000000000002a36fe9c9717"
    "00112233445566778899aabbccddeeff"
    "00f2052a010000000000000000000000"
    "00000000000000000000000000000000"
    "0000000000000000b3ed039060d57b54"
    "68656c6c6f0000000c000000cf90cd27"
    "07037461726765747377656200000000";

TEST_CASE("journal: a record and its keys have the bytes that the format's page shows") {
  Entry entry;
  entry.kind = 7;
  entry.flags = 2;
  entry.stamp.wall.ns = 1'700'000'000'000'000'000;
  entry.stamp.mono.ns = 5 * kNsPerSecond;
  entry.stamp.boot = *Id128::find_hex("00112233445566778899aabbccddeeff");
  entry.payload = as_bytes("hello");
  const std::vector<IndexKey> keys = {{"targets", "web"}};
  Bytes value(value_size(entry.payload.size(), keys));
  const auto hash = write_value(value, entry, keys, 1, 1, Digest{});
  CHECK(to_hex(value) == kExample);
  CHECK(hash.hex() == "f1716506a3774af3a880650f845fb4ba2e68c0d19b37467456b6ea33b434cd71");
}

TEST_CASE(
    "journal: a checked value and an index entry have the bytes that the format's page says") {
  CHECK(to_hex(make_checked("n", as_bytes("v"))).substr(8) == "0100000076");
  CHECK(to_hex(as_bytes(index_entry("web", 0x0102))) == "037765620000000000000102");
}
