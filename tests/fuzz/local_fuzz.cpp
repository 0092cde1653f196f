// Bytes as they come over the local socket: frame by frame as the service reads them, and each
// message as a request, an end, facts and a saved plan. What is taken is written and read again, to
// the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "datum/host/local_end.hpp"
#include "datum/host/local_request.hpp"
#include "datum/program/saved_plan.hpp"
#include "datum/wire/frame.hpp"

namespace {

using namespace datum;

void must(bool holds) {
  if (!holds) std::abort();
}

void read_message(std::string_view text) {
  if (const auto request = host::parse_request(text)) {
    const auto again = host::parse_request(host::encode_request(*request));
    must(again.has_value());
    must(again->verb == request->verb && again->target == request->target &&
         again->lift == request->lift && again->mode == request->mode &&
         again->pass == request->pass && again->through == request->through &&
         again->has_plan == request->has_plan);
  }
  if (const auto plan = program::parse_saved_plan(text, "plan"))
    must(plan->observed.size() < text.size() / 64);
  if (const auto code = host::parse_end(text)) must(*code >= 0 && *code <= 255);
  if (const auto facts = host::parse_facts(text))
    must(host::parse_facts(host::encode_facts(*facts)).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteView rest(reinterpret_cast<const std::byte*>(data), size);
  read_message(as_text(rest));
  while (rest.size() >= wire::kFrameHead) {
    const auto head = wire::read_frame_head(rest.first<wire::kFrameHead>(), host::kMaxLocalRequest);
    if (!head) break;
    rest = rest.subspan(wire::kFrameHead);
    if (rest.size() < head->size) break;
    read_message(as_text(rest.first(head->size)));
    rest = rest.subspan(head->size);
  }
  return 0;
}
