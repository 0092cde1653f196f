#include "sim_state.hpp"

#include <algorithm>

#include "datum/crypto/digest.hpp"
#include "envelope.hpp"

namespace datum::journal {
namespace {

constexpr std::uint32_t kFrameMagic = 0x464D5344;

bool read_puts(FrameReader& reader, std::map<std::string, Bytes, std::less<>>& into) {
  std::uint64_t count = 0;
  if (!reader.number(count)) return false;
  for (; count > 0; --count) {
    ByteView name;
    ByteView value;
    if (!reader.bytes(name) || !reader.bytes(value)) return false;
    const std::string key(as_text(name));
    if (value.empty()) {
      into.erase(key);
    } else {
      into[key] = {value.begin(), value.end()};
    }
  }
  return true;
}

void write_puts(FrameWriter& writer, const std::vector<Put>& puts) {
  writer.number(puts.size());
  for (const auto& put : puts) {
    writer.bytes(as_bytes(put.name));
    writer.bytes(put.value);
  }
}

Status read_values(FrameReader& reader, SimState& state) {
  std::uint64_t count = 0;
  if (!reader.number(count)) return fail(ErrorCode::corrupt, "a batch ends early");
  for (; count > 0; --count) {
    ByteView value;
    if (!reader.bytes(value)) return fail(ErrorCode::corrupt, "a batch ends early");
    const Seq seq = state.head.seq + 1;
    DATUM_ASSIGN(const Record record, read_value(value, seq));
    if (record.previous != state.head.hash)
      return fail(corrupt_record(seq, "does not carry the hash of the record before"));
    state.take_value(value, record);
  }
  return {};
}

}  // namespace

void SimState::take_value(ByteView value, const Record& record) {
  head.seq = record.seq;
  head.hash = hash_of(record);
  values[record.seq] = {value.begin(), value.end()};
  static_cast<void>(for_each_key(record.keys, [&](const IndexKey& key) {
    indexes[std::string(key.index)][std::string(key.key)].push_back(record.seq);
  }));
}

void SimState::drop_before(Seq first) {
  values.erase(values.begin(), values.lower_bound(first));
  for (auto& [name, keys] : indexes)
    for (auto& [key, seqs] : keys)
      seqs.erase(seqs.begin(), std::lower_bound(seqs.begin(), seqs.end(), first));
  head.first = first;
}

void FrameWriter::number(std::uint64_t value) {
  body_.resize(body_.size() + 8);
  store_le(body_.data() + body_.size() - 8, value);
}

void FrameWriter::bytes(ByteView value) {
  number(value.size());
  body_.insert(body_.end(), value.begin(), value.end());
}

Bytes FrameWriter::finish(std::uint64_t index) const {
  Bytes frame(kFrameHeader);
  store_le<std::uint32_t>(frame.data(), kFrameMagic);
  store_le<std::uint64_t>(frame.data() + 8, body_.size());
  store_le<std::uint64_t>(frame.data() + 16, index);
  const auto crc = crypto::crc32c(body_, crypto::crc32c(ByteView(frame).subspan(8)));
  store_le<std::uint32_t>(frame.data() + 4, crc);
  frame.insert(frame.end(), body_.begin(), body_.end());
  return frame;
}

bool FrameReader::number(std::uint64_t& value) {
  if (left_.size() < 8) return false;
  value = load_le<std::uint64_t>(left_.data());
  left_ = left_.subspan(8);
  return true;
}

bool FrameReader::bytes(ByteView& value) {
  std::uint64_t size = 0;
  if (!number(size) || size > left_.size()) return false;
  value = left_.first(size);
  left_ = left_.subspan(size);
  return true;
}

std::optional<ByteView> find_frame(ByteView image, std::uint64_t index) {
  if (image.size() < kFrameHeader || load_le<std::uint32_t>(image.data()) != kFrameMagic)
    return std::nullopt;
  const auto size = load_le<std::uint64_t>(image.data() + 8);
  if (size > image.size() - kFrameHeader) return std::nullopt;
  const auto crc = crypto::crc32c(image.subspan(8, kFrameHeader - 8 + size));
  if (load_le<std::uint32_t>(image.data() + 4) != crc) return std::nullopt;
  if (load_le<std::uint64_t>(image.data() + 16) != index) return std::nullopt;
  return image.subspan(kFrameHeader, size);
}

Bytes encode_change(const SimChange& change, std::uint64_t index) {
  FrameWriter writer;
  writer.bytes(change.store);
  writer.number(change.level);
  writer.number(change.remove_before);
  writer.number(change.indexes.size());
  for (const auto& name : change.indexes) writer.bytes(as_bytes(name));
  writer.number(change.values.size());
  for (const auto& value : change.values) writer.bytes(value);
  write_puts(writer, change.meta);
  write_puts(writer, change.projections);
  return writer.finish(index);
}

Status apply_frame(ByteView body, SimState& state) {
  const auto ends_early = [] { return fail(ErrorCode::corrupt, "a batch ends early"); };
  FrameReader reader(body);
  ByteView store;
  std::uint64_t level = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  if (!reader.bytes(store) || !reader.number(level) || !reader.number(first) ||
      !reader.number(count))
    return ends_early();
  if (store.size() == Id128::kSize)
    std::copy_n(reinterpret_cast<const std::uint8_t*>(store.data()), Id128::kSize,
                state.store.bytes.begin());
  state.level = static_cast<std::uint32_t>(level);
  for (; count > 0; --count) {
    ByteView name;
    if (!reader.bytes(name)) return ends_early();
    state.indexes[std::string(as_text(name))];
  }
  DATUM_TRY(read_values(reader, state));
  if (!read_puts(reader, state.meta) || !read_puts(reader, state.projections) || !reader.is_done())
    return ends_early();
  if (first != 0) state.drop_before(first);
  return {};
}

}  // namespace datum::journal
