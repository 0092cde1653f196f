#include "datum/codec/checkpoint.hpp"

#include "decoder.hpp"
#include "encoder.hpp"
#include "host_event_fields.hpp"
#include "message.hpp"
#include "pass_event_fields.hpp"
#include "state.capnp.h"
#include "state_fields.hpp"
#include "value_fields.hpp"

namespace datum::codec {
namespace {

constexpr std::uint16_t kCheckpointFormat = 6;
constexpr std::string_view kCheckpointWhat = "checkpoint";

}  // namespace

Bytes encode_state(const core::State& state) {
  Bytes bytes;
  build_message<schema::Checkpoint>(bytes, [&state](schema::Checkpoint::Builder root) {
    root.setFormat(kCheckpointFormat);
    encode_fields(root.initState(), state);
  });
  return bytes;
}

Result<core::State> decode_state(ByteView bytes) {
  return read_message<schema::Checkpoint>(
      bytes, kCheckpointWhat,
      [](schema::Checkpoint::Reader root, std::size_t words) -> Result<core::State> {
        if (root.getFormat() != kCheckpointFormat)
          return fail(ErrorCode::unsupported_version,
                      "checkpoint: format " + std::to_string(root.getFormat()));
        return decode_fields<core::State>(root.getState(), words, kCheckpointWhat);
      });
}

}  // namespace datum::codec
