// The bytes of everything that codec stores, as they were written once. A difference here means
// that existing journals, plans, checkpoints or manifest files would be read or written
// differently: changing a golden file is a decision (schema/README.md says which changes need
// none).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>

#include "datum/codec/checkpoint.hpp"
#include "datum/codec/control_event.hpp"
#include "datum/codec/describe.hpp"
#include "datum/codec/event.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/codec/plan.hpp"
#include "datum/codec/witness.hpp"
#include "golden_file.hpp"
#include "goldens.hpp"
#include "unit/codec/control_examples.hpp"
#include "unit/codec/examples.hpp"
#include "unit/codec/manifests.hpp"

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

// The names of an event's own members, as the page lists them.
class MemberNames : public codec::FieldSink {
 public:
  void text(std::string_view name, std::string_view) override { add(name); }
  void number(std::string_view name, std::uint64_t) override { add(name); }
  void signed_number(std::string_view name, std::int64_t) override { add(name); }
  void boolean(std::string_view name, bool) override { add(name); }
  void time(std::string_view name, WallNs) override { add(name); }
  void duration_ns(std::string_view name, std::int64_t) override { add(name); }
  void digest(std::string_view name, const Digest&) override { add(name); }
  void begin_list(std::string_view name, std::size_t) override {
    add(name);
    ++depth_;
  }
  void end_list() override { --depth_; }
  void begin_group(std::string_view name) override {
    add(name);
    ++depth_;
  }
  void end_group() override { --depth_; }

  std::string listed;

 private:
  void add(std::string_view name) {
    if (depth_ > 0) return;
    if (!listed.empty()) listed += ", ";
    listed += "`" + std::string(name) + "`";
  }
  int depth_ = 0;
};

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
    // Bytes from before a member was added.
    for (int age = 1;; ++age) {
      const auto former = test::read_golden(path_of(example.name + "." + std::to_string(age)));
      if (!former) break;
      CHECK(codec::decode_event(example.kind, *former));
    }
  }
  for (const auto& example : test::control_examples()) {
    const auto kind = static_cast<std::uint16_t>(core::control::kind_of(example));
    const auto name = "control-" + std::string(codec::control_event_name(example));
    const auto event = codec::decode_control_event(kind, golden(name));
    INFO(name);
    REQUIRE(event);
    CHECK((*event == example));
  }
  const auto state = codec::decode_state(golden("checkpoint"));
  REQUIRE(state);
  CHECK(*state == test::state_example());
  const auto witness = codec::decode_witness(golden("witness"));
  REQUIRE(witness);
  CHECK(*witness == test::witness_example());
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
    if (entry.path().extension() == ".hex" && !entry.path().stem().has_extension())
      present.insert(entry.path().filename());
  CHECK(present == expected);
}

TEST_CASE("codec golden: docs/formats/events.md has the number and members of every event") {
  std::ifstream file(DATUM_EVENTS_PAGE);
  REQUIRE(file);
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("| ", 0) == 0 && std::isdigit(static_cast<unsigned char>(line[2])) != 0 &&
        line.find("| `") != std::string::npos)
      rows.insert(line);
  CHECK(rows.size() == std::variant_size_v<core::AnyEvent>);
  for (const auto& example : test::event_examples()) {
    MemberNames names;
    codec::describe_event(example.event, names);
    const auto begin = "| " + std::to_string(example.kind) + " | `" + example.name + "` | ";
    const auto end = " | " + names.listed + " |";
    const bool found = std::any_of(rows.begin(), rows.end(), [&](const std::string& row) {
      return row.rfind(begin, 0) == 0 && row.size() >= end.size() &&
             row.compare(row.size() - end.size(), end.size(), end) == 0;
    });
    INFO(begin << "… " << end);
    CHECK(found);
  }
}

TEST_CASE(
    "codec golden: the page of the control plane's journal has every event's number and name") {
  std::ifstream file(DATUM_CONTROL_PAGE);
  REQUIRE(file);
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("| ", 0) == 0 && std::isdigit(static_cast<unsigned char>(line[2])) != 0)
      rows.insert(line);
  for (const auto& example : test::control_examples()) {
    MemberNames names;
    codec::describe_control_event(example, names);
    const auto kind = static_cast<int>(core::control::kind_of(example));
    const auto row = "| " + std::to_string(kind) + " | `" +
                     std::string(codec::control_event_name(example)) + "` | " + names.listed + " |";
    INFO(row);
    CHECK(rows.count(row) == 1);
  }
  CHECK(rows.size() == std::variant_size_v<core::control::Event>);
}

TEST_CASE("codec golden: the worked example of docs/formats/events.md is what is written") {
  CHECK(to_hex(codec::encode_event(core::StoreClosed{"stop"})) ==
        "0000000005000000"
        "0000000001000100"
        "0200000000000000"
        "0000000000000100"
        "010000002a000000"
        "73746f7000000000");
}
