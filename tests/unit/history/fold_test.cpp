// Folding a journal: with a checkpoint, without one, and with one of another version's format.
#include <catch2/catch.hpp>

#include "datum/codec/checkpoint.hpp"
#include "unit/inspect/records.hpp"

using namespace datum;

namespace {

test::Records three_passes() {
  test::Records records;
  records.pass(core::Condition::converged);
  records.pass(core::Condition::drifted);
  records.pass(core::Condition::converged);
  return records;
}

}  // namespace

TEST_CASE("history: a fold from a checkpoint is the fold of all records") {
  auto records = three_passes();
  const auto whole = history::fold(records, 0, false);
  const auto half = history::fold(records, 4, false);
  REQUIRE(whole);
  REQUIRE(half);
  records.checkpoint = codec::encode_state(*half);
  const auto again = history::fold(records, 0, true);
  REQUIRE(again);
  CHECK(*again == *whole);
}

TEST_CASE("history: a checkpoint of another format counts as none, a damaged one is corrupt") {
  auto records = three_passes();
  const auto whole = history::fold(records, 0, false);
  REQUIRE(whole);
  for (const std::uint16_t format : {1, 2, 999}) {
    records.checkpoint = codec::encode_state({});
    store_le<std::uint16_t>(records.checkpoint->data() + 16, format);
    const auto folded = history::fold(records, 0, true);
    REQUIRE(folded);
    CHECK(*folded == *whole);
  }
  records.checkpoint->resize(24);
  const auto folded = history::fold(records, 0, true);
  REQUIRE_FALSE(folded);
  CHECK(folded.error().code() == ErrorCode::corrupt);
}
