// What a wave records of the state before it, and how a reverting pass puts it back.
#include "datum/resource/former.hpp"

#include <catch2/catch.hpp>

#include "datum/resource/kept.hpp"
#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;

namespace {

std::vector<os::Attribute> some_attributes() {
  return {{"security.capability", to_bytes("caps")},
          {"system.posix_acl_access", to_bytes(std::string("\0\1\2", 3))},
          {"user.empty", {}},
          {"user.note", to_bytes("mine")}};
}

bool same(const std::vector<os::Attribute>& a, const std::vector<os::Attribute>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.value == y.value;
  });
}

const resource::Prepared& prepared_of(const PassResult& done, const std::string& path) {
  for (const auto& one : done.prepared)
    if (done.plan->actions[one.ordinal].target.name == path) return one;
  std::abort();
}

}  // namespace

TEST_CASE(
    "resource: kept attributes come back as they went in, and cut anywhere they are corrupt") {
  const auto bytes = resource::encode_attributes(some_attributes());
  const auto back = resource::decode_attributes(bytes);
  REQUIRE(back);
  CHECK(same(*back, some_attributes()));
  CHECK(resource::decode_attributes(resource::encode_attributes({}))->empty());
  std::size_t whole = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = resource::decode_attributes(ByteView(bytes).first(size));
    if (cut) ++whole;
    if (!cut) CHECK(cut.error().code() == ErrorCode::corrupt);
  }
  // Only where one attribute ends may the bytes end too; whoever names them has their digest.
  CHECK(whole == some_attributes().size());
}

TEST_CASE("resource: attributes out of order, twice, or of a kind that is not kept are corrupt") {
  const os::Attribute a{"user.a", {}};
  const os::Attribute b{"user.b", {}};
  const os::Attribute overlay{"trusted.overlay.origin", {}};
  CHECK(resource::decode_attributes(resource::encode_attributes({a, b})));
  CHECK_FALSE(resource::decode_attributes(resource::encode_attributes({b, a})));
  CHECK_FALSE(resource::decode_attributes(resource::encode_attributes({a, a})));
  CHECK_FALSE(resource::decode_attributes(resource::encode_attributes({overlay})));
  CHECK(resource::kept_attributes({overlay, a}).size() == 1);
}

TEST_CASE("resource: owner, mode and attributes are recorded before a change of any kind") {
  support::ModelFiles model;
  Scene scene(model);
  Pass pass(scene);
  model.put_file("/etc/content", "old", 0640);
  model.put_attribute("/etc/content", "user.note", "mine");
  model.put_file("/etc/meta", "same", 0604);
  model.put_directory("/etc/d");
  model.put_symlink("/etc/l", "old");
  const auto done =
      pass.run({a_file("/etc/content").content(scene.content, "new").done(),
                a_file("/etc/meta").mode("0600").done(), a_directory("/etc/d").mode("0700").done(),
                a_symlink("/etc/l", "new").done(),
                a_file("/etc/made").content(scene.content, "new").done()});
  REQUIRE(prepared_of(done, "/etc/content").traces);
  CHECK(prepared_of(done, "/etc/content").traces->mode == 0640);
  CHECK(prepared_of(done, "/etc/meta").traces->mode == 0604);
  CHECK(prepared_of(done, "/etc/meta").old_content.empty());
  CHECK(prepared_of(done, "/etc/d").traces);
  CHECK(prepared_of(done, "/etc/l").traces);
  CHECK_FALSE(prepared_of(done, "/etc/made").traces);
  CHECK(prepared_of(done, "/etc/meta").attributes.empty());
  const auto kept = resource::open_kept(pass.blobs, prepared_of(done, "/etc/content").attributes);
  REQUIRE(kept);
  CHECK(kept->sensitive);  // others may not read the file
  CHECK(done.result("/etc/meta").traces->mode == 0600);
}

TEST_CASE("resource: a reverting pass sees attributes that differ and puts the former ones back") {
  support::ModelFiles model;
  Scene scene(model);
  model.put_file("/etc/f", "same");
  model.put_attribute("/etc/f", "user.new", "1");
  model.put_directory("/etc/d");
  auto former = std::make_shared<resource::FormerStates>();
  const model::Target file{model::TargetFamily::path, "/etc/f"};
  const model::Target folder{model::TargetFamily::path, "/etc/d"};
  (*former)[file].attributes = {{"user.old", to_bytes("2")}};
  (*former)[folder].attributes = {{"user.old", to_bytes("3")}};
  const auto resources = std::vector{a_file("/etc/f").content(scene.content, "same").done(),
                                     a_directory("/etc/d").done()};
  auto declared = std::make_shared<resource::Declared>(*declare(resources));
  declared->former = former;
  std::vector<core::Observation> seen;
  resource::Observer observer(scene.shared(), declared);
  for (const auto& one : declared->manifest->resources) seen.push_back(observer.observe(*one));
  for (const auto& one : seen) {
    REQUIRE(one.drifts.size() == 1);
    CHECK(one.drifts[0].field == core::kAttributesField);
  }
  core::State state;
  core::PlanInput input;
  input.manifest = declared->manifest.get();
  input.observations = seen;
  input.state = &state;
  const auto plan = std::make_shared<core::Plan>(core::compute_plan(input));
  resource::WaveOptions options;
  options.pass = 7;
  resource::FileWave wave(scene.shared(), declared, plan, core::next_wave(*plan, {}), options);
  MemoryBlobs blobs;
  REQUIRE(wave.keep_old(blobs));
  for (const auto& result : wave.run()) CHECK_FALSE(result.error);
  resource::Observer again(scene.shared(), declared);
  for (const auto& one : declared->manifest->resources)
    CHECK(again.observe(*one).condition == core::Condition::converged);
}
