// The bytes of everything that codec stores, as they were written once. A difference here means
// that existing journals, plans, checkpoints or manifest files would be read or written
// differently: changing a golden file is a decision (schema/README.md says which changes need
// none).
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "datum/codec/checkpoint.hpp"
#include "datum/codec/event.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/codec/plan.hpp"
#include "examples.hpp"
#include "golden_file.hpp"
#include "goldens.hpp"
#include "manifests.hpp"

using namespace datum;

namespace {

std::string path_of(const std::string& name) {
  return std::string(DATUM_GOLDEN_CODEC) + "/" + name + ".hex";
}

Bytes golden(const std::string& name) {
  auto bytes = test::read_golden(path_of(name));
  INFO(name);
  REQUIRE(bytes);
  return std::move(*bytes);
}

}  // namespace

TEST_CASE("codec golden: what is written today is what was written once, byte for byte") {
  for (const auto& [name, bytes] : test::golden_bytes()) {
    INFO(name);
    CHECK(test::to_golden(bytes) == test::to_golden(golden(name)));
  }
}

TEST_CASE("codec golden: what was written once is read as what it was") {
  for (const auto& example : test::event_examples()) {
    INFO(example.name);
    const auto event = codec::decode_event(example.kind, golden(example.name));
    REQUIRE(event);
    CHECK(test::dump(*event) == test::dump(example.event));
  }
  const auto state = codec::decode_state(golden("checkpoint"));
  REQUIRE(state);
  CHECK(*state == test::state_example());
  const auto plan = codec::decode_plan(golden("plan"));
  REQUIRE(plan);
  CHECK(codec::encode_plan(*plan) == codec::encode_plan(test::plan_example()));
  test::FixedContents contents;
  const auto manifest = test::make_manifest(contents);
  const auto part = codec::decode_manifest(golden("manifest"));
  REQUIRE(part);
  CHECK((*part)->digest == manifest.digest);
  const auto file = std::make_shared<const Bytes>(golden("manifest-file"));
  const auto opened = codec::open_manifest(*file, file);
  REQUIRE(opened);
  CHECK(opened->manifest->digest == manifest.digest);
}

TEST_CASE("codec golden: the folder holds a file for each example and no other") {
  std::set<std::string> expected;
  for (const auto& [name, bytes] : test::golden_bytes()) expected.insert(name + ".hex");
  std::set<std::string> present;
  for (const auto& entry : std::filesystem::directory_iterator(DATUM_GOLDEN_CODEC))
    if (entry.path().extension() == ".hex") present.insert(entry.path().filename());
  CHECK(present == expected);
}
