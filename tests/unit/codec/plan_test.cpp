// Plans and checkpoints to bytes and back.
#include "datum/codec/plan.hpp"

#include <catch2/catch.hpp>

#include "datum/codec/checkpoint.hpp"
#include "datum/codec/witness.hpp"
#include "examples.hpp"

using namespace datum;

TEST_CASE("codec: a plan comes back without its identities, and encodes to the same bytes again") {
  const auto plan = test::plan_example();
  const auto bytes = codec::encode_plan(plan);
  const auto back = codec::decode_plan(bytes);
  REQUIRE(back);
  REQUIRE(back->actions.size() == plan.actions.size());
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    const auto& ours = plan.actions[i];
    const auto& theirs = back->actions[i];
    CHECK(theirs.kind == ours.kind);
    CHECK(theirs.target == ours.target);
    CHECK(theirs.reference == ours.reference);
    CHECK(theirs.changes == ours.changes);
    CHECK(theirs.after == ours.after);
    CHECK(theirs.blocked_on == ours.blocked_on);
    CHECK(theirs.refusal == ours.refusal);
    CHECK(theirs.found == ours.found);
    CHECK(theirs.identity == core::Identity{});
  }
  CHECK(back->counts == plan.counts);
  CHECK(codec::encode_plan(*back) == bytes);
}

TEST_CASE("codec: identities do not change a plan's bytes, everything else does") {
  const auto plan = test::plan_example();
  const auto bytes = codec::encode_plan(plan);
  auto other = plan;
  other.actions[1].identity = {9, 9, 9, 9};
  CHECK(codec::encode_plan(other) == bytes);
  other.actions[1].note += "!";
  CHECK(codec::encode_plan(other) != bytes);
  other = plan;
  other.actions[2].after.pop_back();
  CHECK(codec::encode_plan(other) != bytes);
  other = plan;
  other.brake.engaged = !other.brake.engaged;
  CHECK(codec::encode_plan(other) != bytes);
}

TEST_CASE("codec: an empty plan comes back") {
  const auto back = codec::decode_plan(codec::encode_plan({}));
  REQUIRE(back);
  CHECK(back->empty());
}

TEST_CASE("codec: a plan whose order cannot be is corrupt") {
  // Values of `after` and of ordinals are small numbers that stand in the bytes as they are: every
  // one of them in turn is made too large. (Frame, root pointer and format are the first 24 bytes.)
  const auto bytes = codec::encode_plan(test::plan_example());
  std::size_t refused = 0;
  for (std::size_t at = 24; at + 4 <= bytes.size(); at += 4) {
    auto altered = bytes;
    store_le<std::uint32_t>(altered.data() + at, 1'000'000);
    const auto back = codec::decode_plan(altered);
    if (!back) {
      CHECK(back.error().code() == ErrorCode::corrupt);
      refused += back.error().message().find("ordinals") != std::string::npos;
      refused += back.error().message().find("waits for") != std::string::npos;
      continue;
    }
    for (std::size_t i = 0; i < back->actions.size(); ++i) {
      CHECK(back->actions[i].ordinal == i);
      for (const auto each : back->actions[i].after) CHECK(each < back->actions.size());
    }
  }
  CHECK(refused == 6);  // three ordinals, three values of `after`
}

TEST_CASE("codec: a state comes back equal, and encodes to the same bytes again") {
  const auto state = test::state_example();
  const auto bytes = codec::encode_state(state);
  const auto back = codec::decode_state(bytes);
  REQUIRE(back);
  CHECK(*back == state);
  CHECK(codec::encode_state(*back) == bytes);
  const auto empty = codec::decode_state(codec::encode_state({}));
  REQUIRE(empty);
  CHECK(*empty == core::State{});
}

TEST_CASE("codec: a witness comes back equal; of another format or cut short it is none") {
  const auto witness = test::witness_example();
  auto bytes = codec::encode_witness(witness);
  const auto back = codec::decode_witness(bytes);
  REQUIRE(back);
  CHECK(*back == witness);
  for (std::size_t size = 0; size < bytes.size(); size += 4)
    CHECK(codec::decode_witness(ByteView(bytes).first(size)).error().code() == ErrorCode::corrupt);
  REQUIRE(load_le<std::uint16_t>(bytes.data() + 16) == 1);
  store_le<std::uint16_t>(bytes.data() + 16, 2);
  CHECK(codec::decode_witness(bytes).error().code() == ErrorCode::unsupported_version);
}

TEST_CASE("codec: states that are equal give equal bytes however they came about") {
  core::State forwards;
  core::State backwards;
  for (int i = 0; i < 50; ++i) {
    forwards.kept[{model::TargetFamily::path, "/" + std::to_string(i)}] = {3, {}, 0};
    backwards.kept[{model::TargetFamily::path, "/" + std::to_string(49 - i)}] = {3, {}, 0};
  }
  CHECK(codec::encode_state(forwards) == codec::encode_state(backwards));
}

TEST_CASE("codec: a checkpoint or plan of a newer format is named so") {
  // The format is the first number of the root struct: behind frame and root pointer.
  auto state = codec::encode_state({});
  REQUIRE(load_le<std::uint16_t>(state.data() + 16) == 6);
  store_le<std::uint16_t>(state.data() + 16, 7);
  CHECK(codec::decode_state(state).error().code() == ErrorCode::unsupported_version);
  auto plan = codec::encode_plan({});
  REQUIRE(load_le<std::uint16_t>(plan.data() + 16) == 1);
  store_le<std::uint16_t>(plan.data() + 16, 2);
  CHECK(codec::decode_plan(plan).error().code() == ErrorCode::unsupported_version);
}

TEST_CASE("codec: a checkpoint or plan cut short anywhere is corrupt") {
  const auto state = codec::encode_state(test::state_example());
  for (std::size_t size = 0; size < state.size(); size += 4)
    CHECK(codec::decode_state(ByteView(state).first(size)).error().code() == ErrorCode::corrupt);
  const auto plan = codec::encode_plan(test::plan_example());
  for (std::size_t size = 0; size < plan.size(); size += 4)
    CHECK(codec::decode_plan(ByteView(plan).first(size)).error().code() == ErrorCode::corrupt);
}
