#include "datum/codec/witness.hpp"

#include "decoder.hpp"
#include "encoder.hpp"
#include "message.hpp"
#include "state_fields.hpp"
#include "value_fields.hpp"
#include "witness.capnp.h"
#include "witness_fields.hpp"

namespace datum::codec {
namespace {

constexpr std::uint16_t kWitnessFormat = 1;
constexpr std::string_view kWitnessWhat = "witness";

}  // namespace

Bytes encode_witness(const core::Witness& witness) {
  Bytes bytes;
  build_message<schema::WitnessFile>(bytes, [&witness](schema::WitnessFile::Builder root) {
    root.setFormat(kWitnessFormat);
    encode_fields(root.initWitness(), witness);
  });
  return bytes;
}

Result<core::Witness> decode_witness(ByteView bytes) {
  return read_message<schema::WitnessFile>(
      bytes, kWitnessWhat,
      [](schema::WitnessFile::Reader root, std::size_t words) -> Result<core::Witness> {
        if (root.getFormat() != kWitnessFormat)
          return fail(ErrorCode::unsupported_version,
                      "witness: format " + std::to_string(root.getFormat()));
        return decode_fields<core::Witness>(root.getWitness(), words, kWitnessWhat);
      });
}

}  // namespace datum::codec
