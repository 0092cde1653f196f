// Cost of codec on what a large pass does: 50,000 small events written and read, a plan and a state
// of 10,000 resources, and a compiled manifest of 10,000 files of 1 KiB. Prints the best of several
// rounds, as time of the processor (one thread, no waiting); nothing here fails for being slow.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

#include "datum/base/assert.hpp"
#include "datum/codec/checkpoint.hpp"
#include "datum/codec/event.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/codec/plan.hpp"
#include "datum/model/content_hash.hpp"

using namespace datum;

namespace {

constexpr std::uint32_t kResources = 10'000;

template <class Work>
double best_ms(const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto start = std::clock();
    work();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

std::string path_of(std::uint32_t i) {
  return "/etc/service/conf.d/" + std::to_string(i) + ".conf";
}

core::Event succeeded(std::uint32_t i) {
  core::ActionSucceeded event;
  event.pass = 12'345;
  event.ordinal = i;
  event.target = {model::TargetFamily::path, path_of(i)};
  event.reference = {model::ResourceType::file, "service-conf-" + std::to_string(i)};
  event.observation.bytes.fill(static_cast<std::uint8_t>(i | 1));
  event.left = {core::Found::file, 2049, 1'000'000 + i, event.observation};
  event.duration_ns = 123'456;
  return event;
}

void bench_events() {
  constexpr std::uint32_t kEvents = 50'000;
  std::vector<core::Event> events;
  for (std::uint32_t i = 0; i < kEvents; ++i) events.push_back(succeeded(i));
  std::vector<Bytes> payloads(kEvents);
  std::size_t bytes = 0;
  const auto write = best_ms([&] {
    bytes = 0;
    for (std::uint32_t i = 0; i < kEvents; ++i) {
      codec::encode_event_into(events[i], payloads[i]);
      bytes += payloads[i].size();
    }
  });
  const auto kind = static_cast<std::uint16_t>(core::kind_of(events[0]));
  std::size_t sum = 0;
  const auto read = best_ms([&] {
    for (const auto& payload : payloads) sum += codec::decode_event(kind, payload)->index();
  });
  std::printf("event actionSucceeded, %zu bytes: encode %.2f us, decode %.2f us (%zu)\n",
              bytes / kEvents, write * 1e3 / kEvents, read * 1e3 / kEvents, sum % 10);
}

void bench_plan() {
  core::Plan plan;
  for (std::uint32_t i = 0; i < kResources; ++i) {
    core::Action action;
    action.ordinal = i;
    action.kind = core::ActionKind::create;
    action.target = {model::TargetFamily::path, path_of(i)};
    action.reference = {model::ResourceType::file, "service-conf-" + std::to_string(i)};
    action.changes = {{"state", "present", "absent"}};
    action.staged_bytes = 1'024;
    if (i > 0) action.after = {i - 1};
    plan.actions.push_back(std::move(action));
  }
  Bytes bytes;
  const auto write = best_ms([&] { bytes = codec::encode_plan(plan); });
  const auto read = best_ms([&] { DATUM_ASSERT(codec::decode_plan(bytes)); });
  std::printf("plan of %u actions, %zu KiB: encode %.1f ms, decode %.1f ms\n", kResources,
              bytes.size() / 1024, write, read);
}

void bench_state() {
  core::State state;
  for (std::uint32_t i = 0; i < kResources; ++i) {
    const model::Target target{model::TargetFamily::path, path_of(i)};
    auto& known = state.resources[target];
    known.reference = {model::ResourceType::file, "service-conf-" + std::to_string(i)};
    known.observation.bytes.fill(1);
    auto& owned = state.owned[target];
    owned.reference = known.reference;
    owned.left.content.bytes.fill(2);
  }
  Bytes bytes;
  const auto write = best_ms([&] { bytes = codec::encode_state(state); });
  const auto read = best_ms([&] { DATUM_ASSERT(codec::decode_state(bytes)); });
  std::printf("state of %u resources, %zu KiB: encode %.1f ms, decode %.1f ms\n", kResources,
              bytes.size() / 1024, write, read);
}

class Contents : public ContentSource {
 public:
  std::map<Digest, std::string> texts;

  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    return std::make_unique<Stream>(as_bytes(texts.at(digest)));
  }

 private:
  struct Stream : ByteSource {
    explicit Stream(ByteView bytes) : rest(bytes) {}
    Result<std::size_t> read(MutableByteView out) override {
      const auto count = std::min(out.size(), rest.size());
      std::copy_n(rest.begin(), count, out.begin());
      rest = rest.subspan(count);
      return count;
    }
    ByteView rest;
  };
};

model::Manifest make_manifest(Contents& contents) {
  model::Manifest manifest;
  manifest.host = "host";
  for (std::uint32_t i = 0; i < kResources; ++i) {
    auto text = "# " + std::to_string(i) + "\n" + std::string(1'014, 'x');
    model::Content content;
    content.size = text.size();
    content.digest = model::content_digest(as_bytes(text));
    contents.texts[content.digest] = std::move(text);
    model::Resource resource;
    resource.reference = {model::ResourceType::file, "service-conf-" + std::to_string(i)};
    resource.fields = {{model::Field::path, path_of(i)},
                       {model::Field::content, content},
                       {model::Field::owner, std::string("root")},
                       {model::Field::mode, std::string("0644")}};
    resource.origins = {{"layers/base/service.yaml", i * 12, "base"}};
    model::finish_resource(resource);
    manifest.resources.push_back(std::make_shared<const model::Resource>(std::move(resource)));
  }
  DATUM_ASSERT(model::finish_manifest(manifest));
  return manifest;
}

void bench_manifest() {
  Contents contents;
  const auto manifest = make_manifest(contents);
  Bytes file;
  const auto write = best_ms([&] {
    file.clear();
    DATUM_ASSERT(codec::write_manifest(manifest, contents, [&file](ByteView bytes) -> Status {
      file.insert(file.end(), bytes.begin(), bytes.end());
      return {};
    }));
  });
  const auto open = best_ms([&] { DATUM_ASSERT(codec::open_manifest(file, nullptr)); });
  Bytes part;
  const auto encode = best_ms([&] { part = *codec::encode_manifest(manifest, contents); });
  const auto decode = best_ms([&] { DATUM_ASSERT(codec::decode_manifest(part)); });
  const auto hash = best_ms([&] { (void)model::content_digest(part); });
  const auto opened = codec::open_manifest(file, nullptr);
  Bytes buffer(64 * 1024);
  const auto read = best_ms([&] {
    for (const auto& [digest, text] : contents.texts) {
      auto stream = opened->contents->open(digest);
      while ((*stream)->read(buffer).value() != 0) continue;
    }
  });
  std::printf("manifest of %u files of 1 KiB, %zu KiB, part %zu KiB: write %.1f ms, open %.1f ms\n",
              kResources, file.size() / 1024, part.size() / 1024, write, open);
  std::printf(
      "  part: encode %.1f ms, decode %.1f ms, SHA-256 of it %.1f ms; all contents %.1f ms\n",
      encode, decode, hash, read);
}

}  // namespace

int main() {
  bench_events();
  bench_plan();
  bench_state();
  bench_manifest();
  return 0;
}
