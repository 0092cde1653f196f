// Any bytes as a file of documents in an otherwise sound fleet: nothing crashes, a faulty fleet
// yields no manifest and at least one message, a sound one a manifest whose every resource is
// explained, and checking says the same as resolving.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/assert.hpp"
#include "datum/fleet/affected.hpp"
#include "datum/fleet/explain.hpp"
#include "datum/fleet/render.hpp"
#include "datum/fleet/validate.hpp"
#include "support/model_files.hpp"

namespace {
using namespace datum;

constexpr std::string_view kRoot =
    "datum: v1alpha1\ntype: Fleet\nname: f\n---\n"
    "datum: v1alpha1\ntype: Host\nname: h\nlabels: {site: ber}\n";
constexpr std::string_view kBase = "datum: v1alpha1\ntype: Layer\nname: base\n";
constexpr std::string_view kTop =
    "datum: v1alpha1\ntype: Layer\nname: top\nprecedence: 1\n---\n"
    "datum: v1alpha1\ntype: File\nname: a\ndesired: {mode: \"0600\"}\n";

void check_findings(const fleet::Findings& findings) {
  for (const auto& finding : findings) {
    DATUM_ASSERT(!finding.diagnostic.message.empty());
    DATUM_ASSERT(finding.diagnostic.message.find('\n') == std::string::npos);
  }
}

void check_manifest(const fleet::FleetPtr& fleet, const model::Manifest& manifest) {
  for (const auto& resource : manifest.resources) {
    DATUM_ASSERT(resource->target == model::derive_target(*resource));
    const auto explained = fleet::explain(fleet, manifest.host, resource->reference);
    DATUM_ASSERT(explained.explanation.has_value());
    DATUM_ASSERT(explained.explanation->resource->digest == resource->digest);
  }
  DATUM_ASSERT(fleet::render_text(manifest) == fleet::render_text(manifest));
  DATUM_ASSERT(!fleet::render_json(manifest).empty());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Larger inputs only repeat what smaller ones do, slower.
  constexpr std::size_t kMaxInput = 16 * 1024;
  if (size > kMaxInput) return 0;
  support::ModelFiles files;
  files.put_file("/f/datum.yaml", kRoot);
  files.put_file("/f/base/layer.yaml", kBase);
  files.put_file("/f/top/layer.yaml", kTop);
  files.put_file("/f/base/t", "{{ labels.site }} {{ secrets.k }}");
  files.put_file("/f/base/any.yaml", {reinterpret_cast<const char*>(data), size});
  const auto loaded = fleet::load_fleet(files, "/f");
  DATUM_ASSERT((loaded.fleet == nullptr) == !loaded.errors.empty());
  check_findings(loaded.errors);
  if (!loaded.fleet) return 0;
  const auto validation = fleet::validate(loaded.fleet);
  check_findings(validation.errors);
  bool sound = true;
  bool facts_missing = false;
  for (const auto& host : loaded.fleet->hosts()) {
    const auto resolved = fleet::resolve(loaded.fleet, host);
    DATUM_ASSERT((resolved.manifest == nullptr) == !resolved.errors.empty());
    sound = sound && resolved.manifest != nullptr;
    facts_missing = facts_missing || !resolved.missing_facts.empty();
    if (resolved.manifest) check_manifest(loaded.fleet, *resolved.manifest);
  }
  DATUM_ASSERT(facts_missing || sound == validation.sound());
  if (sound) DATUM_ASSERT(fleet::affected(loaded.fleet, loaded.fleet).hosts.empty());
  return 0;
}
