#include "checkpoint.hpp"

#include <algorithm>
#include <string>

#include "datum/codec/checkpoint.hpp"

namespace datum::history {
namespace {

constexpr std::string_view kState = "state";
// Where the pieces are: magic (8), sequence (8), bytes in all (8), slot (4), zeros (4). A State
// itself begins with the frame of a message, whose first four bytes are zeros.
constexpr std::string_view kMagic = "DTCPARTS";
constexpr std::size_t kPlaceSize = 32;
// A writer may exchange the checkpoint between two pieces that are read beside it.
constexpr int kMaxTries = 4;

struct Place {
  Seq seq = 0;
  std::uint64_t bytes = 0;
  std::uint32_t slot = 0;

  [[nodiscard]] std::uint64_t pieces() const {
    return (bytes + kCheckpointPiece - 1) / kCheckpointPiece;
  }
};

std::string piece_name(std::uint32_t slot, std::uint64_t number) {
  return std::string(kState) + "." + std::to_string(slot) + "." + std::to_string(number);
}

std::optional<Place> find_place(ByteView value) {
  if (value.size() != kPlaceSize || as_text(value.first(kMagic.size())) != kMagic)
    return std::nullopt;
  return Place{load_le<Seq>(value.data() + 8), load_le<std::uint64_t>(value.data() + 16),
               load_le<std::uint32_t>(value.data() + 24)};
}

Bytes encode_place(const Place& place) {
  Bytes value(kPlaceSize);
  const auto magic = as_bytes(kMagic);
  std::copy(magic.begin(), magic.end(), value.begin());
  store_le(value.data() + 8, place.seq);
  store_le(value.data() + 16, place.bytes);
  store_le(value.data() + 24, place.slot);
  return value;
}

Bytes copy_of(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

// Names of a slot's pieces from `number` on are given up until one is not there.
Status drop_pieces(journal::Log& log, std::uint32_t slot, std::uint64_t number,
                   journal::Batch& batch) {
  for (;; ++number) {
    DATUM_ASSIGN(const auto held, log.read_projection(piece_name(slot, number)));
    if (!held) return {};
    batch.projections.push_back({piece_name(slot, number), {}});
  }
}

Result<Bytes> read_pieces(journal::Reader& reader, const Place& place) {
  Bytes whole;
  for (std::uint64_t number = 0; number < place.pieces(); ++number) {
    DATUM_ASSIGN(const auto piece, reader.read_projection(piece_name(place.slot, number)));
    const auto wanted = std::min<std::uint64_t>(kCheckpointPiece, place.bytes - whole.size());
    if (!piece || piece->size() != wanted)
      return fail(ErrorCode::corrupt, "the checkpoint lacks piece " + std::to_string(number));
    whole.insert(whole.end(), piece->begin(), piece->end());
  }
  return whole;
}

Result<std::optional<core::State>> decode_state(ByteView bytes, Seq expected) {
  auto state = codec::decode_state(bytes);
  if (!state && state.error().code() == ErrorCode::unsupported_version)
    return std::optional<core::State>{};
  if (!state) return fail(std::move(state).error());
  if (expected != 0 && state->seq != expected)
    return fail(ErrorCode::corrupt, "the checkpoint's pieces are of record " +
                                        std::to_string(state->seq) + ", not of " +
                                        std::to_string(expected));
  return std::optional<core::State>(std::move(*state));
}

}  // namespace

Status write_checkpoint(journal::Log& log, Seq seq, ByteView encoded) {
  DATUM_ASSIGN(const auto former, log.read_projection(kState));
  const auto former_place = former ? find_place(*former) : std::nullopt;
  journal::Batch last;
  Bytes name(sizeof(Seq));
  store_le<Seq>(name.data(), seq);
  last.meta.push_back({std::string(journal::kCheckpointMeta), std::move(name)});
  Place place{seq, encoded.size(), former_place ? 1 - former_place->slot % 2 : 0};
  if (encoded.size() <= kCheckpointPiece) {
    last.projections.push_back({std::string(kState), copy_of(encoded)});
    DATUM_TRY(drop_pieces(log, place.slot, 0, last));
  } else {
    for (std::uint64_t number = 0; number < place.pieces(); ++number) {
      journal::Batch batch;
      const auto rest = encoded.subspan(number * kCheckpointPiece);
      batch.projections.push_back({piece_name(place.slot, number),
                                   copy_of(rest.first(std::min(rest.size(), kCheckpointPiece)))});
      DATUM_TRY(log.append(batch));
    }
    last.projections.push_back({std::string(kState), encode_place(place)});
    DATUM_TRY(drop_pieces(log, place.slot, place.pieces(), last));
  }
  // Of the former checkpoint, or of one that was cut off.
  DATUM_TRY(drop_pieces(log, 1 - place.slot, 0, last));
  DATUM_TRY(log.append(last));
  return {};
}

Result<std::optional<core::State>> read_checkpoint(journal::Reader& reader) {
  for (int tries = 1;; ++tries) {
    DATUM_ASSIGN(const auto value, reader.read_projection(kState));
    if (!value) return std::optional<core::State>{};
    const auto place = find_place(*value);
    if (!place) return decode_state(*value, 0);
    auto whole = read_pieces(reader, *place);
    auto state = whole ? decode_state(*whole, place->seq)
                       : Result<std::optional<core::State>>(fail(std::move(whole).error()));
    if (state || tries == kMaxTries) return state;
    DATUM_ASSIGN(const auto now, reader.read_projection(kState));
    if (now == value) return state;
  }
}

}  // namespace datum::history
