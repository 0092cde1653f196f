#include "codec_fuzz.hpp"

#include "datum/base/assert.hpp"
#include "datum/codec/checkpoint.hpp"
#include "datum/codec/control_event.hpp"
#include "datum/codec/describe.hpp"
#include "datum/codec/event.hpp"
#include "datum/codec/link.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/codec/plan.hpp"

namespace datum::test {
namespace {

// Touches every text that it is told.
class CountingSink : public codec::FieldSink {
 public:
  void text(std::string_view, std::string_view value) override {
    for (const char letter : value) sum += static_cast<unsigned char>(letter);
  }
  void number(std::string_view, std::uint64_t value) override { sum += value; }
  void signed_number(std::string_view, std::int64_t value) override {
    sum += static_cast<std::uint64_t>(value);
  }
  void boolean(std::string_view, bool value) override { sum += value ? 1 : 0; }
  void time(std::string_view, WallNs value) override {
    sum += static_cast<std::uint64_t>(value.ns);
  }
  void duration_ns(std::string_view, std::int64_t value) override {
    sum += static_cast<std::uint64_t>(value);
  }
  void digest(std::string_view, const Digest& value) override { sum += value.bytes[0]; }
  void begin_list(std::string_view, std::size_t) override { ++depth; }
  void end_list() override { --depth; }
  void begin_group(std::string_view) override { ++depth; }
  void end_group() override { --depth; }

  std::uint64_t sum = 0;
  int depth = 0;
};

void take_event(std::uint16_t kind, ByteView bytes) {
  const auto event = codec::decode_event(kind, bytes);
  if (!event) return;
  DATUM_ASSERT(static_cast<std::uint16_t>(core::kind_of(*event)) == kind);
  CountingSink sink;
  codec::describe_event(*event, sink);
  DATUM_ASSERT(sink.depth == 0);
  const auto again = codec::decode_event(kind, codec::encode_event(*event));
  DATUM_ASSERT(again && *again == *event);
}

void take_link(std::uint8_t kind, ByteView bytes) {
  const auto message = codec::decode_link(kind, bytes);
  if (!message || !*message) return;
  DATUM_ASSERT(static_cast<std::uint8_t>(core::kind_of(**message)) == kind);
  const auto again = codec::decode_link(kind, codec::encode_link(**message));
  DATUM_ASSERT(again && *again == *message);
}

void take_control(std::uint16_t kind, ByteView bytes) {
  const auto event = codec::decode_control_event(kind, bytes);
  if (!event) return;
  DATUM_ASSERT(static_cast<std::uint16_t>(core::control::kind_of(*event)) == kind);
  CountingSink sink;
  codec::describe_control_event(*event, sink);
  DATUM_ASSERT(sink.depth == 0);
  const auto again = codec::decode_control_event(kind, codec::encode_control_event(*event));
  DATUM_ASSERT(again && *again == *event);
}

void take_plan(ByteView bytes) {
  const auto plan = codec::decode_plan(bytes);
  if (!plan) return;
  const auto encoded = codec::encode_plan(*plan);
  const auto again = codec::decode_plan(encoded);
  DATUM_ASSERT(again && codec::encode_plan(*again) == encoded);
}

void take_state(ByteView bytes) {
  const auto state = codec::decode_state(bytes);
  if (!state) return;
  const auto again = codec::decode_state(codec::encode_state(*state));
  DATUM_ASSERT(again && *again == *state);
}

class NoContents : public ContentSource {
 public:
  Result<std::unique_ptr<ByteSource>> open(const Digest&) const override {
    return fail(ErrorCode::not_found, "nothing here");
  }
};

void take_manifest(ByteView bytes) {
  const auto manifest = codec::decode_manifest(bytes);
  if (!manifest) return;
  const auto encoded = codec::encode_manifest(**manifest, NoContents{});
  DATUM_ASSERT(encoded);
  const auto again = codec::decode_manifest(*encoded);
  DATUM_ASSERT(again && (*again)->digest == (*manifest)->digest);
}

void take_manifest_file(ByteView bytes) {
  const auto opened = codec::open_manifest(bytes, nullptr);
  if (!opened) return;
  Bytes buffer(4'096);
  for (const auto& resource : opened->manifest->resources) {
    const auto* content = resource->content();
    if (content == nullptr || content->has_bytes || !content->secret.empty()) continue;
    const auto stream = opened->contents->open(content->digest);
    DATUM_ASSERT(stream);
    for (;;) {
      const auto count = (*stream)->read(buffer);
      if (!count || *count == 0) break;
    }
  }
}

}  // namespace
}  // namespace datum::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum;
  const auto input = ByteView(reinterpret_cast<const std::byte*>(data), size);
  if (size < 2) return 0;
  const auto kind = load_le<std::uint16_t>(input.data());
  // At an aligned address and as it comes: both ways of reading.
  const auto rest = input.subspan(2);
  const Bytes aligned(rest.begin(), rest.end());
  switch (kind) {
    case test::kPlanInput:
      test::take_plan(aligned);
      break;
    case test::kStateInput:
      test::take_state(aligned);
      break;
    case test::kManifestInput:
      test::take_manifest(aligned);
      break;
    case test::kManifestFileInput:
      test::take_manifest_file(aligned);
      break;
    default:
      if (kind >= test::kLinkInput && kind < test::kLinkInput + 256)
        return test::take_link(static_cast<std::uint8_t>(kind - test::kLinkInput), aligned), 0;
      if (kind >= test::kControlInput)
        return test::take_control(static_cast<std::uint16_t>(kind - test::kControlInput), aligned),
               0;
      test::take_event(kind, aligned);
      test::take_event(kind, rest);
  }
  return 0;
}
