// Encoding and checking of records; the byte table is in docs/formats/journal.md.
#include "envelope.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/journal/keys.hpp"

namespace datum::journal {
namespace {

constexpr std::uint32_t kMagic = 0x314A5444;  // "DTJ1"

// Offsets of the header's fields.
constexpr std::size_t kLevelAt = 4;
constexpr std::size_t kKindAt = 6;
constexpr std::size_t kFlagsAt = 8;
constexpr std::size_t kZeroAt = 10;
constexpr std::size_t kPayloadSizeAt = 12;
constexpr std::size_t kSeqAt = 16;
constexpr std::size_t kWallAt = 24;
constexpr std::size_t kBootAt = 32;
constexpr std::size_t kMonoAt = 48;
constexpr std::size_t kPreviousAt = 56;
constexpr std::size_t kPayloadCrcAt = 88;
constexpr std::size_t kHeaderCrcAt = 92;
static_assert(kPreviousAt + Digest::kSize == kPayloadCrcAt && kHeaderCrcAt + 4 == kHeaderSize);

std::size_t entries_size(const std::vector<IndexKey>& keys) {
  std::size_t size = 0;
  for (const auto& key : keys) size += 2 + key.index.size() + key.key.size();
  return size;
}

void copy_to(std::byte* at, ByteView from) {
  if (!from.empty()) std::memcpy(at, from.data(), from.size());
}

void write_keys(MutableByteView out, const std::vector<IndexKey>& keys) {
  std::byte* at = out.data() + kKeysHeaderSize;
  for (const auto& key : keys) {
    *at++ = static_cast<std::byte>(key.index.size());
    *at++ = static_cast<std::byte>(key.key.size());
    copy_to(at, as_bytes(key.index));
    copy_to(at + key.index.size(), as_bytes(key.key));
    at += key.index.size() + key.key.size();
  }
  std::fill(at, out.data() + out.size(), std::byte{0});
  store_le<std::uint32_t>(out.data(), static_cast<std::uint32_t>(entries_size(keys)));
  const auto crc = crypto::crc32c(ByteView(out).subspan(kKeysHeaderSize),
                                  crypto::crc32c(ByteView(out).first(4)));
  store_le<std::uint32_t>(out.data() + 4, crc);
}

void write_header(std::byte* at, const Entry& entry, Seq seq, std::uint32_t level,
                  const Digest& previous) {
  store_le<std::uint32_t>(at, kMagic);
  store_le<std::uint16_t>(at + kLevelAt, static_cast<std::uint16_t>(level));
  store_le<std::uint16_t>(at + kKindAt, entry.kind);
  store_le<std::uint16_t>(at + kFlagsAt, entry.flags);
  store_le<std::uint16_t>(at + kZeroAt, 0);
  store_le<std::uint32_t>(at + kPayloadSizeAt, static_cast<std::uint32_t>(entry.payload.size()));
  store_le<std::uint64_t>(at + kSeqAt, seq);
  store_le<std::int64_t>(at + kWallAt, entry.stamp.wall.ns);
  copy_to(at + kBootAt, entry.stamp.boot.view());
  store_le<std::int64_t>(at + kMonoAt, entry.stamp.mono.ns);
  copy_to(at + kPreviousAt, previous.view());
}

Record read_fields(const std::byte* at) {
  Record record;
  record.level = load_le<std::uint16_t>(at + kLevelAt);
  record.kind = load_le<std::uint16_t>(at + kKindAt);
  record.flags = load_le<std::uint16_t>(at + kFlagsAt);
  record.seq = load_le<std::uint64_t>(at + kSeqAt);
  record.stamp.wall.ns = load_le<std::int64_t>(at + kWallAt);
  std::memcpy(record.stamp.boot.bytes.data(), at + kBootAt, Id128::kSize);
  record.stamp.mono.ns = load_le<std::int64_t>(at + kMonoAt);
  std::memcpy(record.previous.bytes.data(), at + kPreviousAt, Digest::kSize);
  return record;
}

}  // namespace

Error corrupt_record(Seq seq, std::string_view what) {
  return {ErrorCode::corrupt, "record " + std::to_string(seq) + ": " + std::string(what)};
}

Digest hash_of(const Record& record) {
  return crypto::sha256(record.stored);
}

std::vector<IndexKey> sorted_keys(const std::vector<IndexKey>& keys) {
  auto sorted = keys;
  const auto order = [](const IndexKey& key) { return std::tie(key.index, key.key); };
  std::sort(sorted.begin(), sorted.end(),
            [&](const IndexKey& a, const IndexKey& b) { return order(a) < order(b); });
  const auto end =
      std::unique(sorted.begin(), sorted.end(),
                  [&](const IndexKey& a, const IndexKey& b) { return order(a) == order(b); });
  sorted.erase(end, sorted.end());
  return sorted;
}

std::size_t value_size(std::size_t payload_size, const std::vector<IndexKey>& keys) {
  return kMinValueSize + padded(payload_size) + padded(entries_size(keys));
}

Digest write_value(MutableByteView out, const Entry& entry, const std::vector<IndexKey>& keys,
                   Seq seq, std::uint32_t level, const Digest& previous) {
  DATUM_ASSERT(out.size() == value_size(entry.payload.size(), keys));
  const std::size_t body = padded(entry.payload.size());
  const auto payload = out.subspan(kHeaderSize, body);
  copy_to(payload.data(), entry.payload);
  std::fill(payload.begin() + static_cast<std::ptrdiff_t>(entry.payload.size()), payload.end(),
            std::byte{0});
  write_header(out.data(), entry, seq, level, previous);
  store_le<std::uint32_t>(out.data() + kPayloadCrcAt, crypto::crc32c(payload));
  store_le<std::uint32_t>(out.data() + kHeaderCrcAt, crypto::crc32c(out.first(kHeaderCrcAt)));
  write_keys(out.subspan(kHeaderSize + body), keys);
  return crypto::sha256(out.first(kHeaderSize + body));
}

Result<std::size_t> read_record_size(ByteView header, Seq expected) {
  DATUM_ASSERT(header.size() >= kHeaderSize);
  const std::byte* at = header.data();
  if (load_le<std::uint32_t>(at) != kMagic) return fail(corrupt_record(expected, "bad magic"));
  if (load_le<std::uint32_t>(at + kHeaderCrcAt) != crypto::crc32c(header.first(kHeaderCrcAt)))
    return fail(corrupt_record(expected, "header checksum differs"));
  if (load_le<std::uint64_t>(at + kSeqAt) != expected)
    return fail(corrupt_record(
        expected, "carries sequence " + std::to_string(load_le<std::uint64_t>(at + kSeqAt))));
  if (load_le<std::uint16_t>(at + kZeroAt) != 0)
    return fail(corrupt_record(expected, "reserved bytes are not zero"));
  const std::size_t payload = load_le<std::uint32_t>(at + kPayloadSizeAt);
  if (payload > kMaxPayload) return fail(corrupt_record(expected, "payload is over the limit"));
  return kHeaderSize + padded(payload);
}

Result<std::size_t> read_keys_size(ByteView keys_header, Seq seq) {
  DATUM_ASSERT(keys_header.size() >= kKeysHeaderSize);
  const std::size_t entries = load_le<std::uint32_t>(keys_header.data());
  // 2 + 64 + 255 bytes are the most an entry has.
  if (entries > kMaxEntryKeys * (2 + 64 + kMaxName))
    return fail(corrupt_record(seq, "keys are over the limit"));
  return kKeysHeaderSize + padded(entries);
}

Result<Record> read_value(ByteView value, Seq expected) {
  if (value.size() < kMinValueSize) return fail(corrupt_record(expected, "is too short"));
  DATUM_ASSIGN(const std::size_t size, read_record_size(value, expected));
  if (value.size() < size + kKeysHeaderSize)
    return fail(corrupt_record(expected, "is shorter than its payload"));
  const auto keys = value.subspan(size);
  DATUM_ASSIGN(const std::size_t keys_size, read_keys_size(keys, expected));
  if (keys.size() != keys_size) return fail(corrupt_record(expected, "has a wrong length"));
  const auto body = value.subspan(kHeaderSize, size - kHeaderSize);
  if (load_le<std::uint32_t>(value.data() + kPayloadCrcAt) != crypto::crc32c(body))
    return fail(corrupt_record(expected, "payload checksum differs"));
  const auto crc = crypto::crc32c(keys.subspan(kKeysHeaderSize), crypto::crc32c(keys.first(4)));
  if (load_le<std::uint32_t>(keys.data() + 4) != crc)
    return fail(corrupt_record(expected, "keys checksum differs"));
  Record record = read_fields(value.data());
  record.payload = body.first(load_le<std::uint32_t>(value.data() + kPayloadSizeAt));
  record.stored = value.first(size);
  record.keys = keys;
  return record;
}

bool for_each_key(ByteView keys, const std::function<void(const IndexKey&)>& visit) {
  if (keys.size() < kKeysHeaderSize) return keys.empty();
  const std::size_t size = load_le<std::uint32_t>(keys.data());
  if (size > keys.size() - kKeysHeaderSize) return false;
  auto left = as_text(keys.subspan(kKeysHeaderSize, size));
  while (!left.empty()) {
    if (left.size() < 2) return false;
    const std::size_t index_size = static_cast<std::uint8_t>(left[0]);
    const std::size_t key_size = static_cast<std::uint8_t>(left[1]);
    if (index_size == 0 || key_size == 0 || left.size() < 2 + index_size + key_size) return false;
    visit({left.substr(2, index_size), left.substr(2 + index_size, key_size)});
    left.remove_prefix(2 + index_size + key_size);
  }
  return true;
}

static std::uint32_t checked_crc(std::string_view name, ByteView value) {
  return crypto::crc32c(value, crypto::crc32c(as_bytes(name)));
}

Bytes make_checked(std::string_view name, ByteView value) {
  Bytes stored(kCheckedHeaderSize + value.size());
  store_le<std::uint32_t>(stored.data(), checked_crc(name, value));
  store_le<std::uint32_t>(stored.data() + 4, static_cast<std::uint32_t>(value.size()));
  copy_to(stored.data() + kCheckedHeaderSize, value);
  return stored;
}

std::optional<ByteView> find_checked(std::string_view name, ByteView stored) {
  if (stored.size() < kCheckedHeaderSize) return std::nullopt;
  const auto value = stored.subspan(kCheckedHeaderSize);
  if (load_le<std::uint32_t>(stored.data() + 4) != value.size()) return std::nullopt;
  if (load_le<std::uint32_t>(stored.data()) != checked_crc(name, value)) return std::nullopt;
  return value;
}

std::string index_entry(std::string_view key, Seq seq) {
  std::string entry;
  entry.reserve(1 + key.size() + sizeof seq);
  entry.push_back(static_cast<char>(key.size()));
  entry.append(key);
  for (int shift = 56; shift >= 0; shift -= 8) entry.push_back(static_cast<char>(seq >> shift));
  return entry;
}

std::optional<IndexEntry> find_index_entry(ByteView bytes) {
  const auto text = as_text(bytes);
  if (text.empty()) return std::nullopt;
  const std::size_t size = static_cast<std::uint8_t>(text[0]);
  if (size == 0 || text.size() != 1 + size + sizeof(Seq)) return std::nullopt;
  IndexEntry entry{text.substr(1, size), 0};
  for (const char byte : text.substr(1 + size))
    entry.seq = entry.seq << 8 | static_cast<std::uint8_t>(byte);
  return entry;
}

std::uint64_t index_sum(std::string_view index, std::string_view key, Seq seq) {
  const std::uint64_t low = crypto::crc32c(as_bytes(key), crypto::crc32c(as_bytes(index)));
  std::uint64_t value = (low << 32 | (low ^ index.size() << 8 ^ key.size())) + seq;
  // The finaliser of splitmix64: spreads neighbours, so that sums of different sets differ.
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return value ^ value >> 31;
}

Status ChainCheck::take(ByteView value) {
  auto read = read_value(value, next_);
  if (!read) return fail(std::move(read).error());
  const Record& record = *read;
  const bool is_chained = next_ > first_ && next_ >= from_;
  if (is_chained && record.previous != hash_)
    return fail(corrupt_record(next_, "does not carry the hash of the record before"));
  if (next_ == 1 && !record.previous.empty())
    return fail(corrupt_record(next_, "is the first and carries a hash"));
  std::uint64_t sum = 0;
  const bool is_whole = for_each_key(
      record.keys, [&](const IndexKey& key) { sum += index_sum(key.index, key.key, record.seq); });
  if (!is_whole) return fail(corrupt_record(next_, "keys run over their block"));
  if (next_ >= from_) keys_sum_ += sum;
  hash_ = hash_of(record);
  ++next_;
  return {};
}

std::vector<IndexKey> keys_of(const Record& record) {
  std::vector<IndexKey> keys;
  static_cast<void>(
      for_each_key(record.keys, [&keys](const IndexKey& key) { keys.push_back(key); }));
  return keys;
}

}  // namespace datum::journal
