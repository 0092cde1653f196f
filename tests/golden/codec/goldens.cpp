#include "goldens.hpp"

#include "datum/base/assert.hpp"
#include "datum/codec/checkpoint.hpp"
#include "datum/codec/control_event.hpp"
#include "datum/codec/event.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/codec/plan.hpp"
#include "datum/codec/witness.hpp"
#include "unit/codec/control_examples.hpp"
#include "unit/codec/examples.hpp"
#include "unit/codec/manifests.hpp"

namespace datum::test {

std::map<std::string, Bytes> golden_bytes() {
  std::map<std::string, Bytes> all;
  for (const auto& example : event_examples())
    all[example.name] = codec::encode_event(example.event);
  for (const auto& event : control_examples())
    all["control-" + std::string(codec::control_event_name(event))] =
        codec::encode_control_event(event);
  all["plan"] = codec::encode_plan(plan_example());
  all["checkpoint"] = codec::encode_state(state_example());
  all["witness"] = codec::encode_witness(witness_example());

  FixedContents contents;
  const auto manifest = make_manifest(contents);
  auto part = codec::encode_manifest(manifest, contents);
  DATUM_ASSERT(part);
  all["manifest"] = *part;
  auto& file = all["manifest-file"];
  const auto status = codec::write_manifest(manifest, contents, [&file](ByteView bytes) -> Status {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return {};
  });
  DATUM_ASSERT(status);
  return all;
}

}  // namespace datum::test
